"""Indices as sums of variables of loops, of lengths and of numbers that stay; what loops and tests say of them."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tangentx.analysis.courses import Course, Place
from tangentx.analysis.inequalities import ONE, Form, Unknown, number, plus
from tangentx.analysis.kinds import Arr, Kind, Num
from tangentx.analysis.primitives import hashable
from tangentx.ir.nodes import Assign, Atom, Attr, For, If, Index, Key, Lit, Op, Slice, Var

_SUMS = frozenset((operator.add, operator.sub))
_OPPOSITES = {
    operator.lt: operator.ge, operator.ge: operator.lt, operator.gt: operator.le, operator.le: operator.gt,
    operator.ne: operator.eq,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Root:
    """An array: where it was bound, in which loops, and the leading indices by which a view of it was taken."""

    number: int
    loops: tuple[Place, ...]
    parts: tuple[tuple[Any, Place], ...] = ()


@dataclass(eq=False)
class Indices:
    """What is known of the whole numbers in one function; `kind` tells that of an atom.

    `loops` has for each unknown those in each trip of which it may be another number.
    """

    course: Course
    kind: Callable[[Atom], Kind]
    loops: dict[Unknown, tuple[Place, ...]] = field(default_factory=dict)
    known: dict[int, tuple[Form, ...]] = field(default_factory=dict)

    def form(self, atom: Any, at: Place) -> Form | None:
        """A whole number as a sum; None where the atom is none, or may have been bound in several places."""
        if isinstance(atom, Lit):
            return number(atom.value) if type(atom.value) is int else None
        kind = self.kind(atom) if isinstance(atom, Var) else None
        if not (isinstance(atom, Var) and isinstance(kind, Num) and kind.type is int and not kind.none):
            return None
        if self.course.is_given(atom.name):
            return self.unknown("given", self._given(atom.name), ())
        b = self.course.binding(atom.name, at)
        if b is None or not isinstance(b.statement, Assign | For):
            return None
        if isinstance(b.statement, For):
            return self.index(b, b.statement)
        found = self._made(b.statement.value, b)
        return self.unknown("value", b.first, b.loops) if found is None else found

    def unknown(self, what: str, which: int, loops: tuple[Place, ...]) -> Form:
        unknown = (what, which, 0)
        self.loops[unknown] = loops
        return {unknown: 1}

    def _given(self, name: str) -> int:
        return sorted(self.course.params).index(name)

    def index(self, loop: Place, s: For) -> Form:
        """The variable of a loop: itself, or its start and a number of steps."""
        own = self.unknown("trip", loop.first, (*loop.loops, loop))
        start = self.form(s.start, loop)
        if not is_long(s.step) or start is None:
            return own
        return plus(start, own, s.step.value)  # type: ignore[union-attr, arg-type]

    def _made(self, value: Any, at: Place) -> Form | None:
        match value:
            case Var() | Lit():
                return self.form(value, at)
            case Op(fn=fn, args=(a, b), kwargs=()) if fn in hashable(_SUMS, fn):
                one, other = self.form(a, at), self.form(b, at)
                return None if one is None or other is None else plus(one, other, 1 if fn is operator.add else -1)
            case Op(fn=operator.neg, args=(a,), kwargs=()):
                one = self.form(a, at)
                return None if one is None else plus({}, one, -1)
            case Op(fn=operator.mul, args=(a, b), kwargs=()):
                return self._product(self.form(a, at), self.form(b, at))
            case Op(fn=builtins.len, args=(Var() as base,), kwargs=()):
                return self._length(base, 0, at)
            case Index(base=Var() as shape, key=Key(parts=(Lit(value=int(axis)),))):
                return self._of_shape(shape, axis, at)
            case Attr(base=Var() as base, name="size"):
                kind = self.kind(base)
                return self._length(base, 0, at) if isinstance(kind, Arr) and kind.rank == 1 else None
        return None

    def _product(self, one: Form | None, other: Form | None) -> Form | None:
        for factor, form in ((one, other), (other, one)):
            if factor is not None and form is not None and factor.keys() <= {ONE}:
                return plus({}, form, factor.get(ONE, 0))
        return None

    def _of_shape(self, shape: Var, axis: int, at: Place) -> Form | None:
        """What stands in the shape of an array."""
        b = self.course.binding(shape.name, at)
        made = b.statement.value if b is not None and isinstance(b.statement, Assign) else None
        if b is not None and isinstance(made, Var):
            return self._of_shape(made, axis, b)
        whole = isinstance(made, Attr) and made.name == "shape" or isinstance(made, Op) and made.fn is np.shape
        base = made.base if isinstance(made, Attr) else made.args[0] if isinstance(made, Op) and made.args else None
        if b is None or not whole or not isinstance(base, Var) or axis < 0:
            return None
        return self._length(base, axis, b)

    def _length(self, base: Var, axis: int, at: Place) -> Form | None:
        root = self.root(base, at) if isinstance(self.kind(base), Arr) else None
        return None if root is None else self.extent(root, len(root.parts) + axis)

    def extent(self, root: Root, axis: int) -> Form:
        return self.unknown("length", 64 * root.number + axis, root.loops)

    def root(self, base: Atom, at: Place, *, sliced: bool = False) -> Root | None:
        """The array that a name holds, as far as it is known; the last indices are slices only where `sliced`."""
        kind = self.kind(base)
        if not (isinstance(base, Var) and isinstance(kind, Arr) and kind.sure):
            return None
        if self.course.is_given(base.name):
            return Root(-1 - self._given(base.name), ())
        b = self.course.binding(base.name, at)
        if b is None or not isinstance(b.statement, Assign):
            return None
        made = b.statement.value
        if isinstance(made, Var):
            return self.root(made, b, sliced=sliced)
        if isinstance(made, Index) and isinstance(self.kind(made.base), Arr):
            row = self.root(made.base, b)
            if row is not None and all(self._may_lead(p, b, sliced) for p in made.key.parts):
                return Root(row.number, row.loops, (*row.parts, *((p, b) for p in made.key.parts)))
        return Root(b.first, b.loops)

    def _may_lead(self, part: Any, at: Place, sliced: bool) -> bool:
        """Whether a part of a key takes one axis, and leaves it where it is no number."""
        return sliced if isinstance(part, Slice) else self.form(part, at) is not None

    def facts(self, at: Place) -> tuple[Form, ...]:
        """What is 0 or more where control is at the place."""
        if at.first not in self.known:
            bounds = (form for loop in at.loops for form in self._bounds(loop))
            tests = (form for test, taken in at.branches for form in self._truths(test.statement.test, taken, test))  # type: ignore[union-attr]
            self.known[at.first] = (*bounds, *tests)
        return self.known[at.first]

    def _bounds(self, loop: Place) -> Iterator[Form]:
        s = loop.statement
        if not isinstance(s, For) or not isinstance(s.step, Lit) or type(s.step.value) is not int:
            return
        index, up = self.index(loop, s), s.step.value > 0
        start, stop = self.form(s.start, loop), self.form(s.stop, loop)
        if is_long(s.step) and start is not None:
            yield self.unknown("trip", loop.first, (*loop.loops, loop))
        elif start is not None:
            yield plus(index, start, -1) if up else plus(start, index, -1)
        if stop is not None:
            yield plus(plus(stop, index, -1) if up else plus(index, stop, -1), number(-1))

    def _truths(self, test: Atom, taken: bool, at: Place) -> Iterator[Form]:
        """What a test says of whole numbers where it has been found true, or not."""
        b = self.course.binding(test.name, at) if isinstance(test, Var) else None
        if isinstance(test, Var) and b is None:
            yield from self._joined(test.name, taken, at)
        value = b.statement.value if b is not None and isinstance(b.statement, Assign) else None
        if b is not None and isinstance(value, Var):
            yield from self._truths(value, taken, b)
        if b is None or not isinstance(value, Op) or value.kwargs:
            return
        if value.fn is operator.not_:
            yield from self._truths(value.args[0], not taken, b)
        elif len(value.args) == 2:
            one, other = (self.form(a, b) for a in value.args)
            if one is not None and other is not None:
                yield from _compared(value.fn, one, other, taken)

    def _joined(self, name: str, taken: bool, at: Place) -> Iterator[Form]:
        """Likewise for ``a and b`` where it was true, ``a or b`` where it was not: a branch binds the first."""
        found = self.course.either(name, at)
        if found is None:
            return
        test, ends = found
        assert isinstance(test.statement, If)
        rest, short = ends if taken else ends[::-1]
        if isinstance(short.statement, Assign) and short.statement.value == test.statement.test:
            yield from self._truths(test.statement.test, taken, test)
            if isinstance(rest.statement, Assign) and isinstance(rest.statement.value, Var):
                yield from self._truths(rest.statement.value, taken, rest)


def is_long(step: Atom) -> bool:
    """Whether a loop leaves numbers out, always the same number."""
    return isinstance(step, Lit) and type(step.value) is int and abs(step.value) > 1


def _compared(fn: Any, one: Form, other: Form, taken: bool) -> Iterator[Form]:
    fn = fn if taken else _OPPOSITES.get(fn)
    if fn in (operator.lt, operator.le, operator.eq):
        yield plus(plus(other, one, -1), number(-1 if fn is operator.lt else 0))
    if fn in (operator.gt, operator.ge, operator.eq):
        yield plus(plus(one, other, -1), number(-1 if fn is operator.gt else 0))
