"""An index of where the names of a block are read and bound, so that passes need not scan for it.

A statement stands for all that its own blocks hold. A pass that moves statements tells the index of it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set

from tangentx.ir.nodes import Statement
from tangentx.ir.walk import WITH_BLOCKS, bound, reads, used, writes


def names_of(s: Statement) -> tuple[frozenset[str], frozenset[str]]:
    """The names that are read in a statement and its blocks, and those that are bound there."""
    if type(s) in WITH_BLOCKS:
        return used((s,)), frozenset(bound((s,)))
    return reads(s), writes(s)


class Positions:
    """For each name, the positions in the block at which it is read, and those at which it is bound, in order."""

    def __init__(self, block: Sequence[Statement]) -> None:
        self.read: dict[str, list[int]] = defaultdict(list)
        self.bound: dict[str, list[int]] = defaultdict(list)
        for i, s in enumerate(block):
            reading, binding = names_of(s)
            for name in reading:
                self.read[name].append(i)
            for name in binding:
                self.bound[name].append(i)

    def next_read(self, name: str, after: int) -> int | None:
        """The first position after `after` at which the name is read."""
        return _next(self.read.get(name, ()), after)

    def is_bound_between(self, names: Iterable[str], first: int, last: int) -> bool:
        """Whether one of the names is bound after position `first` and before position `last`."""
        for name in names:
            places = self.bound.get(name, ())
            if bisect_left(places, last) > bisect_right(places, first):
                return True
        return False

    def move_reads(self, names: Set[str], source: int, target: int) -> None:
        """What was read at one position is read at another now."""
        for name in names:
            self.read[name].remove(source)
            if target not in self.read[name]:
                insort(self.read[name], target)


def _next(places: Sequence[int], after: int) -> int | None:
    at = bisect_right(places, after)
    return places[at] if at < len(places) else None
