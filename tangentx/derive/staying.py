"""Elements of arrays that keep what they hold while others of the same array are written."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from tangentx.analysis.courses import Course, Place
from tangentx.analysis.elements import Elements, Spot
from tangentx.analysis.kinds import Arr, Num
from tangentx.analysis.regions import Region
from tangentx.derive.emit import Frame
from tangentx.ir.nodes import Accumulate, Append, Assign, Call, Delete, Index, Pop, Statement, Store
from tangentx.ir.walk import statements


class Staying:
    """The elements that one function reads and writes, looked at where somebody asks."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    @cached_property
    def _elements(self) -> Elements:
        function = self.frame.function
        return Elements(Course(function.body, [p.name for p in function.params]), self.frame.kind)

    @cached_property
    def _places(self) -> dict[int, Place]:
        return {id(place.statement): place for place in self._elements.course.places}

    def is_apart(self, read: Statement, change: Statement, memory: Region) -> bool:
        """Whether a statement, after another one that reads an element, in the same trip of all loops that both stand
        in, writes other elements of the memory alone."""
        spot = self._spot(read)
        writes = list(self._writes(change, memory))
        return spot is not None and all(w is not None and not self._elements.may_meet_within(spot, w) for w in writes)

    def is_last(self, write: Store, memory: Region) -> bool:
        """Whether nothing writes over what a statement writes, so that it need not be brought back."""
        spot = self._spot(write)
        every = [place.statement for place in self._elements.course.places]
        calls = (s.value for s in every if isinstance(s, Assign) and isinstance(s.value, Call))
        if spot is None or any(not isinstance(self.frame.kind(a), Num) for call in calls for a in call.args):
            return False
        later = (w for s in every for w in self._writes(s, memory, inside=False))
        return all(w is not None and not self._elements.may_meet(spot, w) for w in later)

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
