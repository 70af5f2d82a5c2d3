"""Operations on batches as they run: what those in a rule become where its cotangent is a batch of cotangents.

A `Batch` stands for one member of it, whose shape it shows; its members lie along the first axis of `whole`. Functions
that work on each element need no more than axes that stand below each other; all others have a rule here, written with
functions that have templates, so that a batched pullback can be differentiated as any other. What has none raises
NoRule, and is done member by member.

Rules are called with batches in the place of arguments. All operations in a pullback are linear in its cotangent, so of
a product one factor alone is a batch.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tangentx import arrays
from tangentx.templates.registry import methods

F = TypeVar("F", bound=Callable[..., Any])

RULES: dict[Any, Callable[..., Any]] = {}
"""The rules of single functions: they take batches, and give them."""
AS_WRITTEN: frozenset[Any] = frozenset(
    (
        *(arrays.dot_left, arrays.dot_right, arrays.inner_left, arrays.inner_right, arrays.outer_left),
        *(arrays.outer_right, arrays.tensordot_left, arrays.tensordot_right, arrays.matmul_left, arrays.matmul_right),
        *(arrays.columns_outer, arrays.untile, arrays.arange_dot, arrays.take_best, arrays.unblock),
    )
)
"""Functions whose text is right for batches as it is, once the functions that it calls take them."""


class NoRule(Exception):
    """There is no rule for all members at once."""


class Batch:
    """One member of a batch, as a rule sees it: an array, or a number where it has no axes."""

    __slots__ = ("whole",)
    __array_ufunc__ = None  # so that arrays leave operators to us

    def __init__(self, whole: Any) -> None:
        self.whole = whole

    @property
    def count(self) -> int:
        """How many members there are."""
        return int(self.whole.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """That of one member."""
        return tuple(self.whole.shape[1:])

    @property
    def ndim(self) -> int:
        """The number of axes of one member."""
        return int(self.whole.ndim) - 1

    def __getattr__(self, name: str) -> Any:
        raise NoRule(name)

    def __getitem__(self, key: Any) -> Any:
        return do(operator.getitem, (self, key), {})

    def reshape(self, *shape: Any) -> Any:
        """Each member in another shape."""
        return do(np.reshape, (self, shape[0] if len(shape) == 1 else shape), {})

    def __neg__(self) -> Any:
        return do(operator.neg, (self,), {})

    def _refused(self, *args: Any) -> Any:
        raise NoRule("a branch, a loop or a number")

    __bool__ = __iter__ = __float__ = __complex__ = __int__ = __len__ = __index__ = __array__ = _refused


def _operators(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    fn = getattr(operator, name)
    return (lambda self, other: do(fn, (self, other), {})), (lambda self, other: do(fn, (other, self), {}))


for _name in ("add", "sub", "mul", "truediv", "matmul"):
    _forward, _reflected = _operators(_name)
    setattr(Batch, f"__{_name}__", _forward)
    setattr(Batch, f"__r{_name}__", _reflected)


def holds_batch(values: Any) -> bool:
    """Whether one of the values is a batch, or a list or tuple that holds one."""
    return any(type(v) is Batch or (isinstance(v, list | tuple) and holds_batch(v)) for v in values)


def rule_for(fn: Any) -> Callable[..., Any] | None:
    """What does a function's work on batches; None where there is nothing."""
    try:
        found = RULES.get(fn)
    except TypeError:
        return None
    if found is None and isinstance(fn, np.ufunc) and fn.signature is None and fn.nout == 1:
        found = RULES[fn] = elementwise(fn)
    return found


def do(fn: Any, args: Any, kwargs: Any) -> Any:
    """``fn(*args, **kwargs)`` where arguments are batches. Raises NoRule."""
    rule = rule_for(fn)
    if rule is None:
        raise NoRule(getattr(fn, "__name__", str(fn)))
    return rule(*args, **kwargs)


def plainly(fn: Any, *args: Any) -> Any:
    """``fn(*args)``, recorded where the first arguments are of a class that records: of functions not NumPy's."""
    record = next((type(a).__tangentx_record__ for a in args if hasattr(type(a), "__tangentx_record__")), None)
    return fn(*args) if record is None else record(fn, args)


def elementwise(fn: Any) -> Callable[..., Any]:
    """The rule of a function of elements."""

    def rule(*args: Any) -> Any:
        rank = max(_rank(a) for a in args)
        return Batch(plainly(fn, *(aligned(a, rank) if type(a) is Batch else a for a in args)))

    return rule


def aligned(t: Batch, rank: int) -> Any:
    """The whole of a batch, whose members get `rank` axes at least."""
    missing = rank - t.ndim
    return t.whole if missing <= 0 else np.reshape(t.whole, (t.count, *(1,) * missing, *t.shape))


def whole_of(t: Any, count: int) -> Any:
    """The whole of a batch, or of one whose members are all the same."""
    return t.whole if type(t) is Batch else plainly(arrays.over, t, count)


def _rank(a: Any) -> int:
    return a.ndim if type(a) is Batch else int(np.ndim(a))


def _unknown(*settings: Any) -> None:
    """Refuses settings of which a rule knows nothing."""
    if any(value is not None for value in settings):
        raise NoRule("a setting")


