"""The statements of a block: what they, and those inside them, read and change, and where they may leave it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from tangentx.analysis.kinds import Arr, Box
from tangentx.analysis.regions import Region
from tangentx.derive.emit import Frame
from tangentx.derive.staying import Staying
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
    Pop,
    Return,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import key_atoms, reads, statements, writes

ANYTHING = "anything"  # a region for whatever an unknown call may write
Stuff = frozenset[str | Region]


class Steps:
    """The statements of a block: where they, and those inside them, read and change what, and where they may leave.

    A point is twice the position of a statement where the state before it is meant, one more for that after it.
    """

    def __init__(self, frame: Frame, block: Block, staying: Staying | None) -> None:
        self.frame = frame
        self.block = block
        self.staying = staying
        self.end = 2 * len(block)
        self.read: dict[str, list[tuple[int, int]]] = {}
        self.changed: dict[str | Region, list[int]] = {}
        self.exits: list[int] = []
        for i, s in enumerate(block):
            every = list(statements((s,)))
            for name, count in Counter(name for inner in every for name in reads(inner)).items():
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

    def is_last(self, i: int, memory: Region) -> bool:
        """Whether nothing writes over what the statement at the position writes into an array."""
        s = self.block[i]
        return self.staying is not None and isinstance(s, Store) and self.staying.is_last(s, memory)

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
