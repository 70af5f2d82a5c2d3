"""Tells arrays apart by when they were created: an array made later is none of those that existed before.

So an array made in each trip of a loop is another one each time, also where it is recorded, and taken back in the
reverse sweep; and what a name has at the start of a trip is none that the trip makes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tangentx.analysis.dependence.affine_forms import Root
from tangentx.analysis.dependence.array_dependence import Elements
from tangentx.analysis.dependence.control_context import Course, Place
from tangentx.analysis.types.kinds import Arr
from tangentx.analysis.types.primitives import makes_new
from tangentx.ir.markers import is_tape
from tangentx.ir.nodes import Append, Assign, Atom, Break, Continue, Op, Pop, Return, Var
from tangentx.ir.walk import reads, writes


@dataclass(frozen=True, eq=False)
class Carried(Root):
    """What a name holds at the start of a trip of the loop, or behind it: what the trip before has made, or what it
    held before the loop. Each trip binds it once, to a new array."""

    loop: Place | None = None
    behind: bool = False

    @property
    def loops(self) -> tuple[Place, ...]:
        """The loops in each trip of which it is another array."""
        assert self.loop is not None
        return self.loop.loops if self.behind else (*self.loop.loops, self.loop)


@dataclass(frozen=True, eq=False)
class _Tape:
    """A list that is made empty, appended to at one place and popped from at another, later one."""

    made: Place
    append: Place
    pop: Place


@dataclass(eq=False)
class Births(Elements):
    """The elements that one function reads and writes, of arrays that are told apart by when they were made."""

    numbers: dict[tuple[str, int], int] = field(default_factory=dict)
    tapes: dict[str, _Tape] | None = None
    busy: bool = False

    def root(self, base: Atom, at: Place, *, sliced: bool = False) -> Root | None:
        """The array that a name holds, as far as it is known."""
        found = super().root(base, at, sliced=sliced)
        kind = self.kind(base) if found is None else None
        if isinstance(base, Var) and isinstance(kind, Arr) and kind.sure and not self.busy:
            return self._carried(base.name, at)
        return found

    def _carried(self, name: str, at: Place) -> Root | None:
        """What the name holds at a place of a loop that binds it later in each trip, or behind such a loop."""
        binders = self.course.binders.get(name, [])
        around = [loop for loop in at.loops if any(loop.holds(b) for b in binders)]
        if around:
            loop, behind = around[-1], False
            inside = [b for b in binders if loop.holds(b)]
            fits = inside[0].first > at.first
        else:
            before = [b for b in binders if b.first < at.first and b.loops]
            if not before or before[-1] is not max((b for b in binders if b.first < at.first), key=_number):
                return None
            loop, behind = before[-1].loops[-1], True
            inside = [b for b in binders if loop.holds(b)]
            fits = loop.is_passed_before(at)
        if not fits or len(inside) != 1 or not self._is_bound_anew(inside[0], loop):
            return None
        number = self.numbers.setdefault((name, loop.first), len(self.course.places) + len(self.numbers))
        return Carried(number, None, loop=loop, behind=behind)

    def _is_bound_anew(self, b: Place, loop: Place) -> bool:
        """Whether each trip of the loop comes by the binding, to an array that it has made."""
        within = self.course.places[loop.first + 1 : loop.last + 1]
        if b.path[:-1] != loop.path or not isinstance(b.statement, Assign) or _may_leave(within):
            return False
        value = b.statement.value
        self.busy = True  # what it holds for another name's sake is not new
        root = self.root(value, b) if isinstance(value, Var) else Root(b.first, b)
        self.busy = False
        return root is not None and not root.parts and _is_new(root) and root.loops == b.loops

    # -- which are different -----------------------------------------------------------------------------------

    def are_different(self, first: Root, second: Root, at: Place, shared: Sequence[Place], later: Place | None) -> bool:
        if _is_new(second) and self._is_made_later(second, first, at, later):
            return True
        if _is_new(first) and self._was_there(second, first, shared):
            return True
        if _is_given(first) or _is_given(second):
            return self._recorded(second if _is_given(first) else first) is not None
        if isinstance(first, Carried) and isinstance(second, Carried) and first.number == second.number:
            return not first.behind and (later is None if second.behind else later is first.loop)
        one, other = self._recorded(first), self._tape(second)
        if one is None or other is None or not self._are_together(one, other):
            return False
        return later in one.pop.loops or (one is not other and self._is_older(other, one))

    def _is_made_later(self, new: Root, other: Root, at: Place, later: Place | None) -> bool:
        """Whether an array is made after something was done to the other one at a place, or is another for certain."""
        made = new.made
        assert made is not None
        if later in made.loops or (later is None and made.first > at.first):
            return True
        return self._was_there(other, new, made.loops) or (_is_new(other) and other.number != new.number)

    def _was_there(self, old: Root, new: Root, shared: Sequence[Place]) -> bool:
        """Whether an array was there before the other was made; both are looked at in one trip of these loops."""
        assert new.made is not None
        if isinstance(old, Carried):
            return not old.behind and old.loop in shared and old.loop in new.loops
        tape = self._tape(old)
        return _is_given(old) or (tape is not None and _is_over(tape.append, new.made))

    # -- what is recorded --------------------------------------------------------------------------------------

    def _recorded(self, root: Root) -> _Tape | None:
        """The tape from which an array comes that was made for its append, so that each pop gives another one."""
        tape = self._tape(root)
        item = self._item(tape) if tape is not None else None
        assert tape is None or item is None or item.made is not None
        return tape if item is not None and item.loops == tape.append.loops else None  # type: ignore[union-attr]

    def _item(self, tape: _Tape) -> Root | None:
        """What is appended, where it is made by the function."""
        s = tape.append.statement
        root = self.root(s.value, tape.append) if isinstance(s, Append) else None
        return root if root is not None and not root.parts and _is_new(root) else None

    def _tape(self, root: Root) -> _Tape | None:
        """The tape from which an array comes."""
        made = root.made.statement if root.made is not None else None
        if not (isinstance(made, Assign) and isinstance(made.value, Pop)):
            return None
        if self.tapes is None:
            self.tapes = dict(_tapes(self.course))
        return self.tapes.get(made.value.base.name)

    def _are_together(self, one: _Tape, other: _Tape) -> bool:
        """Whether two tapes grow and shrink together."""
        if one is other:
            return True
        for a, b in ((one.append, other.append), (one.pop, other.pop)):
            first, last = sorted((a.first, b.first))
            if not _are_of_one_block(a, b) or _may_leave(self.course.places[first : last + 1]):
                return False
        return _are_of_one_block(one.made, other.made)

    def _is_older(self, other: _Tape, one: _Tape) -> bool:
        """Whether of what is appended together to two tapes the first was there when the second was made."""
        item, made = self._item(other), self._item(one)
        assert made is not None and made.made is not None and isinstance(other.append.statement, Append)
        if item is not None:
            return item.number != made.number
        name = other.append.statement.value
        inside = other.append.loops[-1:]
        return isinstance(name, Var) and all(
            b.first > other.append.first or b.last < made.made.first
            for b in self.course.binders.get(name.name, ())
            if not inside or inside[0].holds(b)
        )


def _number(place: Place) -> int:
    return place.first


def _is_given(root: Root) -> bool:
    """Whether the array is that of a parameter."""
    return root.made is None and not isinstance(root, Carried)


def _is_new(root: Root) -> bool:
    """Whether the array was made where its name was bound."""
    s = root.made.statement if root.made is not None else None
    return isinstance(s, Assign) and isinstance(s.value, Op) and makes_new(s.value.fn)


def _may_leave(places: Sequence[Place]) -> bool:
    return any(isinstance(p.statement, Break | Continue | Return) for p in places)


def _are_of_one_block(a: Place, b: Place) -> bool:
    return a.path[:-1] == b.path[:-1] and a.path[-1][:2] == b.path[-1][:2]


def _is_over(first: Place, second: Place) -> bool:
    """Whether the first statement runs for the last time before the second runs at all."""
    return first.first < second.first and not any(loop in second.loops for loop in first.loops)


def _tapes(course: Course) -> Iterator[tuple[str, _Tape]]:
    """The tapes of a function by name: nothing else has to do with them, and all appends come before all pops."""
    found: dict[str, list[Place]] = {}
    for place in course.places:
        for name in {*writes(place.statement), *reads(place.statement)}:
            found.setdefault(name, []).append(place)
    for name, places in found.items():
        if is_tape(name, [place.statement for place in places]):
            made, append, pop = places
            if _is_over(made, append) and _is_over(append, pop):
                yield name, _Tape(made, append, pop)
