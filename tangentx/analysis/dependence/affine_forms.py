"""Indices as affine forms: sums of loop variables, lengths and loop-invariant numbers; and the ranges of loops."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.dependence.control_context import Course, Place
from tangentx.analysis.dependence.fourier_motzkin import ONE, Form, Unknown, compared, is_possible, number, plus
from tangentx.analysis.types.kinds import Arr, Kind, Num
from tangentx.analysis.types.primitives import hashable
from tangentx.ir.nodes import Assign, Atom, Attr, For, If, Index, Key, Lit, Make, Op, Slice, Var

_NEW: frozenset[Any] = frozenset((np.zeros, np.ones, np.empty, np.full))
_ALIKE: frozenset[Any] = frozenset(
    (np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.copy, np.ndarray.copy, arrays.clone,
     arrays.entry_copy, arrays.zeros_as)
)  # fmt: skip
_TURNS: frozenset[Any] = frozenset((np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.ndarray.transpose))
_SUMS = frozenset((operator.add, operator.sub))


@dataclass(frozen=True, eq=False)
class Root:
    """An array: what has bound it (None for a parameter), and the leading indices by which a view of it was taken.

    `turned` is where the view was given other axes; its indices are not known from there on.
    """

    number: int
    made: Place | None
    parts: tuple[tuple[Any, Place], ...] = ()
    turned: Place | None = None

    @property
    def loops(self) -> tuple[Place, ...]:
        """The loops in each trip of which it may be another array."""
        return () if self.made is None else self.made.loops


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
        return self._length(base, axis, b, at)

    def _length(self, base: Var, axis: int, at: Place, asked: Place | None = None) -> Form | None:
        """How long an array is along an axis, where it was `asked` for; at least 0 where nothing else is known."""
        if not isinstance(self.kind(base), Arr):
            return None
        root = self.root(base, at)
        if root is None:
            where = asked or at
            return self.unknown("count", 64 * where.first + axis, where.loops)
        return self.extent(root, len(root.parts) + axis)

    def extent(self, root: Root, axis: int) -> Form:
        """How long the array that the root is a view of is along an axis."""
        if root.turned is not None:
            return self.unknown("length", 64 * root.turned.first + axis, root.turned.loops)
        value = root.made.statement.value if root.made is not None and isinstance(root.made.statement, Assign) else None
        if root.made is not None and isinstance(value, Op) and value.args:
            found = self._of_new(value, axis, root.made)
            if found is not None:
                return found
        return self.unknown("length", 64 * root.number + axis, root.loops)

    def _of_new(self, op: Op, axis: int, at: Place) -> Form | None:
        """How long a new array is, where the operation tells."""
        given = op.args[0]
        if op.fn in hashable(_ALIKE, op.fn) and isinstance(given, Var) and not op.kwargs:
            like = self.root(given, at)
            return None if like is None else self.extent(like, len(like.parts) + axis)
        if op.fn not in hashable(_NEW, op.fn):
            return None
        b = self.course.binding(given.name, at) if isinstance(given, Var) else None
        made = b.statement.value if b is not None and isinstance(b.statement, Assign) else None
        if b is not None and isinstance(made, Make) and made.cls is tuple:
            return self.form(made.items[axis], b) if axis < len(made.items) else None
        return self.form(given, at) if axis == 0 else None

    def root(self, base: Atom, at: Place, *, sliced: bool = False) -> Root | None:
        """The array that a name holds, as far as it is known; the last indices are slices only where `sliced`."""
        kind = self.kind(base)
        if not (isinstance(base, Var) and isinstance(kind, Arr) and kind.sure):
            return None
        if self.course.is_given(base.name):
            return Root(-1 - self._given(base.name), None)
        b = self.course.binding(base.name, at)
        if b is None or not isinstance(b.statement, Assign):
            return None
        made = b.statement.value
        if isinstance(made, Var):
            return self.root(made, b, sliced=sliced)
        if isinstance(made, Index) and isinstance(self.kind(made.base), Arr):
            row = self.root(made.base, b)
            if row is not None and all(self._may_lead(p, b, sliced) for p in made.key.parts):
                return replace(row, parts=(*row.parts, *((p, b) for p in made.key.parts)))
        if (viewed := _turned(made)) is not None and isinstance(self.kind(viewed), Arr):
            whole = self.root(viewed, b)
            return None if whole is None else replace(whole, parts=(*whole.parts, (Lit(Ellipsis), b)), turned=b)
        return Root(b.first, b)

    def _may_lead(self, part: Any, at: Place, sliced: bool) -> bool:
        """Whether a part of a key takes one axis, and leaves it where it is no number."""
        return sliced if isinstance(part, Slice) else self.form(part, at) is not None

    def facts(self, at: Place) -> tuple[Form, ...]:
        """What is 0 or more where control is at the place."""
        if at.first not in self.known:
            bounds = (form for loop in at.loops for form in self._bounds(loop))
            apart: list[Form] = []
            tests = (form for test, taken in at.branches for form in self._tested(test, taken, apart))
            found = [*bounds, *tests]
            for form in apart:  # greater or less, where the other one cannot be
                sides = [plus(number(-1), form, sign) for sign in (1, -1)]
                possible = [side for side in sides if is_possible([], [*found, side])]
                found += possible if len(possible) == 1 else ()
            self.known[at.first] = tuple(found)
        return self.known[at.first]

    def _tested(self, test: Place, taken: bool, apart: list[Form]) -> Iterator[Form]:
        assert isinstance(test.statement, If)
        return self._truths(test.statement.test, taken, test, apart)

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

    def _truths(self, test: Atom, taken: bool, at: Place, apart: list[Form]) -> Iterator[Form]:
        """What a test says of whole numbers where it has been found true, or not; `apart` grows by what is not 0."""
        b = self.course.binding(test.name, at) if isinstance(test, Var) else None
        if isinstance(test, Var) and b is None:
            yield from self._joined(test.name, taken, at, apart)
        value = b.statement.value if b is not None and isinstance(b.statement, Assign) else None
        if b is not None and isinstance(value, Var):
            yield from self._truths(value, taken, b, apart)
        if b is None or not isinstance(value, Op) or value.kwargs:
            return
        if value.fn is operator.not_:
            yield from self._truths(value.args[0], not taken, b, apart)
        elif len(value.args) == 2:
            one, other = (self.form(a, b) for a in value.args)
            if one is not None and other is not None:
                yield from compared(value.fn, one, other, taken)
                apart += [plus(one, other, -1)] if value.fn is (operator.ne if taken else operator.eq) else []

    def _joined(self, name: str, taken: bool, at: Place, apart: list[Form]) -> Iterator[Form]:
        """Likewise for ``a and b`` where it was true, ``a or b`` where it was not: a branch binds the first."""
        found = self.course.either(name, at)
        if found is None:
            return
        test, ends = found
        assert isinstance(test.statement, If)
        rest, short = ends if taken else ends[::-1]
        if isinstance(short.statement, Assign) and short.statement.value == test.statement.test:
            yield from self._truths(test.statement.test, taken, test, apart)
            if isinstance(rest.statement, Assign) and isinstance(rest.statement.value, Var):
                yield from self._truths(rest.statement.value, taken, rest, apart)


def _turned(value: Any) -> Atom | None:
    """What an expression is a view of that has other axes."""
    if isinstance(value, Attr):
        return value.base if value.name == "T" else None
    return value.args[0] if isinstance(value, Op) and value.fn in hashable(_TURNS, value.fn) and value.args else None


def is_long(step: Atom) -> bool:
    """Whether a loop leaves numbers out, always the same number."""
    return isinstance(step, Lit) and type(step.value) is int and abs(step.value) > 1
