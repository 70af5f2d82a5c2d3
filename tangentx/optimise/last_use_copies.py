"""Elimination of copies at the last use: an array that nobody reads later is passed on itself.

``u_bar = clone(v_bar)`` is ``u_bar = v_bar`` where the function has made `v_bar` for itself, nothing but names and
views refers to it, and no statement after the copy reads it or writes into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Region
from tangentx.analysis.types.primitives import has_effect, makes_new
from tangentx.ir.nodes import Accumulate, Assign, Atom, Attr, Block, Index, Lit, Op, Statement, Store, Var
from tangentx.ir.walk import BINDING, statement_atoms, statements
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.unit import Unit, write_each


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Hands arrays on in place of their last copies; True if anything changed."""
    return write_each(units, lambda unit: _Handed(program, unit).block(unit.body))


class _Handed:
    """Writes the outermost block of one function anew: what stands there runs once."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program, self.unit = program, unit

    def block(self, block: Block) -> Block:
        """The block with fewer copies."""
        out = list(block)
        for i, s in enumerate(out):
            if not (isinstance(s, Assign) and isinstance(s.value, Op) and s.value.fn is arrays.clone):
                continue
            old = s.value.args[0]
            mine, its = (self.unit.kind(self.program, atom) for atom in (Var(s.target), old))
            if not (isinstance(mine, Arr) and isinstance(its, Arr) and mine.sure and its.sure):
                continue
            region = its.region.root()
            if not self._refers(tuple(out[i + 1 :]), region) and self._is_own(s, region):
                mine.region.unite(its.region)
                out[i] = Assign(s.target, old, s.span)
        return tuple(out)

    def _refers(self, rest: Block, region: Region) -> bool:
        """Whether anything that the statements read reaches the memory."""
        return any(self._is_in(region, statement_atoms(s)) for s in statements(rest))

    def _is_in(self, region: Region, found: Iterable[Atom]) -> bool:
        kinds = [self.unit.kind(self.program, atom) for atom in found if not isinstance(atom, Lit)]
        return region in memory.reach(kinds)

    def _is_own(self, copy: Statement, region: Region) -> bool:
        """Whether all that refers to the memory are names, of arrays made here and of their views."""
        if self._is_in(region, [Var(param.name) for param in self.unit.function.params]):
            return False
        if region in memory.outside(self.program):
            return False
        return all(s is copy or self._is_plain(s, region) for s in statements(self.unit.body))

    def _is_plain(self, s: Statement, region: Region) -> bool:
        """Whether the statement gives the memory no other way to be reached than a name for an array."""
        bound = type(s) in BINDING and self._is_in(region, (Var(s.target),))  # type: ignore[union-attr]
        if not bound and not self._is_in(region, statement_atoms(s)):
            return True
        match s:
            case Accumulate() | Store():
                return isinstance(self.unit.kind(self.program, s.base), Arr)
            case Assign(value=Var() | Attr()):
                return True
            case Assign(value=Index(base=base)):
                return isinstance(self.unit.kind(self.program, base), Arr)
            case Assign(value=Op() as op) if bound:
                return makes_new(op.fn)
            case Assign(value=Op() as op):
                return not has_effect(op)
        return False
