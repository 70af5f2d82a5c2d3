"""Where each statement stands: the loops and branches around it, and which binding of a name reaches it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tangentx.ir.nodes import Block, For, If, Loop, Statement
from tangentx.ir.walk import blocks, writes

Step: TypeAlias = tuple[int, int, int]
"""The statement whose block it is (by its number, -1 for the function), which of its blocks, and the position there."""


@dataclass(eq=False)
class Place:
    """A statement with its number in the text, that of the last one inside it, and what it stands in."""

    statement: Statement
    first: int
    last: int
    path: tuple[Step, ...]
    loops: tuple[Place, ...] = ()
    branches: tuple[tuple[Place, bool], ...] = ()

    def holds(self, other: Place) -> bool:
        """Whether the other one stands in a block of this one."""
        return self.first < other.first <= self.last

    def is_passed_before(self, other: Place) -> bool:
        """Whether every passage to the other one has just come by here."""
        depth = len(self.path) - 1
        if len(other.path) <= depth or other.path[:depth] != self.path[:depth]:
            return False
        mine, its = self.path[depth], other.path[depth]
        return mine[:2] == its[:2] and mine[2] < its[2]


class Course:
    """The places of the statements of a function."""

    def __init__(self, body: Block, params: Sequence[str]) -> None:
        self.params = frozenset(params)
        self.places: list[Place] = []
        self.binders: dict[str, list[Place]] = {}
        self._block(body, (), -1, 0, (), ())

    def _block(
        self,
        block: Block,
        path: tuple[Step, ...],
        owner: int,
        which: int,
        loops: tuple[Place, ...],
        branches: tuple[tuple[Place, bool], ...],
    ) -> None:
        for i, s in enumerate(block):
            number = len(self.places)
            place = Place(s, number, number, (*path, (owner, which, i)), loops, branches)
            self.places.append(place)
            for name in writes(s):
                self.binders.setdefault(name, []).append(place)
            inside = (*loops, place) if isinstance(s, For | Loop) else loops
            for k, inner in enumerate(blocks(s)):
                under = (*branches, (place, k == 0)) if isinstance(s, If) else branches
                self._block(inner, place.path, place.first, k, inside, under)
            place.last = len(self.places) - 1

    def binding(self, name: str, at: Place) -> Place | None:
        """The one statement that has bound the name, whenever control is at the place; None where it is not known.

        A loop that the place stands in is the binding of its own variable.
        """
        found: Place | None = None
        for b in self.binders.get(name, ()):
            if (b.holds(at) or b.is_passed_before(at)) and _binds(b, at) and (found is None or b.first > found.first):
                found = b
        if found is None or self._may_be_bound(name, (found,), found, at):
            return None
        return found

    def either(self, name: str, at: Place) -> tuple[Place, tuple[Place, Place]] | None:
        """The test in both branches of which the name has been bound last, and the two statements that bind it."""
        for b in reversed(self.binders.get(name, ())):
            test, taken = b.branches[-1] if b.branches else (None, False)
            if test is None or taken or not test.is_passed_before(at):
                continue
            ends = [e for e in self.binders[name] if e.path[:-1] == test.path and e.branches[-1][0] is test]
            both = len(ends) == 2 and ends[0].branches[-1][1] and len(b.path) == len(test.path) + 1
            if both and not self._may_be_bound(name, (ends[0], ends[1]), test, at):
                return test, (ends[0], ends[1])
        return None

    def is_given(self, name: str) -> bool:
        """Whether the name is a parameter that is never bound anew."""
        return name in self.params and name not in self.binders

    def _may_be_bound(self, name: str, known: tuple[Place, ...], found: Place, at: Place) -> bool:
        """Whether a statement that is not known may bind the name between its binding and the place."""
        around = [loop for loop in at.loops if loop is not found and loop not in found.loops]
        for b in self.binders[name]:
            if b in known:
                continue
            if found.first < b.first < at.first or any(loop.holds(b) for loop in around):
                return True
        return False


def _binds(b: Place, at: Place) -> bool:
    """Whether the name has been bound for certain where control is at the place: a loop binds it in its own block."""
    return not isinstance(b.statement, For) or b.holds(at)


def alone_in_branches(a: Place, b: Place) -> bool:
    """Whether the two stand in different branches of one test, within the loops that both stand in."""
    inner = sum(loop in b.loops for loop in a.loops)
    common = a.loops[inner - 1] if inner else None
    within = [(test, taken) for test, taken in a.branches if common is None or common.holds(test)]
    return any((test, not taken) in b.branches for test, taken in within)
