"""Element stability: array elements that keep their value while other elements of the array are written."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from tangentx.analysis.dependence.array_dependence import Elements, Spot
from tangentx.analysis.dependence.control_context import Course, Place
from tangentx.analysis.types.kinds import Arr, Box, Num, Region
from tangentx.common.forks import once
from tangentx.derive.emit import Frame
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Block,
    Break,
    Call,
    Continue,
    Delete,
    Index,
    Pop,
    Return,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import key_atoms, reads, statements, writes


class Staying:
    """The elements that one function reads and writes, looked at where somebody asks."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    @once
    def _elements(self) -> Elements:
        function = self.frame.function
        return Elements(Course(function.body, [p.name for p in function.params]), self.frame.kind)

    @once
    def _places(self) -> dict[int, Place]:
        return {id(place.statement): place for place in self._elements.course.places}

    def is_apart(self, read: Statement, change: Statement, memory: Region) -> bool:
        """Whether a statement, after another one that reads an element, in the same trip of all loops that both stand
        in, writes other elements of the memory alone."""
        spot = self._spot(read)
        writes = list(self._writes(change, memory))
        return spot is not None and all(w is not None and not self._elements.may_meet_within(spot, w) for w in writes)

    def is_last(self, write: Store, memory: Region, alone: bool) -> bool:
        """Whether nothing writes over what a statement writes, so that it need not be brought back; `alone`: nor has
        anything written there before it, so that nothing is brought back in its place."""
        spot = self._spot(write)
        every = [place.statement for place in self._elements.course.places]
        calls = (s.value for s in every if isinstance(s, Assign) and isinstance(s.value, Call))
        if spot is None or any(not isinstance(self.frame.kind(a), Num) for call in calls for a in call.args):
            return False
        others = (w for s in every for w in self._writes(s, memory, inside=False))
        meet = self._elements.may_meet
        return all(w is not None and not meet(spot, w) and not (alone and meet(w, spot)) for w in others)

    def _spot(self, s: Statement) -> Spot | None:
        """The element that a statement reads or writes."""
        if isinstance(s, Store | Accumulate):
            return self._elements.spot(s.base, s.key.parts, self._places[id(s)])
        if isinstance(s, Assign) and isinstance(s.value, Index):
            return self._elements.spot(s.value.base, s.value.key.parts, self._places[id(s)])
        return None

    def _writes(self, change: Statement, memory: Region, inside: bool = True) -> Iterator[Spot | None]:
        """What a statement, and those `inside` it, write of the memory; None where that is not known."""
        for s in statements((change,)) if inside else (change,):
            popped = s.value.base if isinstance(s, Assign) and isinstance(s.value, Pop) else None
            base = s.base if isinstance(s, Store | Accumulate | Append | Delete) else popped
            kind = None if base is None else self.frame.kind(base)
            if isinstance(kind, Arr) and kind.region.root() is memory:
                yield self._spot(s)


ANYTHING = "anything"  # a region for whatever an unknown call may write
Stuff = frozenset[str | Region]


class Steps:
    """The statements of a block: where they, and those inside them, read and change what, and where they may leave.

    A point is twice the position of a statement where the state before it is meant, one more for that after it.
    """

    def __init__(
        self, frame: Frame, block: Block, staying: Staying | None, read: Callable[[Statement], Iterable[str]] = reads
    ) -> None:
        """`read` gives the names that the reverse of a statement may read for the statement."""
        self.frame = frame
        self.block = block
        self.staying = staying
        self.end = 2 * len(block)
        self.read: dict[str, list[tuple[int, int]]] = {}
        self.changed: dict[str | Region, list[int]] = {}
        self.exits: list[int] = []
        for i, s in enumerate(block):
            every = list(statements((s,)))
            for name, count in Counter(name for inner in every for name in read(inner)).items():
                self.read.setdefault(name, []).append((i, count))
            for found in dict.fromkeys(found for inner in every for found in _changes(frame, inner)):
                self.changed.setdefault(found, []).append(i)
            if any(isinstance(inner, Break | Continue | Return) for inner in every):
                self.exits.append(i)

    def uses(self, name: str) -> list[tuple[int, int]]:
        """The positions of the statements that read the name, each with the number of its reads."""
        return self.read.get(name, [])

    def state(self, i: int, name: str) -> int:
        """0 where the name is read when the state before the statement is back, else 1: while that of after it is."""
        s = self.block[i]
        if isinstance(s, Assign) and not isinstance(s.value, Call | Pop):
            return 0
        if isinstance(s, Store | Accumulate) and isinstance(self.frame.kind(s.base), Arr):
            return 1 if Var(name) in (s.base, *key_atoms(s.key)) else 0
        return 1

    def last(self, i: int, s: Assign, read: Counter[str]) -> int:
        """Of the statement at a position the last one that reads its target; -1 where some do so elsewhere, or none."""
        uses = self.uses(s.target)
        if not uses or uses[0][0] <= i or sum(count for _, count in uses) != read[s.target] or s.target in reads(s):
            return -1
        return uses[-1][0]

    def keeps(self, i: int, last: int, name: str, stuff: Stuff) -> bool:
        """Whether the name can be formed again for the last statement that reads it, where its state is back."""
        point = 2 * last + self.state(last, name)
        return not self.leave(i, point) and self.stays(i, point, stuff)

    def leave(self, i: int, point: int) -> bool:
        """Whether control may leave the block between the statement and the point."""
        return _any_within(self.exits, i + 1, point // 2)

    def stays(self, i: int, point: int, stuff: Stuff) -> bool:
        """Whether nothing between the statement and the point changes what the name is formed of."""
        memory = any(isinstance(x, Region) for x in stuff)
        watched = [*stuff, ANYTHING] if memory else stuff
        changes = ((x, j) for x in watched for j in _within(self.changed.get(x, []), i + 1, (point + 1) // 2))
        return all(self._is_apart(i, j, x) for x, j in changes)

    def is_last(self, i: int, memory: Region, alone: bool) -> bool:
        """Whether nothing writes over what the statement at the position writes into an array; see `Staying`."""
        s = self.block[i]
        return self.staying is not None and isinstance(s, Store) and self.staying.is_last(s, memory, alone)

    def _is_apart(self, i: int, j: int, changed: str | Region) -> bool:
        """Whether the statement at one position reads an element, and that at the other changes others alone."""
        if self.staying is None or not isinstance(changed, Region):
            return False
        return self.staying.is_apart(self.block[i], self.block[j], changed)


def _any_within(positions: list[int], start: int, stop: int) -> bool:
    return bool(_within(positions, start, stop))


def _within(positions: list[int], start: int, stop: int) -> list[int]:
    return positions[bisect_left(positions, start) : bisect_left(positions, stop)]


def _changes(frame: Frame, s: Statement) -> Iterator[str | Region]:
    yield from writes(s)
    if isinstance(s, Assign) and isinstance(s.value, Call):
        yield ANYTHING
    base: Atom | None = s.base if isinstance(s, Store | Accumulate | Append | Delete) else None
    if isinstance(s, Assign) and isinstance(s.value, Pop):
        base = s.value.base
    if base is not None:
        kind = frame.kind(base)
        yield kind.region.root() if isinstance(kind, Arr | Box) else ANYTHING
