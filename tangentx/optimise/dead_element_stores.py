"""Dead store elimination for elements of arrays and items of containers: writes that nobody reads any more.

``b[i] = b_tape.pop()`` in the reverse sweep brings back what stood there; where what is read after it lies in other
elements, as `b[i - 1]` in this trip and those to come does, it is left out, and so is its record. So an array of which
every element is written once, or for the last time before it is read, is its own tape. What each trip of a loop makes
anew is another array each time (`births.py`): behind its last read in the trip nothing need be brought back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tangentx.analysis.dependence.array_dependence import Spot
from tangentx.analysis.dependence.births import Births
from tangentx.analysis.dependence.control_context import Course, Place
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Box, Region
from tangentx.analysis.types.primitives import has_effect
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Block,
    Call,
    Index,
    Make,
    Op,
    Return,
    Store,
    Var,
)
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import atoms, key_atoms, statement_atoms
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.liveness import Liveness
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.facts.uses import reading

_LIMIT = 1000  # pairs of a write and a read of one memory


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Leaves such writes out; True if anything changed."""
    if not any(unit.found(_may_concern) for unit in units) or memory.is_opaque(units):
        return False
    facts = Liveness(program, units)
    changed = False
    for unit in units:
        if unit.found(_may_concern) and facts.summaries[unit.link].reached:
            needless = _Writes(program, unit, facts).needless()
            if needless:
                unit.body, changed = _without(unit.body, needless), True
    return changed


def _may_concern(unit: Unit) -> bool:
    """Whether the function writes elements of an array."""
    return any(isinstance(s, Store | Accumulate) and _is_element(unit, s) for s in unit.statements())


def _is_element(unit: Unit, s: Store | Accumulate) -> bool:
    return isinstance(s.base, Var) and isinstance(unit.kinds.get(s.base.name), Arr) and not s.key.attribute


def _without(block: Block, needless: set[int]) -> Block:
    return tuple(map_blocks(s, lambda b: _without(b, needless)) for s in block if id(s) not in needless)


@dataclass(eq=False)
class _Access:
    """A statement that reads or writes memory; `spot` is None where it may be any of it."""

    at: Place
    region: Region
    spot: Spot | None


class _Writes:
    """The writes of one function into arrays that nobody sees after it, and what reads these."""

    def __init__(self, program: Program, unit: Unit, facts: Liveness) -> None:
        self.program, self.unit, self.facts = program, unit, facts
        self.summary = facts.summaries[unit.link]
        course = Course(unit.body, [p.name for p in unit.function.params])
        self.elements = Births(course, lambda atom: unit.kind(program, atom))
        self.places = course.places
        self.regions: set[Region] = set()

    def needless(self) -> set[int]:
        """The writes, by identity, whose place nothing reads after them."""
        writes = [write for place in self.places if (write := self._write(place)) is not None]
        self.regions = {write.region for write in writes}
        reads = [read for place in self.places for read in self._reads(place) if read.region in self.regions]
        if sum(write.region is read.region for write in writes for read in reads) > _LIMIT:
            return set()
        unread = [write for write in writes if not any(self._sees(write, read) for read in reads)]
        kept = {id(write.at.statement) for write in writes if write not in unread}
        return {id(write.at.statement) for write in unread} - kept

    def _sees(self, write: _Access, read: _Access) -> bool:
        """Whether what is read may have been written there."""
        if write.region is not read.region:
            return False
        if write.spot is None or read.spot is None:
            return self.elements.may_follow(write.at, read.at)
        return self.elements.may_meet(write.spot, read.spot)

    def _write(self, place: Place) -> _Access | None:
        """The write of an element in a loop, into an array that is not looked into after the function."""
        s = place.statement
        if not (isinstance(s, Store | Accumulate) and place.loops and _is_element(self.unit, s)):
            return None
        region = self._region(s.base)
        if region is None or region in self.summary.ends or region in self.facts.visible:
            return None
        spot = self.elements.spot(s.base, s.key.parts, place)
        return None if spot is None else _Access(place, region, spot)

    def _region(self, atom: Atom) -> Region | None:
        return memory.region(self.unit.kind(self.program, atom))

    def _reads(self, place: Place) -> Iterator[_Access]:
        """The memory into which a statement looks."""
        s = place.statement
        if isinstance(s, Assign) and isinstance(s.value, Call):
            starts = self.facts.summaries[s.value.link].starts
            yield from (_Access(place, x, None) for x in starts if isinstance(x, Region))
        elif isinstance(s, Assign) and not has_effect(s.value):
            yield from self._bound(place, s)
        elif isinstance(s, Store | Accumulate) and not isinstance(self.unit.kind(self.program, s.base), Arr):
            yield from self._deep(place, key_atoms(s.key))
        elif isinstance(s, Store | Accumulate):
            yield from self._deep(place, (*key_atoms(s.key), s.value))
        elif isinstance(s, Return):
            yield from self._returned(place, s.value)
        elif not isinstance(s, Append):
            yield from self._deep(place, statement_atoms(s))

    def _bound(self, place: Place, s: Assign) -> Iterator[_Access]:
        """The memory that a binding looks into."""
        found = reading(self.program, self.unit, s).live
        regions = [x for x in found if isinstance(x, Region)]
        if isinstance(s.value, Index) and self._region(s.value.base) in regions:
            inside = {x for atom in key_atoms(s.value.key) for x in [self._region(atom)] if x is not None}
            spot = self.elements.spot(s.value.base, s.value.key.parts, place)
            for region in self.regions.intersection(regions):
                alone = region is self._region(s.value.base) and region not in inside
                yield _Access(place, region, spot if alone else None)
            return
        for region in self.regions.intersection(regions):
            whole = [a for a in atoms(s.value) if self._region(a) is region]
            yield from (_Access(place, region, self.elements.spot(a, (), place)) for a in whole)
            if not isinstance(s.value, Op) or self._is_held(region, s.value):
                yield _Access(place, region, None)

    def _is_held(self, region: Region, op: Op) -> bool:
        """Whether an operation reaches the memory through a container."""
        kinds = [self.unit.kind(self.program, a) for a in atoms(op)]
        return region in memory.reach(k for k in kinds if isinstance(k, Box))

    def _returned(self, place: Place, value: Atom) -> Iterator[_Access]:
        """What the caller may look into: where a tuple has just been made, its items."""
        b = self.elements.course.binding(value.name, place) if isinstance(value, Var) else None
        made = b.statement.value if b is not None and isinstance(b.statement, Assign) else None
        if b is None or b.loops or not isinstance(made, Make) or made.cls is not tuple:
            yield from self._deep(place, (value,))
            return
        for access in self._deep(b, made.items):
            yield replace(access, at=place, spot=access.spot and replace(access.spot, at=place))

    def _deep(self, place: Place, found: Iterable[Atom]) -> Iterator[_Access]:
        """All that the atoms reach."""
        for atom in found:
            kind = self.unit.kind(self.program, atom)
            if isinstance(kind, Arr):
                yield _Access(place, kind.region.root(), self.elements.spot(atom, (), place))
            else:
                yield from (_Access(place, x, None) for x in memory.reach([kind]))
