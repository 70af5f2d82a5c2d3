"""Operands that certainly have the shape of the result.

    y[:k] = y[:k] + alpha * y[:k][::-1]

The sum has the shape of both operands and of the place that it is written to, so no cotangent on this line has to be
summed over what was broadcast. In the reverse sweep that is hard to see: `k` is another trip's there, and what was
recorded has lost its operands. Where the program stands as it was written the lengths have the names of this trip, and
what is found is given to the derivation for each statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tangentx.analysis.infer.program import Program
from tangentx.ir.nodes import Assign, Atom, Op, Statement, Store, Var
from tangentx.optimise.facts.shape_arithmetic import Lengths, Shape
from tangentx.optimise.facts.shapes import Facts
from tangentx.optimise.facts.summaries import tell_callees
from tangentx.optimise.facts.unit import Unit

Fits: TypeAlias = frozenset[tuple[int, str]]
LIMIT_ROUNDS = 8


class _Fitting(Facts):
    """Notes, for each statement by its identity, the operands that have the shape of the result; of a store whether the
    value has that of the place. What the last walk of a loop has found counts."""

    def __init__(self, program: Program, unit: Unit) -> None:
        super().__init__(program, unit)
        self.found: dict[int, tuple[str, ...]] = {}

    def after(self, s: Statement) -> None:
        """Compares, with what the statement itself has shown of lengths."""
        given = {a.name: self.shape(a) for a in _operands(s)}
        place = self._rules.place(s) if type(s) is Store else None
        super().after(s)
        if given:
            made = self.shape(Var(s.target)) if type(s) is Assign else self._equated(place)
            fits = [name for name, shape in given.items() if _same(made, self._equated(shape))]
            self.found[id(self.hand)] = tuple(fits)


def _operands(s: Statement) -> list[Var]:
    atoms: Sequence[Atom] = ()
    if type(s) is Assign and type(s.value) is Op and not s.value.kwargs:
        atoms = s.value.args
    elif type(s) is Store:
        atoms = (s.value,)
    return [a for a in atoms if type(a) is Var]


def _same(one: Shape, other: Shape) -> bool:
    return isinstance(one, Lengths) and one == other and None not in one


def exact_fits(program: Program, units: Sequence[Unit]) -> Fits:
    """Pairs of a statement's identity and the name of an operand, or of the value that is written."""
    found: set[tuple[int, str]] = set()
    for _ in range(LIMIT_ROUNDS):
        found.clear()
        for unit in units:
            walk = _Fitting(program, unit)
            walk.block(unit.body)
            found.update((at, name) for at, names in walk.found.items() for name in names)
        if not tell_callees(program, units):
            return frozenset(found)
    return frozenset()
