"""Maxima that a program subtracts to keep exponentials small, and that its results do not depend on.

    m = np.max(x, axis=1)                                   # m
    e = np.exp(x - m[:, None])                              # what of it depends on m:  x - m,  exp(-m) * exp(x)
    each = m + np.log(np.sum(e, axis=1))                    # exp(-m) * sum,  log(sum) - m,  log(sum)

For any `m` whatever, `each` is the same, so the derivative by `m` is 0 by algebra: none has to flow through the
maximum, in either mode, at any order. Each value between is followed in the form in which it depends on `m`: a sum
``v + k * m`` or a product ``v * exp(k * m)``, of a `v` without `m`. For each of its axes the form says along which axis
of `m` its elements go; None where `m` is the same all along the axis, which alone may be summed over. Where a value
that depends on `m` meets anything else, or is still read where the block has ended, the maximum has its derivative.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import BOTTOM, Arr, Box, Kind, Num, varied
from tangentx.ir.nodes import Assign, Atom, Block, Index, Key, Lit, Op, Slice, Statement, Var
from tangentx.ir.walk import blocks, reads, writes

Along: TypeAlias = tuple[int | None, ...]


@dataclass(frozen=True)
class Form:
    """How a value depends on the maximum: a sum with `factor` times it, or a product with its exponential to that."""

    product: bool
    factor: int
    along: Along


_MAXIMA = frozenset((np.max, np.min, np.amax, np.amin, np.ndarray.max, np.ndarray.min))
_SUMS = {operator.add: 1, np.add: 1, operator.sub: -1, np.subtract: -1}
_NEGATIVES = frozenset((operator.neg, np.negative))
_PRODUCTS = frozenset((operator.mul, np.multiply))
_QUOTIENTS = frozenset((operator.truediv, np.true_divide))
_EXPONENTIALS = frozenset((np.exp, math.exp))
_LOGARITHMS = frozenset((np.log, math.log))
_RESHAPES = frozenset((np.reshape, np.ndarray.reshape))
_TOTALS = frozenset((np.sum, np.ndarray.sum, np.mean, np.ndarray.mean))


class _Mixed(Exception):
    """A value depends on the maximum in another way."""


def forget_shifts(program: Program) -> None:
    """Marks each such maximum of a program that is to be differentiated as one that does not vary."""
    for instance in program.reached():
        if instance.link.function is not None:
            body = instance.link.function.body
            for block in _every(body):
                for at, s in enumerate(block):
                    if isinstance(s, Assign) and isinstance(s.value, Op) and _is_one_of(s.value.fn, _MAXIMA):
                        _forget(program, instance, body, block, at)


def _forget(program: Program, instance: Instance, body: Block, block: Block, at: int) -> None:
    s = block[at]
    assert isinstance(s, Assign) and isinstance(s.value, Op)
    kind = instance.kinds.get(s.target, Num(float))
    along = _of_maximum(s.value, instance, kind) if varied(kind) else None
    if along is None:
        return
    try:
        views = _Forms(instance).of_block(body, block, at, Form(False, 1, along))
    except _Mixed:
        return
    assert instance.link.function is not None
    bound = Counter(name for inner in _every(body) for each in inner for name in writes(each))
    bound.update(p.name for p in instance.link.function.params)
    if any(bound[name] > 1 for name in views):
        return
    region = program.world.region()
    for name in views:
        seen = instance.kinds[name]
        if isinstance(seen, Arr):
            instance.kinds[name] = replace(seen, region=region)
        elif isinstance(seen, Num):
            instance.kinds[name] = replace(seen, varied=False)


def _kind(instance: Instance, atom: Atom) -> Kind:
    if isinstance(atom, Var):
        return instance.kinds.get(atom.name, BOTTOM)
    plain = isinstance(atom, Lit) and type(atom.value) in (int, float, complex)
    return Num(type(atom.value)) if plain and isinstance(atom, Lit) else BOTTOM


def _every(body: Block) -> Iterator[Block]:
    yield body
    for s in body:
        for inner in blocks(s):
            yield from _every(inner)


def _is_one_of(fn: Any, group: Any) -> bool:
    try:
        return fn in group
    except TypeError:
        return False


def _rank(kind: Kind | None) -> int:
    """The rank of an array or number. Raises _Mixed where it is not known."""
    if isinstance(kind, Num) and not kind.none:
        return 0
    if isinstance(kind, Arr) and kind.sure and kind.rank is not None:
        return kind.rank
    raise _Mixed


def _axes(op: Op, rank: int) -> tuple[tuple[int, ...], bool]:
    """The axes that a reduction takes away, and whether they stay with length one. Raises _Mixed where it is asked for
    anything else, or what it is asked for is not written down."""
    given = dict(zip(("axis",), op.args[1:], strict=False)) | dict(op.kwargs)
    if len(op.args) > 2 or not given.keys() <= {"axis", "keepdims"}:
        raise _Mixed
    axis, keepdims = (getattr(given.get(name, Lit(default)), "value", op) for name, default in _DEFAULTS)
    if axis is None:
        return tuple(range(rank)), bool(keepdims)
    if type(axis) is not int or not -rank <= axis < rank or type(keepdims) is not bool:
        raise _Mixed
    return (axis % rank,), keepdims


_DEFAULTS = (("axis", None), ("keepdims", False))


def _of_maximum(op: Op, instance: Instance, kind: Kind) -> Along | None:
    """Along which of its own axes the elements of a maximum go; None for one that is not understood."""
    try:
        rank = _rank(_kind(instance, op.args[0]))
        taken, kept = _axes(op, rank)
        along: Along = tuple(None if i in taken else i for i in range(rank) if kept or i not in taken)
        return along if len(along) == _rank(kind) else None
    except _Mixed:
        return None


_NEW = (Lit(None), Lit(Ellipsis))


def _is_whole(part: Slice) -> bool:
    return (part.start, part.stop, part.step) == (Lit(None),) * 3


def _is_view(value: Any) -> bool:
    return isinstance(value, Var | Index) or (isinstance(value, Op) and _is_one_of(value.fn, _RESHAPES))


class _Forms:
    """The forms of the names of one function, along the statements of a block."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.known: dict[str, Form] = {}
        self.views: set[str] = set()

    def of_block(self, body: Block, block: Block, at: int, form: Form) -> set[str]:
        """The maximum that a statement binds, and its views. Raises _Mixed where its derivative is not 0."""
        first = block[at]
        assert isinstance(first, Assign)
        self.known[first.target] = form
        self.views.add(first.target)
        for s in block[at + 1 :]:
            self._step(s)
        left = self.known.keys()
        passed = block[: at + 1] if block is not body else ()  # of the next trip
        others = (s for inner in _every(body) if inner is not block for s in inner)
        if any(left & reads(s) for s in (*passed, *others)):
            raise _Mixed
        return self.views

    def _step(self, s: Statement) -> None:
        if any(blocks(s)):
            met = {name for inner in blocks(s) for each in _every(inner) for t in each for name in reads(t) | writes(t)}
            if self.known.keys() & (met | reads(s)):
                raise _Mixed
        elif isinstance(s, Assign):
            form = self._form(s) if self.known.keys() & reads(s) and not self._is_constant(s) else None
            self.known.pop(s.target, None)
            if form is not None and form.factor:
                self.known[s.target] = form
        elif self.known.keys() & (reads(s) | writes(s)):
            raise _Mixed

    def _is_constant(self, s: Assign) -> bool:
        """Whether no derivative flows out of the statement: not where a callee may store what it is given, and not
        into a function, which keeps what it captures."""
        kind = self.instance.kinds.get(s.target, BOTTOM)
        return isinstance(s.value, Op) and isinstance(kind, Num | Arr) and not varied(kind)

    def _form(self, s: Assign) -> Form:
        form: Form | None
        match s.value:
            case Var(name):
                form = self.known[name]
            case Index(base=Var(name), key=key) if name in self.known:
                form = self._of_item(self.known[name], key, s.target)
            case Op(fn=fn, kwargs=kwargs):
                form = self._of_operation(s.value) if not kwargs or _is_one_of(fn, _TOTALS) else None
            case _:
                raise _Mixed
        if form is None or len(form.along) != _rank(self.instance.kinds.get(s.target)):
            raise _Mixed
        if self.views & reads(s) and _is_view(s.value):
            self.views.add(s.target)
        return form

    def _of_item(self, form: Form, key: Key, target: str) -> Form:
        """With new axes; or any part of what goes along no axis of the maximum."""
        if not any(label is not None for label in form.along):
            return replace(form, along=(None,) * _rank(self.instance.kinds.get(target)))
        own = [part for part in key.parts if part not in _NEW]  # an axis each
        if not all(isinstance(part, Slice) and _is_whole(part) for part in own):
            raise _Mixed
        rest = len(form.along) - len(own)
        left = list(form.along)
        along: list[int | None] = []
        for part in key.parts if Lit(Ellipsis) in key.parts else (*key.parts, Lit(Ellipsis)):
            count = 0 if part == Lit(None) else rest if part == Lit(Ellipsis) else 1
            along += [None] if part == Lit(None) else left[:count]
            left = left[count:]
        return replace(form, along=tuple(along))

    def _of_operation(self, op: Op) -> Form | None:
        forms = [self.known.get(a.name) if isinstance(a, Var) else None for a in op.args]
        if _is_one_of(op.fn, _RESHAPES) and forms[0] is not None:
            return self._column(op, forms[0])
        if _is_one_of(op.fn, _TOTALS):
            return self._total(op, forms[0]) if forms[0] is not None and not any(forms[1:]) else None
        if len(forms) == 1 and forms[0] is not None:
            return self._of_one(op.fn, forms[0])
        if len(forms) != 2:
            return None
        one, other = (self._aligned(form, op.args, i) for i, form in enumerate(forms))
        return self._of_two(op.fn, one, other)

    def _column(self, op: Op, form: Form) -> Form | None:
        """``m.reshape(-1, 1)`` and ``m.reshape((-1, 1))`` of a vector."""
        sizes = op.args[1:]
        shape = _kind(self.instance, sizes[0]) if len(sizes) == 1 else None
        if isinstance(shape, Box) and shape.cls is tuple and not shape.region.root().open:
            sizes = tuple(Lit(getattr(k, "value", None)) for k in shape.region.root().fields.values())
        if sizes != (Lit(-1), Lit(1)) or len(form.along) != 1:
            return None
        return replace(form, along=(*form.along, None))

    def _aligned(self, form: Form | None, args: Sequence[Atom], i: int) -> Form | None:
        """An operand with as many axes as the result of an operation with two has."""
        rank = max(_rank(_kind(self.instance, a)) for a in args)
        return None if form is None else replace(form, along=(None,) * (rank - len(form.along)) + form.along)

    def _of_one(self, fn: Any, form: Form) -> Form | None:
        if _is_one_of(fn, _NEGATIVES):
            return form if form.product else replace(form, factor=-form.factor)
        if _is_one_of(fn, _EXPONENTIALS) and not form.product:
            return replace(form, product=True)
        if _is_one_of(fn, _LOGARITHMS) and form.product:
            return replace(form, product=False)
        return None

    def _of_two(self, fn: Any, one: Form | None, other: Form | None) -> Form | None:
        sums = _is_one_of(fn, _SUMS)
        if not (sums or _is_one_of(fn, _PRODUCTS) or _is_one_of(fn, _QUOTIENTS)):
            return None
        if sums and one is not None and one == other and one.product:
            return one  # both have the same factor
        if any(form is not None and form.product is sums for form in (one, other)):
            return None
        sign = _SUMS[fn] if sums else 1 if _is_one_of(fn, _PRODUCTS) else -1
        if one is None or other is None:
            left = one if one is not None else other
            assert left is not None
            return left if one is not None else replace(left, factor=sign * left.factor)
        if one.along != other.along:
            return None
        return replace(one, factor=one.factor + sign * other.factor)

    def _total(self, op: Op, form: Form) -> Form | None:
        """Of products with what is the same for all that are added."""
        if not form.product:
            return None
        taken, kept = _axes(op, len(form.along))
        if any(form.along[i] is not None for i in taken):
            return None
        return replace(form, along=tuple(x for i, x in enumerate(form.along) if kept or i not in taken))