def _of_first(*fns: Any) -> Callable[[F], F]:
    """Declares the rule of functions of which only the first argument is a batch: given its whole, it gives a whole."""

    def declare(body: F) -> F:
        def rule(t: Any, *args: Any, **kwargs: Any) -> Any:
            if type(t) is not Batch or holds_batch((*args, *kwargs.values())):
                raise NoRule(body.__name__)
            return Batch(body(t.whole, *args, **kwargs))

        for fn in fns:
            RULES[fn] = rule
        return body

    return declare


def _of_any(*fns: Any) -> Callable[[F], F]:
    """Declares the rule of functions of which any argument may be, or hold, a batch."""

    def declare(body: F) -> F:
        for fn in fns:
            RULES[fn] = body
        return body

    return declare


def _later(axis: Any) -> Any:
    """An axis of a member, or several, counted in the whole."""
    if isinstance(axis, tuple | list):
        return tuple(_later(i) for i in axis)
    return int(axis) + 1 if axis >= 0 else int(axis)


def _every(w: Any) -> tuple[int, ...]:
    return tuple(range(1, w.ndim))


def _rows(w: Any) -> Any:
    """Each member as a row."""
    return np.reshape(w, (len(w), _size(w)))


def _size(w: Any) -> int:
    return _product(w.shape[1:])


def _product(shape: Any) -> int:
    return int(np.prod(shape, dtype=int))


# ---- elements ----

for _fn in (
    *(getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "neg", "pos")),
    *(
        arrays.guarded,
        arrays.ratio,
        arrays.over_root,
        arrays.quotient,
        arrays.ratio_or_zero,
        arrays.positive,
        arrays.positive_with,
        arrays.within,
        np.where,
        np.real,
        np.imag,
        np.conj,
    ),
):
    RULES[_fn] = elementwise(_fn)
for _fn in methods("conj", "conjugate"):
    RULES[_fn] = RULES[np.conj]


@_of_first(np.copy, np.asarray, np.array, arrays.clone, arrays.entry_copy)
def _same(w: Any) -> Any:
    return w


@_of_first(arrays.alike)
def _alike(w: Any, like: Any) -> Any:
    return w


@_of_first(arrays.one_system_each)
def _one_system_each(w: Any, a_shape: Any, b_shape: Any) -> Any:
    return plainly(arrays.one_system_each, w, a_shape, b_shape)


@_of_any(np.shape)
def _shape(t: Batch) -> tuple[int, ...]:
    return t.shape


@_of_any(np.ndim)
def _ndim(t: Batch) -> int:
    return t.ndim


@_of_any(np.size)
def _elements(t: Batch) -> int:
    return _product(t.shape)


# ---- shapes ----


@_of_first(np.reshape)
def _reshape(w: Any, shape: Any) -> Any:
    return np.reshape(w, (len(w), *(shape if isinstance(shape, tuple | list) else (shape,))))


@_of_first(*methods("reshape"))
def _reshape_method(w: Any, *shape: Any) -> Any:
    return _reshape(w, shape[0] if len(shape) == 1 else shape)


@_of_first(np.ravel, *methods("ravel", "flatten"))
def _ravel(w: Any) -> Any:
    return _rows(w)


@_of_first(np.transpose)
def _transpose(w: Any, axes: Any = None) -> Any:
    rank = w.ndim - 1
    order = range(rank)[::-1] if axes is None else [i % rank for i in axes]
    return np.transpose(w, (0, *(i + 1 for i in order)))


@_of_first(*methods("transpose"))
def _transpose_method(w: Any, *axes: Any) -> Any:
    return _transpose(w, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None)


@_of_first(np.swapaxes, *methods("swapaxes"))
def _swapaxes(w: Any, axis1: Any, axis2: Any) -> Any:
    return np.swapaxes(w, _later(axis1), _later(axis2))


@_of_first(np.moveaxis)
def _moveaxis(w: Any, source: Any, destination: Any) -> Any:
    return np.moveaxis(w, _later(source), _later(destination))


@_of_first(np.expand_dims)
def _expand_dims(w: Any, axis: Any) -> Any:
    return np.expand_dims(w, _later(axis))


@_of_first(np.flip)
def _flip(w: Any, axis: Any = None) -> Any:
    return np.flip(w, _every(w) if axis is None else _later(axis))


@_of_first(np.flipud)
def _flipud(w: Any) -> Any:
    return np.flip(w, 1)


@_of_first(np.fliplr)
def _fliplr(w: Any) -> Any:
    return np.flip(w, 2)


@_of_first(np.roll)
def _roll(w: Any, shift: Any, axis: Any = None) -> Any:
    return np.reshape(np.roll(_rows(w), shift, 1), w.shape) if axis is None else np.roll(w, shift, _later(axis))


@_of_first(sliding_window_view)
def _windows(w: Any, window_shape: Any, axis: Any = None) -> Any:
    return sliding_window_view(w, window_shape, _every(w) if axis is None else _later(axis))


