"""Batching rules: where operands have their batch axis, and what each operation becomes."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, dtype_of
from tangentx.analysis.types.primitives import hashable
from tangentx.derive.emit import Emitter
from tangentx.ir.nodes import Atom, Lit, Make, Op
from tangentx.templates.out_parameters import parameters

# Operands of batched operations: where each has its batch axis.


@dataclass(frozen=True)
class Operand:
    """An argument: its atom, whether it is a batch, the kind of one member."""

    atom: Atom
    batch: bool
    kind: Kind

    @property
    def rank(self) -> int:
        """The rank of one member. Raises NoRule where it is not known."""
        if isinstance(self.kind, Num):
            return 0
        if isinstance(self.kind, Arr) and self.kind.rank is not None and not self.kind.loose:
            return self.kind.rank
        raise NoRule


class NoRule(Exception):
    """The operation is done member by member."""


def exactly(count: int, operands: list[Operand]) -> list[Operand]:
    """The operands, where there are so many. Raises NoRule: others are settings of which a rule knows nothing."""
    if len(operands) != count:
        raise NoRule
    return operands


def is_double(kind: Kind) -> bool:
    """Whether a number or array is of doubles, or of whole numbers."""
    dtype = dtype_of(kind) if isinstance(kind, Num | Arr) else None
    return dtype is not None and (dtype.kind not in "fc" or dtype in (np.dtype(float), np.dtype(complex)))


def aligned(emit: Emitter, o: Operand, rank: int) -> Atom:
    """A batch whose members have `rank` axes."""
    return with_axes(emit, o.atom, tuple(range(1, 1 + rank - o.rank))) if o.batch and o.rank < rank else o.atom


def with_axes(emit: Emitter, atom: Atom, axes: tuple[int, ...]) -> Atom:
    """An array with new axes of length one."""
    if not axes:
        return atom
    axis: Atom = Lit(axes[0]) if len(axes) == 1 else emit.let(Make(tuple, tuple(Lit(i) for i in axes)))
    return emit.op(np.expand_dims, atom, axis)


def known(o: Operand | None, default: Any) -> Any:
    """The value of a setting. Raises NoRule where it is not known."""
    if o is None:
        return default
    if isinstance(o.atom, Lit):
        return o.atom.value
    kind = o.kind
    items = list(kind.region.root().fields.values()) if isinstance(kind, Box) and kind.cls is tuple else [kind]
    values = [getattr(item, "value", None) for item in items]
    if any(type(v) not in (int, bool) for v in values):
        raise NoRule
    return tuple(values) if isinstance(kind, Box) else values[0]


def settings(operands: list[Operand], named: dict[str, Operand], names: tuple[str, ...]) -> dict[str, Any]:
    """The values of the arguments after the first, by name; `names` are in the order of positions. Raises NoRule."""
    if len(operands) - 1 > len(names):
        raise NoRule
    given = dict(zip(names, operands[1:], strict=False)) | named
    if set(given) - set(names) or any(o.batch for o in given.values()):
        raise NoRule
    return {name: known(o, None) for name, o in given.items()}


def shifted(axis: int) -> int:
    """The axis of a batch that an axis of its members is."""
    return axis + 1 if axis >= 0 else axis


def literal(emit: Emitter, axis: Any) -> Atom:
    """An axis, or several, as an atom."""
    return emit.let(Make(tuple, tuple(Lit(i) for i in axis))) if isinstance(axis, tuple) else Lit(axis)


# Batching rules: what each operation becomes when operands have a batch axis.
#
# Elementwise operations broadcast, once their operands' axes stand below each other; reductions and changes of shape
# have their axes shifted; products of matrices have rules of their own. What has no rule is done member by member.

Rule = Callable[[Emitter, Any, list[Operand], dict[str, Operand], Atom], Op]


def batched(emit: Emitter, op: Op, operands: list[Operand], named: dict[str, Operand], count: Atom, kind: Kind) -> Op:
    """The operation on batches of `count` members, of which `kind` is the result. Raises NoRule."""
    rule = _RULES.get(op.fn) if op.fn in hashable(_RULED, op.fn) else None
    if rule is not None:
        return rule(emit, op.fn, operands, named, count)
    if named or not _is_elementwise(op.fn):
        raise NoRule
    return _elementwise(emit, op.fn, operands, kind)


_ELEMENTWISE = frozenset(
    (
        *(getattr(operator, n) for n in "add sub mul truediv floordiv mod pow neg pos abs eq ne lt le gt ge".split()),
        *(
            arrays.guarded,
            arrays.ratio,
            arrays.over_root,
            arrays.quotient,
            arrays.ratio_or_zero,
            arrays.log_or_zero,
            arrays.positive,
            arrays.positive_with,
            arrays.within,
        ),
        *(arrays.power_slope, arrays.length_of, arrays.silent_power),
        *(np.where, np.real, np.imag, np.conj),
    )
)
_AS_UFUNC = {
    getattr(math, name): getattr(np, name)
    for name in "sin cos tan sinh cosh tanh exp expm1 log log1p log2 log10 sqrt fabs floor ceil hypot".split()
} | {builtins.abs: np.abs, math.atan: np.arctan, math.asin: np.arcsin, math.acos: np.arccos, math.atan2: np.arctan2}


def _is_elementwise(fn: Any) -> bool:
    ufunc = isinstance(fn, np.ufunc) and fn.signature is None and fn.nout == 1
    return ufunc or fn in hashable(_ELEMENTWISE, fn) or fn in hashable(frozenset(_AS_UFUNC), fn)


def _elementwise(emit: Emitter, fn: Any, operands: list[Operand], kind: Kind) -> Op:
    if not isinstance(kind, Num | Arr) or any(not isinstance(o.kind, Num | Arr) for o in operands):
        raise NoRule
    weak = any(o.batch and isinstance(o.kind, Num) and o.kind.type in (float, int, complex) for o in operands)
    if weak and not all(is_double(o.kind) for o in operands):
        raise NoRule  # a Python number promotes nothing, an array of them does
    rank = max(o.rank for o in operands)
    fn = _AS_UFUNC[fn] if fn in hashable(frozenset(_AS_UFUNC), fn) else fn
    return Op(fn, tuple(aligned(emit, o, rank) for o in operands))


def _reduction(emit: Emitter, fn: Any, operands: list[Operand], named: dict[str, Operand], count: Atom) -> Op:
    given = settings(operands, named, tuple(p.name for p in parameters(fn)[1:]))
    a, axis = operands[0], given.get("axis")
    if any(given[name] is not None for name in given.keys() - {"axis", "keepdims"}) or not a.batch or a.rank == 0:
        raise NoRule
    if axis is None:
        axes: Any = tuple(range(1, 1 + a.rank)) if a.rank > 1 else 1
    else:
        axes = tuple(map(shifted, axis)) if isinstance(axis, tuple) else shifted(axis)
    kwargs: tuple[tuple[str, Atom], ...] = (("axis", literal(emit, axes)),)
    if given.get("keepdims"):
        kwargs = (*kwargs, ("keepdims", Lit(True)))
    return Op(fn, (a.atom,), kwargs)


def _along(emit: Emitter, fn: Any, operands: list[Operand], named: dict[str, Operand], count: Atom) -> Op:
    """Operations along one axis that keep the shape."""
    a, axis = operands[0], settings(operands, named, ("axis",)).get("axis")
    if (axis is None and a.rank != 1) or isinstance(axis, tuple):
        raise NoRule
    return Op(fn, (a.atom,), (("axis", Lit(1 if axis is None else shifted(axis))),))


def _product(emit: Emitter, fn: Any, operands: list[Operand], named: dict[str, Operand], count: Atom) -> Op:
    a, b = exactly(2, operands)
    ranks = (a.rank, b.rank)
    careful = fn is arrays.careful_matmul
    matmul, times = (fn, arrays.guarded) if careful else (operator.matmul, operator.mul)
    if named or 0 in ranks or max(ranks) > 2:
        raise NoRule
    if ranks == (1, 1):
        if a.batch and b.batch:
            return Op(np.sum, (emit.op(times, a.atom, b.atom),), (("axis", Lit(1)),))
        first, second = (a, b) if a.batch else (b, a)
        return Op(matmul, (first.atom, second.atom))
    if ranks == (2, 1) and b.batch:
        if not a.batch:
            return Op(matmul, (b.atom, emit.op(np.transpose, a.atom)))
        columns = emit.op(np.expand_dims, b.atom, Lit(2))
        return Op(np.squeeze, (emit.op(matmul, a.atom, columns), Lit(2)))
    if ranks == (1, 2) and a.batch and b.batch:
        rows = emit.op(np.expand_dims, a.atom, Lit(1))
        return Op(np.squeeze, (emit.op(matmul, rows, b.atom), Lit(1)))
    return Op(matmul, (a.atom, b.atom))


def _outer(emit: Emitter, fn: Any, operands: list[Operand], named: dict[str, Operand], count: Atom) -> Op:
    a, b = exactly(2, operands)
    if named or (a.rank, b.rank) != (1, 1):
        raise NoRule
    left = emit.op(np.expand_dims, a.atom, Lit(2 if a.batch else 1))
    right = emit.op(np.expand_dims, b.atom, Lit(1)) if b.batch else b.atom
    return Op(operator.mul, (left, right))


def _transpose(emit: Emitter, fn: Any, operands: list[Operand], named: dict[str, Operand], count: Atom) -> Op:
    a = operands[0]
    each = [known(o, None) for o in operands[1:]]
    axes = settings(operands[:1], named, ("axes",)).get("axes") if not each else each[0] if len(each) == 1 else each
    order = tuple(reversed(range(a.rank))) if axes is None else tuple(i % a.rank for i in axes)
    return Op(np.transpose, (a.atom, literal(emit, (0, *(i + 1 for i in order)))))


def _reshape(emit: Emitter, fn: Any, operands: list[Operand], named: dict[str, Operand], count: Atom) -> Op:
    a, *rest = operands
    written = isinstance(a.kind, Arr) and a.kind.region.root().written
    if named or written or any(o.batch for o in rest) or not rest or (fn is np.reshape and len(rest) > 1):
        raise NoRule
    if len(rest) == 1:
        return Op(np.reshape, (a.atom, emit.op(arrays.with_count, count, rest[0].atom)))
    return Op(np.reshape, (a.atom, emit.let(Make(tuple, (count, *(o.atom for o in rest))))))


def _ravel(emit: Emitter, fn: Any, operands: list[Operand], named: dict[str, Operand], count: Atom) -> Op:
    (a,) = exactly(1, operands)  # any more give the order
    if named or (isinstance(a.kind, Arr) and a.kind.region.root().written):
        raise NoRule
    size = emit.op(arrays.each_size, a.atom)
    return Op(np.reshape, (a.atom, emit.let(Make(tuple, (count, size)))))


def _expand_dims(emit: Emitter, fn: Any, operands: list[Operand], named: dict[str, Operand], count: Atom) -> Op:
    axis = settings(operands, named, ("axis",)).get("axis")
    if not isinstance(axis, int):
        raise NoRule
    return Op(fn, (operands[0].atom, Lit(shifted(axis))))


def _unbroadcast(emit: Emitter, fn: Any, operands: list[Operand], named: dict[str, Operand], count: Atom) -> Op:
    t, like = operands
    shape = emit.op(arrays.each_shape, like.atom) if like.batch else emit.op(np.shape, like.atom)
    whole = t.atom if t.batch else emit.op(arrays.over, t.atom, count)
    if isinstance(t.kind, Num) and isinstance(like.kind, Num):
        if dtype_of(t.kind) != dtype_of(like.kind):
            if (dtype_of(t.kind), dtype_of(like.kind)) != (np.dtype(complex), np.dtype(float)):
                raise NoRule
            whole = emit.op(np.real, whole)
        return Op(arrays.clone, (whole,))
    if not all(isinstance(k, Num | Arr) and dtype_of(k) == np.dtype(float) for k in (t.kind, like.kind)):
        raise NoRule
    return Op(arrays.each_fitted, (whole, shape))


def _length(shape: Box) -> int:
    """The length of a tuple. Raises NoRule where tuples of several lengths meet."""
    node = shape.region.root()
    if node.open:
        raise NoRule
    return len(node.fields)


def _unreduce(emit: Emitter, fn: Any, operands: list[Operand], named: dict[str, Operand], count: Atom) -> Op:
    given = settings([operands[0], *operands[2:]], named, ("axis", "keepdims"))
    shape, axis = operands[1], given.get("axis")
    rank = _length(shape.kind) if isinstance(shape.kind, Box) else -1
    if rank < 1 or shape.batch:
        raise NoRule
    if axis is None:
        axes: Any = tuple(range(1, 1 + rank))
    else:
        axes = tuple(map(shifted, axis)) if isinstance(axis, tuple) else shifted(axis)
    keep = Lit(bool(given.get("keepdims")))
    return Op(fn, (operands[0].atom, emit.op(arrays.with_count, count, shape.atom), literal(emit, axes), keep))


def _full(emit: Emitter, fn: Any, operands: list[Operand], named: dict[str, Operand], count: Atom) -> Op:
    """One number each, all over an array."""
    first, value = exactly(2, operands)
    if named or first.batch and fn is np.full or not isinstance(value.kind, Num) or not is_double(value.kind):
        raise NoRule
    if fn is np.full_like and not (isinstance(first.kind, Arr) and dtype_of(first.kind) == dtype_of(value.kind)):
        raise NoRule  # the number is cast
    like = emit.op(np.shape, first.atom) if fn is np.full_like and not first.batch else first.atom
    shape = emit.op(arrays.each_shape, like) if first.batch else like
    kind = first.kind
    rank = _length(kind) if isinstance(kind, Box) else first.rank if fn is np.full_like else 1
    whole = value.atom if value.batch else emit.op(arrays.over, value.atom, count)
    axes = literal(emit, tuple(range(1, 1 + rank)))
    return Op(arrays.unreduce, (whole, emit.op(arrays.with_count, count, shape), axes, Lit(False)))


def _like(emit: Emitter, fn: Any, operands: list[Operand], named: dict[str, Operand], count: Atom) -> Op:
    """Zeros or copies like an array: those of the batch."""
    if named or len(operands) != 1:
        raise NoRule
    return Op(fn, (operands[0].atom,))


def _tangent_as(emit: Emitter, fn: Any, operands: list[Operand], named: dict[str, Operand], count: Atom) -> Op:
    dot, primal = operands
    if not dot.batch or not isinstance(primal.kind, Num | Arr):
        raise NoRule
    return Op(arrays.clone, (dot.atom,))


_REDUCTIONS = tuple(
    fn
    for name in "sum mean max min prod any all var std".split()
    for fn in (getattr(np, name), getattr(np.ndarray, name))
)
_RULES: dict[Any, Rule] = {
    **dict.fromkeys(_REDUCTIONS, _reduction),
    **dict.fromkeys((np.amax, np.amin), _reduction),
    **dict.fromkeys((np.matmul, operator.matmul, arrays.careful_matmul, np.dot, np.ndarray.dot), _product),
    np.outer: _outer,
    np.full: _full,
    np.full_like: _full,
    **dict.fromkeys((np.transpose, np.ndarray.transpose), _transpose),
    **dict.fromkeys((np.reshape, np.ndarray.reshape), _reshape),
    **dict.fromkeys((np.ravel, np.ndarray.ravel, np.ndarray.flatten), _ravel),
    **dict.fromkeys((np.expand_dims, np.squeeze), _expand_dims),
    **dict.fromkeys((np.cumsum, np.cumprod, np.ndarray.cumsum), _along),
    np.flip: _along,
    **dict.fromkeys((arrays.unbroadcast, arrays.alike, arrays.spread), _unbroadcast),
    arrays.unreduce: _unreduce,
    arrays.moving: _unbroadcast,
    arrays.tangent_as: _tangent_as,
    **dict.fromkeys(
        (np.zeros_like, np.ones_like, np.copy, np.ndarray.copy, arrays.zero, arrays.real_zero, arrays.zeros_as), _like
    ),
    **dict.fromkeys((arrays.clone, arrays.entry_copy, arrays.stop_gradient), _like),
}
_RULED = frozenset(_RULES)
