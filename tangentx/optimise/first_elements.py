"""First contributions to elements: ``b_bar = zeros_like(b); for ...: b_bar[i] += t`` binds them, ``b_bar[i] = t``.

It does where the array is made of zeros in the function, and no write that comes before may come to the same element,
that of an earlier trip neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tangentx.analysis.dependence.array_dependence import Spot
from tangentx.analysis.dependence.births import Births
from tangentx.analysis.dependence.control_context import Course, Place
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Num, Region, is_array
from tangentx.analysis.types.primitives import has_effect
from tangentx.ir.nodes import (
    WHOLE,
    Accumulate,
    Append,
    Assign,
    Atom,
    Block,
    Call,
    Delete,
    Op,
    Slice,
    Statement,
    Store,
    Var,
)
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import statement_atoms, statements
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.dataflow import sweeps
from tangentx.optimise.facts.unit import Unit, write_each

_LIMIT = 300  # pairs of writes into one memory
_ZEROS = (np.zeros_like, np.zeros)


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Stores what is added to zeros; True if anything changed."""
    concerned = [unit for unit in units if any(True for _ in _candidates(unit))]
    if not concerned or memory.is_opaque(units):
        return False
    return write_each(concerned, lambda unit: _stored(unit.body, _Firsts(program, unit).found()))


def _candidates(unit: Unit) -> Iterator[Accumulate]:
    """Contributions of the reverse sweep to elements or slices of arrays that are made of zeros."""
    made = [s for s in unit.statements() if type(s) is Assign and type(s.value) is Op and s.value.fn in _ZEROS]
    bound = unit.counts()[1]
    zeros = {s.target for s in made if bound[s.target] == 1}
    for s in statements(sweeps(unit.function)[1]) if zeros else ():
        if type(s) is Accumulate and type(s.base) is Var and s.base.name in zeros and s.key != WHOLE and not s.repeats:
            yield s


def _stored(block: Block, firsts: frozenset[int]) -> Block:
    """The block with stores in the place of these contributions."""
    return tuple(
        Store(s.base, s.key, s.value, s.span)
        if isinstance(s, Accumulate) and id(s) in firsts
        else map_blocks(s, lambda inner: _stored(inner, firsts))
        for s in block
    )


class _Firsts:
    """The writes of one function."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program, self.unit = program, unit
        course = Course(unit.body, [p.name for p in unit.function.params])
        self.elements = Births(course, lambda atom: unit.kind(program, atom))
        self.places = course.places

    def found(self) -> frozenset[int]:
        """The contributions that are the first ones, by identity."""
        mine = {id(s) for s in _candidates(self.unit) if self._is_plain(s)}
        places = [place for place in self.places if id(place.statement) in mine]
        regions = {region for place in places if (region := self._region(place.statement.base)) is not None}  # type: ignore[union-attr]
        writes = {region: list(self._writes(region)) for region in regions}
        return frozenset(id(place.statement) for place in places if self._is_first(place, writes))

    def _is_plain(self, s: Accumulate) -> bool:
        """Whether numbers of the array's own type are added to what numbers and slices select."""
        base, value = self.unit.kind(self.program, s.base), self.unit.kind(self.program, s.value)
        if not (isinstance(base, Arr) and is_array(base) and base.sure and base.dtype == np.float64):
            return False
        parts = [self.unit.kind(self.program, p) for p in s.key.parts if not isinstance(p, Slice)]
        if any(not isinstance(k, Num) or k.type in (bool, np.bool_) for k in parts):
            return False
        alike = isinstance(value, Num) and set(value.exact) <= {float, np.float64}
        return alike or (isinstance(value, Arr) and is_array(value) and value.dtype == base.dtype)

    def _region(self, atom: Atom) -> Region | None:
        return memory.region(self.unit.kind(self.program, atom))

    def _is_first(self, place: Place, writes: dict[Region, list[Spot | None]]) -> bool:
        s = place.statement
        assert isinstance(s, Accumulate)
        region, spot = self._region(s.base), self.elements.spot(s.base, s.key.parts, place)
        made = None if spot is None else spot.root.made
        if region is None or spot is None or made is None or spot.root.parts:
            return False
        if not (isinstance(made.statement, Assign) and made.statement.target == getattr(s.base, "name", "")):
            return False
        others = writes[region]
        if len(others) > _LIMIT:
            return False
        return not any(other is None or self.elements.may_meet(other, spot) for other in others)

    def _writes(self, region: Region) -> Iterator[Spot | None]:
        """The elements of the memory that statements write; None for any of it."""
        for place in self.places:
            s = place.statement
            if isinstance(s, Store | Accumulate) and self._region(s.base) is region:
                yield self.elements.spot(s.base, s.key.parts, place)
            elif self._may_write(s) and region in memory.reach(
                self.unit.kind(self.program, atom) for atom in statement_atoms(s)
            ):
                yield None

    def _may_write(self, s: Statement) -> bool:
        """Whether a statement may write into what it reads, or keep it where others write into it."""
        if isinstance(s, Assign):
            return isinstance(s.value, Call) or has_effect(s.value)
        return isinstance(s, Store | Accumulate | Append | Delete)
