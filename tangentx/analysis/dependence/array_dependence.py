"""Which elements of arrays a function reads and writes, and whether one execution may meet the place of another.

Two executions of statements are told apart by the loops in which they are of one trip; what is known of their indices
then is a system of linear equations and inequalities, and if it has no solution, they never meet.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tangentx.analysis.dependence.affine_forms import Indices, Root, is_long
from tangentx.analysis.dependence.control_context import Place, alone_in_branches
from tangentx.analysis.dependence.fourier_motzkin import ONE, Form, Unknown, is_possible, number, plus
from tangentx.analysis.types.kinds import Num
from tangentx.ir.nodes import Atom, For, Lit, Slice

Alternative: TypeAlias = tuple[Form, tuple[Form, ...]]
"""An index from 0 on along an axis, and what is 0 or more where it is that."""

_ONCE, _LATER = 1, 2  # executions: of the first statement, of the second; 0 is for what both share


@dataclass(eq=False)
class Spot:
    """Elements of an array that a statement reads or writes, by the parts of keys and where these are known.

    `axes` is found when it is asked for; it has None where an index is not known.
    """

    at: Place
    root: Root
    parts: tuple[tuple[Any, Place], ...]
    axes: tuple[tuple[Alternative, ...] | None, ...] | None = None


class Elements(Indices):
    """The elements that one function reads and writes."""

    def spot(self, base: Atom, parts: tuple[Any, ...], at: Place) -> Spot | None:
        """The elements that ``base[parts]`` has, all of `base` for no parts; None where the array is not known."""
        parts = () if parts == (Lit(Ellipsis),) else parts
        root = self.root(base, at, sliced=not parts)
        if root is None:
            return None
        return Spot(at, root, (*root.parts, *((part, at) for part in parts)))

    def axes(self, spot: Spot) -> tuple[tuple[Alternative, ...] | None, ...]:
        """What the index along each of the first axes may be."""
        if spot.axes is None:
            found: list[tuple[Alternative, ...] | None] = []
            for part, where in spot.parts:
                if not isinstance(part, Slice) and self._is_other(part):
                    break
                found.append(self._alternatives(part, where, self.extent(spot.root, len(found)), spot.at))
            spot.axes = tuple(found)
        return spot.axes

    def _is_other(self, part: Atom) -> bool:
        """Whether a part of a key may stand for any number of axes, or for none."""
        kind = self.kind(part)
        return not (isinstance(kind, Num) and kind.type is not bool and not kind.none)

    def _alternatives(self, part: Any, where: Place, length: Form, at: Place) -> tuple[Alternative, ...] | None:
        """What an index, or any of a slice, may be from 0 on: it may have been counted from the end."""
        if isinstance(part, Slice):
            found = self._of_slice(part, where, length)
        else:
            index = self.form(part, where)
            if index is None:
                return None
            negative = plus(number(-1), index, -1)
            found = [(index, (index,)), (plus(index, length), (negative,))]
        if found is None:
            return None
        bounded = [(p, (*more, p, plus(plus(length, p, -1), number(-1)))) for p, more in found]
        facts = self.facts(at)
        return tuple((p, more) for p, more in bounded if is_possible([], [*facts, *more, *_lengths((*facts, *more))]))

    def _of_slice(self, part: Slice, where: Place, length: Form) -> list[Alternative] | None:
        if not (part.step == Lit(None) or isinstance(part.step, Lit) and part.step.value == 1):
            return None
        p = self.unknown("any", len(self.loops), ())
        found: list[tuple[Form, ...]] = [()]
        for bound, sign, least in ((part.start, 1, 0), (part.stop, -1, -1)):
            form = self.form(bound, where)
            if form is None:
                continue
            negative = plus(number(-1), form, -1)
            away = plus(plus({}, p, sign), form, -sign)  # from the start on, or up to the stop
            last = plus(away, number(least))
            ends = ((form, last), (negative, plus(last, length, -sign)))
            found = [(*one, *other) for one in found for other in ends]
        return [(p, more) for more in found]

    def may_follow(self, first: Place, second: Place) -> bool:
        """Whether an execution of the second statement may come after one of the first."""
        again = any(loop in second.loops for loop in first.loops)
        return again or (second.first > first.first and not alone_in_branches(first, second))

    def may_meet(self, first: Spot, second: Spot) -> bool:
        """Whether an execution of the second, after one of the first, may come to an element of the first."""
        a, b = first.at, second.at
        common = [loop for loop in a.loops if loop in b.loops]
        if b.first > a.first and not alone_in_branches(a, b) and self._meet(first, second, common, None):
            return True
        return any(self._meet(first, second, common[:depth], loop) for depth, loop in enumerate(common))

    def may_meet_within(self, first: Spot, second: Spot) -> bool:
        """Likewise, where both are of one trip of all loops that the first stands in."""
        common = [loop for loop in first.at.loops if loop in second.at.loops]
        return self._meet(first, second, common, None)

    def are_different(self, first: Root, second: Root, at: Place, shared: Sequence[Place], later: Place | None) -> bool:
        """Whether the second, after something was done to the first at a place, is another array for certain.

        Both are of one trip of the `shared` loops, the second of a later trip of that given.
        """
        return False

    def _meet(self, first: Spot, second: Spot, shared: list[Place], later: Place | None) -> bool:
        """Whether they may, in one trip of the `shared` loops, where the second is of a later trip of that given."""
        if self.are_different(first.root, second.root, first.at, shared, later):
            return False
        if first.root.number != second.root.number or any(loop not in shared for loop in first.root.loops):
            return True
        facts = [
            *(self._of(form, _ONCE, shared) for form in self.facts(first.at)),
            *(self._of(form, _LATER, shared) for form in self.facts(second.at)),
            *(self._order(later, shared) if later is not None else ()),
        ]
        axes = [
            (p, q) for p, q in zip(self.axes(first), self.axes(second), strict=False) if p is not None and q is not None
        ]
        choices = [list(itertools.product(p, q)) for p, q in axes]
        return any(self._is_common(chosen, facts, shared) for chosen in itertools.product(*choices))

    def _is_common(
        self, chosen: tuple[tuple[Alternative, Alternative], ...], facts: list[Form], shared: list[Place]
    ) -> bool:
        zero: list[Form] = []
        positive = list(facts)
        for (p, ps), (q, qs) in chosen:
            zero.append(plus(self._of(p, _ONCE, shared), self._of(q, _LATER, shared), -1))
            positive += [self._of(form, _ONCE, shared) for form in ps]
            positive += [self._of(form, _LATER, shared) for form in qs]
        return is_possible(zero, [*positive, *_lengths((*zero, *positive))])

    def _of(self, form: Form, execution: int, shared: list[Place]) -> Form:
        """The form with the unknowns of one execution, but for what both have."""
        return {self._as_of(unknown, execution, shared): n for unknown, n in form.items()}

    def _as_of(self, unknown: Unknown, execution: int, shared: list[Place]) -> Unknown:
        if unknown == ONE or unknown[0] != "any" and all(loop in shared for loop in self.loops[unknown]):
            return unknown
        return (unknown[0], unknown[1], execution)

    def _order(self, later: Place, shared: list[Place]) -> Iterator[Form]:
        s = later.statement
        if not isinstance(s, For) or not isinstance(s.step, Lit) or type(s.step.value) is not int:
            return
        long = is_long(s.step) and self.form(s.start, later) is not None
        grows = (long or s.step.value > 0) != s.backward
        own = self.unknown("trip", later.first, (*later.loops, later))
        one, other = self._of(own, _ONCE, shared), self._of(own, _LATER, shared)
        yield plus(plus(other, one, -1) if grows else plus(one, other, -1), number(-1))


def _lengths(forms: tuple[Form, ...]) -> list[Form]:
    """Lengths are 0 or more."""
    found = {unknown: None for form in forms for unknown in form}
    return [{unknown: 1} for unknown in found if unknown[0] in ("length", "count")]
