"""Constant propagation into tuples: ``saved = u, None, 2`` for ``v = None; k = 2; saved = u, v, k``.

A function with several exits gives back one tuple of all that its reverse sweep may read: at each exit the number of
the exit, and nothing for a name that has no value there, which then needs none beforehand. Proof: on every way to the
tuple the last binding of the name is the same constant.
"""

from __future__ import annotations

from collections.abc import Sequence

from tangentx.analysis.infer.program import Program
from tangentx.ir.nodes import UNBOUND, Assign, Atom, Lit, Make, Statement, Var
from tangentx.optimise.facts.dataflow import Flow, map_atoms
from tangentx.optimise.facts.unit import Unit


class _Constants(Flow[Lit]):
    """`env` has the names that are known to hold a whole number, or nothing."""

    def rewrite(self, s: Statement) -> Sequence[Statement]:
        """The statement with the constant in place of its name, where it makes a tuple."""
        if isinstance(s, Assign) and isinstance(s.value, Make) and s.value.cls is tuple:
            return (map_atoms(s, self._known),)
        return (s,)

    def _known(self, atom: Atom) -> Atom:
        return self.env.get(atom.name, atom) if isinstance(atom, Var) and self.env is not None else atom

    def after(self, s: Statement) -> None:
        """Notes what a binding says of the name."""
        if isinstance(s, Assign) and self.env is not None:
            self.kill(s.target)
            if isinstance(s.value, Lit) and (s.value.value is UNBOUND or type(s.value.value) is int):
                self.env[s.target] = s.value


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Fills in the constants of all functions; True if anything changed."""
    changed = False
    for unit in units:
        body = _Constants().block(unit.body)
        changed = changed or body is not unit.body
        unit.body = body
    return changed