@_of_first(arrays.add_windows)
def _add_windows(w: Any, shape: Any, window_shape: Any, axis: Any = None) -> Any:
    axes = tuple(range(1, 1 + len(shape))) if axis is None else _later(axis)
    return plainly(arrays.add_windows, w, (len(w), *shape), window_shape, axes)


# ---- over axes ----


@_of_first(np.sum, *methods("sum"))
def _sum(w: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    _unknown(dtype, out)
    return np.sum(w, axis=_every(w) if axis is None else _later(axis), keepdims=bool(keepdims))


@_of_first(np.cumsum)
def _cumsum(w: Any, axis: Any = None) -> Any:
    return np.cumsum(_rows(w), axis=1) if axis is None else np.cumsum(w, axis=_later(axis))


@_of_first(arrays.unreduce)
def _unreduce(w: Any, shape: Any, axis: Any = None, keepdims: Any = False) -> Any:
    if not shape:
        return np.reshape(w, (len(w),))
    axes = tuple(range(1, 1 + len(shape))) if axis is None else _later(axis)
    if axis is None and not keepdims:
        w = np.reshape(w, (len(w),))
    return plainly(arrays.unreduce, w, (len(w), *shape), axes, keepdims)


@_of_first(arrays.merged)
def _merged(w: Any, axis: Any = None) -> Any:
    if w.ndim == 1:
        return np.reshape(w, (len(w), 1))
    return plainly(arrays.merged, w, _every(w) if axis is None else _later(axis))


@_of_first(arrays.unmerged)
def _unmerged(w: Any, shape: Any, axis: Any = None) -> Any:
    if not shape:
        return np.reshape(w, (len(w),))
    axes = tuple(range(1, 1 + len(shape))) if axis is None else _later(axis)
    return plainly(arrays.unmerged, w, (len(w), *shape), axes)


@_of_any(arrays.chain)
def _chain(t: Batch, a: Any) -> Batch:
    if type(t) is not Batch or type(a) is Batch:
        raise NoRule("chain")
    return Batch(plainly(arrays.chain, t.whole, np.broadcast_to(a, np.shape(t.whole))))


@_of_first(np.tril)
def _tril(w: Any, k: Any = 0) -> Any:
    return _triangle(np.tril, w, k)


@_of_first(np.triu)
def _triu(w: Any, k: Any = 0) -> Any:
    return _triangle(np.triu, w, k)


def _each_matrix() -> None:
    """Functions of matrices, and checks of what is beside them, that take stacks."""
    for fn in (arrays.mirrored, arrays.unmirrored):
        _stacked(fn)
    for check in (arrays.demand_apart, arrays.demand_basis, arrays.demand_exact, arrays.demand_full_rank):
        _stacked(check)
    _stacked(arrays.demand_rank)


def _stacked(fn: Any) -> None:
    @_of_first(fn)
    def rule(w: Any, *rest: Any) -> Any:
        if w.ndim < 3:
            raise NoRule("a row for a matrix")
        return plainly(fn, w, *rest)


_each_matrix()


def _triangle(fn: Any, w: Any, k: Any) -> Any:
    if w.ndim < 3:
        raise NoRule("a triangle of a row")
    return fn(w, k)


@_of_first(np.diff)
def _diff(w: Any, n: Any = 1, axis: Any = -1) -> Any:
    return np.diff(w, n, _later(axis))


@_of_first(arrays.undiff)
def _undiff(w: Any, n: Any = 1, axis: Any = -1) -> Any:
    return plainly(arrays.undiff, w, n, _later(axis))


@_of_first(np.repeat)
def _repeat(w: Any, repeats: Any, axis: Any = None) -> Any:
    return np.repeat(_rows(w), repeats, axis=1) if axis is None else np.repeat(w, repeats, axis=_later(axis))


@_of_first(arrays.unrepeat)
def _unrepeat(w: Any, shape: Any, repeats: Any, axis: Any = None) -> Any:
    if axis is None:
        return np.reshape(plainly(arrays.unrepeat, w, (len(w), _product(shape)), repeats, 1), (len(w), *shape))
    return plainly(arrays.unrepeat, w, (len(w), *shape), repeats, _later(axis))


@_of_first(np.tile)
def _tile(w: Any, reps: Any) -> Any:
    counts = tuple(reps) if np.ndim(reps) else (int(reps),)
    rank = max(len(counts), w.ndim - 1)
    return np.tile(aligned(Batch(w), rank), (1, *(1,) * (rank - len(counts)), *counts))


@_of_first(np.pad)
def _pad(w: Any, pad_width: Any) -> Any:
    return np.pad(w, ((0, 0), *_widths(pad_width, w.ndim - 1)))


@_of_first(arrays.unpad)
def _unpad(w: Any, shape: Any, pad_width: Any) -> Any:
    return plainly(arrays.unpad, w, (len(w), *shape), ((0, 0), *_widths(pad_width, len(shape))))


def _widths(pad_width: Any, rank: int) -> tuple[tuple[int, int], ...]:
    return tuple((int(a), int(b)) for a, b in np.broadcast_to(pad_width, (rank, 2)))


# ---- places ----


def _places(key: Any, shape: Any) -> Any:
    """The numbers of the elements that an index selects, counted by rows."""
    return np.arange(_product(shape)).reshape(shape)[key]


def _is_basic(key: Any) -> bool:
    """Whether an index selects by numbers and slices alone."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(p is None or p is Ellipsis or isinstance(p, slice | int | np.integer) for p in parts) and not any(
        isinstance(p, bool) for p in parts
    )


def _behind_all(key: Any) -> tuple[Any, ...]:
    return (slice(None), *(key if isinstance(key, tuple) else (key,)))


@_of_first(operator.getitem)
def _getitem(w: Any, key: Any) -> Any:
    if _is_basic(key):
        return w[_behind_all(key)]
    places = _places(key, w.shape[1:])
    return np.reshape(_rows(w)[:, np.ravel(places)], (len(w), *np.shape(places)))


@_of_first(arrays.scatter)
def _scatter(w: Any, like: Any, key: Any) -> Any:
    return _put(arrays.scatter, w, like, key)


@_of_first(arrays.placed)
def _placed(w: Any, like: Any, key: Any) -> Any:
    return _put(arrays.placed, w, like, key)


def _put(fn: Any, w: Any, like: Any, key: Any) -> Any:
    shape, dtype = np.shape(like), w.dtype
    if _is_basic(key):
        return plainly(fn, w, np.zeros((len(w), *shape), dtype), _behind_all(key))
    places = _places(key, shape)
    whole = np.broadcast_to(aligned(Batch(w), np.ndim(places)), (len(w), *np.shape(places)))
    rows = np.zeros((len(w), _product(shape)), dtype)
    found = plainly(fn, np.reshape(whole, (len(w), np.size(places))), rows, (slice(None), np.ravel(places)))
    return np.reshape(found, (len(w), *shape))


@_of_first(arrays.winners)
def _winners(w: Any, key: Any) -> Any:
    if _is_basic(key):
        return np.copy(w[_behind_all(key)])
    places = _places(key, w.shape[1:])
    return np.reshape(chosen(w, np.ravel(places)), (len(w), *np.shape(places)))


def chosen(w: Any, places: Any) -> Any:
    """Of each member the elements at these places, zeros at all but the last occurrence of each."""
    last = np.zeros(_size(w), int)
    last[places] = np.arange(len(places))
    wins = last[places] == np.arange(len(places))
    taken = _rows(w)[:, places]
    return taken if wins.all() else np.where(wins, taken, 0.0)


def cleared(w: Any, places: Any) -> Any:
    """Each member with exactly 0 at these places."""
    stays = np.ones(_size(w), bool)
    stays[places] = False
    return np.where(np.reshape(stays, w.shape[1:]), w, 0.0)


@_of_first(np.take)
def _take(w: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
    _unknown(out)
    return np.take(_rows(w) if axis is None else w, indices, axis=1 if axis is None else _later(axis), mode=mode)


@_of_first(arrays.untake)
def _untake(w: Any, shape: Any, indices: Any, axis: Any = None, mode: Any = "raise") -> Any:
    if axis is None:
        flat = plainly(arrays.untake, w, (len(w), _product(shape)), indices, 1, mode)
        return np.reshape(flat, (len(w), *shape))
    return plainly(arrays.untake, w, (len(w), *shape), indices, _later(axis), mode)


@_of_first(np.take_along_axis)
def _take_along_axis(w: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        return np.take(_rows(w), indices, axis=1)
    return np.take_along_axis(w, _each(indices, len(w)), _later(axis))


@_of_first(arrays.put_along)
def _put_along(w: Any, shape: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        flat = plainly(arrays.put_along, w, (len(w), _product(shape)), _each(indices, len(w)), 1)
        return np.reshape(flat, (len(w), *shape))
    return plainly(arrays.put_along, w, (len(w), *shape), _each(indices, len(w)), _later(axis))


@_of_first(arrays.running_as)
def _running_as(w: Any, a: Any, best: Any, axis: Any = 0) -> Any:
    return plainly(arrays.running_as, w, _each(a, len(w)), _each(best, len(w)), _later(axis))


@_of_first(arrays.unrun)
def _unrun(w: Any, a: Any, best: Any, axis: Any = 0) -> Any:
    return plainly(arrays.unrun, w, _each(a, len(w)), _each(best, len(w)), _later(axis))


@_of_first(arrays.sorted_as)
def _sorted_as(w: Any, a: Any, axis: Any = -1) -> Any:
    if axis is None:
        return plainly(arrays.sorted_as, _rows(w), _each(np.ravel(a), len(w)), -1)
    return plainly(arrays.sorted_as, w, _each(a, len(w)), _later(axis))


@_of_first(arrays.unsort)
def _unsort(w: Any, a: Any, axis: Any = -1) -> Any:
    if axis is None:
        return np.reshape(plainly(arrays.unsort, w, _each(np.ravel(a), len(w)), -1), (len(w), *np.shape(a)))
    return plainly(arrays.unsort, w, _each(a, len(w)), _later(axis))


def _each(indices: Any, count: int) -> Any:
    return np.broadcast_to(indices, (count, *np.shape(indices)))


@_of_first(np.diagonal)
def _diagonal(w: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    return np.diagonal(w, offset, _later(axis1), _later(axis2))


@_of_first(arrays.undiagonal)
def _undiagonal(w: Any, shape: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    whole = aligned(Batch(w), len(shape) - 1)
    return plainly(arrays.undiagonal, whole, (len(w), *shape), offset, _later(axis1), _later(axis2))


@_of_first(arrays.undiag)
def _undiag(w: Any, shape: Any, k: Any = 0) -> Any:
    return np.copy(np.diagonal(w, k, 1, 2)) if len(shape) == 1 else _undiagonal(w, shape, k)


@_of_first(np.diag)
def _diag(w: Any, k: Any = 0) -> Any:
    if w.ndim == 3:
        return np.copy(np.diagonal(w, k, 1, 2))
    side = w.shape[1] + abs(int(k))
    return _undiagonal(w, (side, side), k)


@_of_first(arrays.unselected)
def _unselected(w: Any, mask: Any) -> Any:
    return _put(arrays.placed, w, np.zeros(np.shape(mask)), mask)


@_of_first(arrays.selected)
def _selected(w: Any, mask: Any) -> Any:
    return _getitem(np.broadcast_to(aligned(Batch(w), mask.ndim), (len(w), *mask.shape)), mask)


@_of_first(arrays.cycled)
def _cycled(w: Any, count: Any) -> Any:
    return _rows(w)[:, np.arange(count) % max(_size(w), 1)]


@_of_first(arrays.window)
def _window(w: Any, shape: Any, steps: Any, start: Any) -> Any:
    places = arrays.window(np.arange(_size(w)), shape, steps, start)
    return np.reshape(w[:, np.ravel(places)], (len(w), *shape))


@_of_first(arrays.unwindow)
def _unwindow(w: Any, shape: Any, steps: Any, start: Any) -> Any:
    places = np.ravel(arrays.window(np.arange(_product(shape)), w.shape[1:], steps, start))
    return plainly(arrays.placed, _rows(w), np.zeros((len(w), _product(shape)), w.dtype), (slice(None), places))


# ---- lists ----


def _joined(fn: Any, parts: Any, axis: int, rank: int) -> Batch:
    count = next(p.count for p in parts if type(p) is Batch)
    return Batch(fn([whole_of(p, count) for p in parts], axis=axis if axis < 0 else axis + 1))


@_of_any(np.concatenate)
def _concatenate(parts: Any, axis: Any = 0) -> Batch:
    if axis is None:
        raise NoRule("a flat row")
    return _joined(np.concatenate, parts, axis, 0)


@_of_any(np.stack)
def _stack(parts: Any, axis: Any = 0) -> Batch:
    return _joined(np.stack, parts, axis, 1)


@_of_any(arrays.split_like)
def _split_like(t: Any, like: Any, axis: Any = 0) -> Any:
    axis = 0 if axis is None else min(axis, t.ndim - 1) % t.ndim
    rest = _product(t.shape[:axis] + t.shape[axis + 1 :])
    pieces: list[Any] = []
    start = 0
    for a in like:
        shape = _form(a)
        width = _product(shape) // rest if rest else 0
        piece = t.whole[(slice(None),) * (axis + 1) + (slice(start, start + width),)]
        pieces.append(_nested(Batch(np.reshape(piece, (t.count, *shape))), a))
        start += width
    return _stack(pieces) if isinstance(like, np.ndarray) and pieces else pieces


def _form(a: Any) -> tuple[int, ...]:
    """The shape of a number, an array, or a list of them, that may be recorded."""
    if isinstance(a, list | tuple):
        return (len(a), *(_form(a[0]) if a else ()))
    return tuple(np.shape(a))


@_of_any(arrays.join_like)
def _join_like(pieces: Any, like: Any, shape: Any, axis: Any = 0) -> Batch:
    axis = 0 if axis is None else min(axis, len(shape) - 1) % len(shape)
    rest = _product(shape[:axis] + shape[axis + 1 :])
    members = pieces if isinstance(pieces, list | tuple) else [pieces[i] for i in range(len(like))]
    parts: list[Any] = []
    for piece, a in zip(members, like, strict=True):
        width = _product(_form(a)) // rest if rest else 0
        wanted = (*shape[:axis], width, *shape[axis + 1 :])
        part = _unnested(piece, a)
        parts.append(Batch(_reshape(part.whole, wanted)) if type(part) is Batch else np.reshape(part, wanted))
    return _concatenate(parts, axis)


@_of_any(arrays.nested)
def _nested(t: Batch, like: Any) -> Any:
    if isinstance(like, list | tuple):
        return [_nested(t[i], item) for i, item in enumerate(like)]
    return t if arrays.has_derivative(like) else None


@_of_any(arrays.unnested)
def _unnested(bars: Any, like: Any) -> Any:
    if not isinstance(like, list | tuple):
        return np.zeros(_form(like)) if bars is None else bars
    parts = [_unnested(bar, item) for bar, item in zip(_parts(bars, len(like)), like, strict=True)]
    return _stack(parts) if holds_batch(parts) else np.array(parts)


def _parts(bars: Any, count: int) -> Any:
    return [bars[i] for i in range(count)] if type(bars) is Batch else bars


@_of_any(arrays.to_rule)
def _to_rule(t: Any, given: Any) -> Any:
    if given is None or t is None:
        return None
    if isinstance(given, list | tuple):
        return [_to_rule(part, item) for part, item in zip(_parts(t, len(given)), given, strict=True)]
    if isinstance(given, dict):
        return {key: _to_rule(t[key], item) for key, item in given.items()}
    return _unbroadcast(t, given) if holds_batch((t, given)) else arrays.unbroadcast(t, given)


@_of_any(arrays.repeated)
def _repeated(t: Batch, items: Any) -> Any:
    if isinstance(items, np.ndarray):
        shape = np.shape(items)
        return Batch(np.broadcast_to(aligned(t, len(shape)), (t.count, *shape)))
    return [t if arrays.has_derivative(item) else None for item in items]


@_of_any(arrays.total)
def _total(dots: Any, items: Any) -> Any:
    if type(dots) is Batch:
        return Batch(np.sum(dots.whole, axis=1))
    return builtins.sum((dot for dot in dots if dot is not None), start=0.0)


@_of_any(arrays.once)
def _once(bars: Any) -> Any:
    """Cotangents that share no memory with each other stay as they are."""
    parts = bars if isinstance(bars, list | tuple) else [bars]
    if not all(type(part) is Batch for part in parts) or len({id(part.whole) for part in parts}) < len(parts):
        raise NoRule("a structure")
    return bars


@_of_any(arrays.give_best)
def _give_best(t: Batch, best: Any, args: Any) -> Any:
    items = args[0] if len(args) == 1 else args
    mine = [bool(item == best) for item in items]
    share: Any = Batch(t.whole / builtins.sum(mine))
    nothing = Batch(np.zeros_like(t.whole))
    shares: list[Any] = [share if m else nothing for m in mine]
    if isinstance(items, np.ndarray):
        return (_stack(shares),)
    found = [s if arrays.has_derivative(item) else None for s, item in zip(shares, items, strict=True)]
    return tuple(found) if len(args) > 1 else (found,)


# ---- products ----


@_of_any(np.tensordot)
def _tensordot(a: Any, b: Any, axes: Any = 2) -> Batch:
    _demand_one(a, b)
    if not isinstance(axes, tuple | list):
        axes = (tuple(range(_rank(a) - axes, _rank(a))), tuple(range(axes)))
    left, right = ((i,) if np.ndim(i) == 0 else tuple(i) for i in axes)
    left, right = tuple(i % _rank(a) for i in left), tuple(i % _rank(b) for i in right)
    if type(a) is Batch:
        return Batch(np.tensordot(a.whole, b, (_later(left), right)))
    return Batch(np.moveaxis(np.tensordot(a, b.whole, (left, _later(right))), _rank(a) - len(left), 0))


def _demand_one(a: Any, b: Any) -> None:
    if type(a) is Batch and type(b) is Batch:
        raise NoRule("a product of two batches")


@_of_any(np.dot)
def _dot(a: Any, b: Any) -> Any:
    if 0 in (_rank(a), _rank(b)):
        return do(operator.mul, (a, b), {})
    return _tensordot(a, b, ((-1,), (-1 if _rank(b) == 1 else -2,)))


@_of_any(np.inner)
def _inner(a: Any, b: Any) -> Any:
    if 0 in (_rank(a), _rank(b)):
        return do(operator.mul, (a, b), {})
    return _tensordot(a, b, ((-1,), (-1,)))


@_of_any(np.outer)
def _outer(a: Any, b: Any) -> Batch:
    _demand_one(a, b)
    left = np.reshape(a.whole, (a.count, -1, 1)) if type(a) is Batch else np.reshape(a, (-1, 1))
    right = np.reshape(b.whole, (b.count, 1, -1)) if type(b) is Batch else np.reshape(b, (1, -1))
    return Batch(left * right)


@_of_any(np.multiply.outer)
def _every_product(a: Any, b: Any) -> Batch:
    return _tensordot(a, b, 0)


@_of_any(np.matmul, operator.matmul)
def _matmul(a: Any, b: Any) -> Any:
    _demand_one(a, b)
    if max(_rank(a), _rank(b)) <= 2 or (_rank(b) <= 2 and type(a) is Batch):
        return _dot(a, b)
    if type(a) is Batch:
        whole = aligned(a, 1 + _rank(b) - min(_rank(b), 2) + min(_rank(a), 2) - 1)
        if _rank(a) == 1:
            return Batch(np.squeeze(np.matmul(np.expand_dims(whole, -2), b), -2))
        return Batch(np.matmul(whole, b))
    if _rank(b) == 1:
        return Batch(np.squeeze(np.matmul(a, np.expand_dims(aligned(b, _rank(a) - 1), -1)), -1))
    return Batch(np.matmul(a, aligned(b, _rank(a))))


@_of_any(arrays.careful_matmul)
def _careful_matmul(a: Any, b: Any) -> Any:
    return _careful(_matmul, a, b)


@_of_any(arrays.careful)
def _careful(product: Any, *args: Any) -> Batch:
    """A product without a nan; else the members are taken one by one."""
    found: Batch = product(*args)
    if np.isnan(found.whole).any():
        raise NoRule("careful")
    return found


@_of_any(np.cross, arrays.cross3)
def _cross(a: Any, b: Any) -> Batch:
    rank = max(_rank(a), _rank(b))
    return Batch(np.cross(*(aligned(x, rank) if type(x) is Batch else x for x in (a, b))))


@_of_any(np.einsum)
def _einsum(subscripts: Any, *operands: Any) -> Batch:
    if not isinstance(subscripts, str) or "." in subscripts or "->" not in subscripts:
        raise NoRule("subscripts")
    inputs, output = subscripts.replace(" ", "").split("->")
    new = next(c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBAzyxwvutsrqponmlkjihgfedcba" if c not in subscripts)
    terms = [new + term if type(o) is Batch else term for term, o in zip(inputs.split(","), operands, strict=True)]
    given = [o.whole if type(o) is Batch else o for o in operands]
    return Batch(np.einsum(f"{','.join(terms)}->{new}{output}", *given))


@_of_any(arrays.einsum_left)
def _einsum_left(t: Any, y: Any, shape: Any, subscripts: Any) -> Any:
    return _factor(arrays.einsum_left, t, y, shape, subscripts, 0)


@_of_any(arrays.einsum_right)
def _einsum_right(t: Any, x: Any, shape: Any, subscripts: Any) -> Any:
    return _factor(arrays.einsum_right, t, x, shape, subscripts, 1) if "," in subscripts else 0.0


def _factor(fn: Any, t: Any, other: Any, shape: Any, subscripts: Any, which: int) -> Batch:
    """The batch has a letter of its own, in the factor that is sought and in what holds the batch."""
    if not isinstance(subscripts, str) or "." in subscripts:
        raise NoRule("subscripts")
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    if not arrow:
        output = "".join(sorted(c for c in set(inputs) - {","} if inputs.count(c) == 1))
    new = next(c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBAzyxwvutsrqponmlkjihgfedcba" if c not in subscripts)
    terms = inputs.split(",")
    _demand_one(t, other)
    if type(t) is Batch:
        terms[which], output = new + terms[which], new + output
        return Batch(plainly(fn, t.whole, other, (t.count, *shape), f"{','.join(terms)}->{output}"))
    terms = [new + term for term in terms]
    return Batch(plainly(fn, t, other.whole, (other.count, *shape), f"{','.join(terms)}->{output}"))


# ---- systems, transforms, filters ----


@_of_any(np.linalg.solve)
def _solve(a: Any, b: Any) -> Batch:
    if type(a) is Batch or type(b) is not Batch:
        raise NoRule("solve")
    if np.ndim(a) == 2:  # one factorisation for all columns of all members
        columns = np.moveaxis(b.whole, 1, 0)
        found = np.linalg.solve(a, np.reshape(columns, (len(columns), -1)))
        return Batch(np.moveaxis(np.reshape(found, np.shape(columns)), 0, 1))
    if b.ndim != np.ndim(a):
        raise NoRule("solve")
    return Batch(np.linalg.solve(np.broadcast_to(a, (b.count, *np.shape(a))), b.whole))


def _transforms() -> None:
    whole_spectra: Any = (np.fft.fft2, (-2, -1)), (np.fft.ifft2, (-2, -1)), (np.fft.fftn, None), (np.fft.ifftn, None)
    for transform in (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft):
        _along_one(transform)
    for transform, axes in whole_spectra:
        _along_several(transform, axes)


def _along_one(transform: Any) -> None:
    @_of_first(transform)
    def one(w: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        return transform(w, n, _later(axis), norm)


def _along_several(transform: Any, all_axes: Any) -> None:
    @_of_first(transform)
    def several(w: Any, s: Any = None, axes: Any = all_axes, norm: Any = None) -> Any:
        if axes is None:
            axes = range(w.ndim - 1)[-(w.ndim - 1 if s is None else len(s)) :]
        return transform(w, s, _later(tuple(axes)), norm)


_transforms()


@_of_first(np.fft.fftshift)
def _fftshift(w: Any, axes: Any = None) -> Any:
    return np.fft.fftshift(w, _every(w) if axes is None else _later(axes))


@_of_first(np.fft.ifftshift)
def _ifftshift(w: Any, axes: Any = None) -> Any:
    return np.fft.ifftshift(w, _every(w) if axes is None else _later(axes))


@_of_first(arrays.cropped)
def _cropped(w: Any, shape: Any, axes: Any = None) -> Any:
    return plainly(arrays.cropped, w, (len(w), *shape), None if axes is None else _later(tuple(axes)))


@_of_first(arrays.doubled)
def _doubled(w: Any, n: Any, axis: Any = -1) -> Any:
    return plainly(arrays.doubled, w, n, _later(axis))


@_of_first(arrays.halved)
def _halved(w: Any, n: Any, axis: Any = -1) -> Any:
    return plainly(arrays.halved, w, n, _later(axis))


@_of_any(arrays.unarange)
def _unarange(t: Batch, args: Any) -> Any:
    if len(args) == 1:
        return (0.0,)
    return (Batch(np.sum(t.whole, axis=1)), 0.0, Batch(t.whole @ np.arange(t.shape[0])))[: len(args)]


@_of_any(np.convolve)
def _convolve(a: Any, v: Any, mode: Any = "full") -> Batch:
    _demand_one(a, v)
    if type(v) is Batch:
        a, v = v, a
    size, width = a.shape[0], int(np.shape(v)[0])
    least = min(size, width) - 1
    most = max(size, width)
    start, length = {"full": (0, most + least), "same": (least // 2, most), "valid": (least, most - least)}[mode]
    padded = np.pad(a.whole, ((0, 0), (width - 1, width - 1)))
    return Batch(sliding_window_view(padded, width, 1)[:, start : start + length] @ v[::-1])


@_of_any(arrays.unconvolve)
def _unconvolve(t: Any, other: Any, shape: Any, mode: Any = "full") -> Batch:
    """Each element is the sum of products with the stretch of `t` that begins there."""
    _demand_one(t, other)
    size, width = shape[0], _length(other)
    start = {"full": 0, "same": (min(size, width) - 1) // 2, "valid": min(size, width) - 1}[mode]
    frame = (start, size + width - 1 - start - _length(t))
    if type(t) is Batch:
        return Batch(sliding_window_view(np.pad(t.whole, ((0, 0), frame)), width, 1) @ other)
    return Batch(other.whole @ np.transpose(sliding_window_view(np.pad(t, frame), width)))


def _length(row: Any) -> int:
    return row.shape[0] if type(row) is Batch else int(np.shape(row)[0])


@_of_first(arrays.columns)
def _columns(w: Any, y: Any, x: Any, before: int = 0) -> Any:
    block = np.moveaxis(w[:, before : before + np.size(x)], 1, -1)
    return np.reshape(block, (len(w), *np.shape(y), *np.shape(x)))


@_of_first(arrays.rows)
def _rows_of(w: Any, y: Any, x: Any, before: int = 0) -> Any:
    return np.reshape(w[:, before : before + np.size(y)], (len(w), *np.shape(y), *np.shape(x)))


@_of_first(arrays.uncolumns)
def _uncolumns(w: Any, dots: Any, y: Any, x: Any, before: int = 0) -> Any:
    block = np.moveaxis(np.reshape(w, (len(w), *np.shape(y), int(np.size(x)))), -1, 1)
    return _placed(block, np.zeros(np.shape(dots)), slice(before, before + np.size(x)))


@_of_first(arrays.unrows)
def _unrows(w: Any, bars: Any, y: Any, x: Any, before: int = 0) -> Any:
    block = np.reshape(w, (len(w), int(np.size(y)), *np.shape(x)))
    return _placed(block, np.zeros(np.shape(bars)), slice(before, before + np.size(y)))


@_of_first(arrays.each_fitted)
def _each_fitted(w: Any, lengths: Any) -> Any:
    flat = np.reshape(w, (w.shape[0] * w.shape[1], *w.shape[2:]))
    return np.reshape(plainly(arrays.each_fitted, flat, lengths), (*w.shape[:2], *lengths))


@_of_any(arrays.unbroadcast, arrays.spread)
def _unbroadcast(t: Any, like: Any) -> Batch:
    if type(like) is Batch and type(t) is Batch:
        return Batch(refitted(t, like.shape, like.whole.dtype))
    if type(t) is Batch:
        return Batch(refitted(t, tuple(np.shape(like)), getattr(like, "dtype", None)))
    return Batch(refitted(Batch(whole_of(t, like.count)), like.shape, like.whole.dtype))


@_of_any(arrays.of_rule)
def _of_rule(given: Any, like: Any, result: Any, rule: str, name: str) -> Any:
    """What a rule of the user's gives; for what does not fit it is told one by one."""
    if isinstance(like, list | tuple) and isinstance(given, list | tuple) and len(given) == len(like):
        return [
            _of_rule(g, x, None, rule, name) if type(g) is Batch else arrays.of_rule(g, x, None, rule, name)
            for g, x in zip(given, like, strict=True)
        ]
    if type(given) is not Batch or isinstance(like, list | tuple | dict) or not arrays.has_derivative(like):
        raise NoRule("what a rule gives")
    shape = tuple(np.shape(like))
    spread = not isinstance(result, list | tuple) and given.shape == tuple(np.shape(result))
    if given.shape != shape and not (spread and given.shape == np.broadcast_shapes(given.shape, shape)):
        raise NoRule("what a rule gives")
    return _unbroadcast(given, like)


def refitted(t: Batch, shape: tuple[int, ...], dtype: Any) -> Any:
    """The whole of a batch with each member in the shape, the domain and the dtype of what it belongs to."""
    extra = t.ndim - len(shape)
    whole = np.sum(t.whole, axis=tuple(range(1, 1 + extra))) if extra > 0 else aligned(t, len(shape))
    if np.shape(whole)[1:] == shape and (dtype is None or whole.dtype == dtype):
        return whole
    like = np.broadcast_to(np.zeros((), whole.dtype if dtype is None else dtype), (t.count, *shape))
    return plainly(arrays.unbroadcast, whole, like)
