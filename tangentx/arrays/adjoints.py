"""Adjoints of joining, selecting and multiplying that have no name of their own in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.libraries import added_at, array_of, as_array, brought, counted, is_array, is_elsewhere, zeros_of
from tangentx.arrays.products import careful
from tangentx.arrays.safe_arithmetic import guarded, lead
from tangentx.arrays.shapes import unbroadcast
from tangentx.arrays.structures import has_derivative
from tangentx.arrays.zeros import real_zero, zero, zeros_as
from tangentx.common.float_events import under_events
from tangentx.errors import NotDifferentiable

_REALS = (float, np.float64)


def add_at(a: Any, key: Any, v: Any) -> None:
    """Adds `v` to ``a[key]`` in place; repeated indices add up."""
    parts = key if isinstance(key, tuple) else (key,)
    if all(part is None or part is Ellipsis or isinstance(part, (int, np.integer, slice)) for part in parts):
        a[key] += v
    else:
        added_at(a, key, v)


def scatter(t: Any, like: Any, key: Any) -> Any:
    """Adjoint of ``like[key]``: zeros like `like` to which `t` is added at `key`."""
    result = zeros_as(like)
    if not is_array(result):  # a number, all of which is taken
        result = np.asarray(result)
        add_at(result, key, t)
        return result[()]
    add_at(result, key, t)
    return result


def placed(t: Any, like: Any, key: Any) -> Any:
    """Zeros like `like` into which `t` is written at `key`; the last of repeated indices wins."""
    result = zeros_as(like)
    result[key] = t
    return result


def window(a: Any, shape: tuple[int, ...], steps: tuple[int, ...], start: int) -> Any:
    """The view of the row `a` whose first element is at `start`, with so many elements from one to the next by axis."""
    stride = a.strides[0]
    return np.lib.stride_tricks.as_strided(a[start:], shape, tuple(stride * step for step in steps))


def unwindow(t: Any, shape: tuple[int], steps: tuple[int, ...], start: int) -> Any:
    """Adjoint of `window`, which shows no element twice: a row of zeros, of `shape`, in which the window holds `t`."""
    result = np.zeros(shape, t.dtype)
    window(result, t.shape, steps, start)[...] = t
    return result


def winners(a: Any, key: Any) -> Any:
    """``a[key]``, a copy, zero at all but the last occurrence of each repeated index."""
    taken = a[key]
    position = counted(np.size(taken), a).reshape(np.shape(taken))
    last = np.zeros_like(a, dtype=int, order="C") if is_array(a) else np.zeros(np.shape(a), int)
    last[key] = position
    return np.where(last[key] == position, taken, as_array(a).dtype.type(0))[()]


def split_like(t: Any, arrays: Any, axis: Any = 0) -> Any:
    """Adjoint of joining `arrays`: the stretches of `t` along `axis`, each in the shape of its array.

    `axis` counts at most to the last one; None stands for a flat result. Gives a list (an array if `arrays` is one),
    with zeros for arrays of whole numbers, None for what has no derivative, lists for lists.
    """
    axis = 0 if axis is None else min(axis, np.ndim(t) - 1) % np.ndim(t)
    shape = np.shape(t)
    rest = int(np.prod(shape[:axis] + shape[axis + 1 :], dtype=int))
    pieces: list[Any] = []
    start = 0
    for a in arrays:
        width = np.size(a) // rest if rest else 0
        piece = t[(slice(None),) * axis + (slice(start, start + width),)]
        pieces.append(nested(piece.copy().reshape(np.shape(a))[()], a))
        start += width
    return np.stack(pieces) if is_array(arrays) and pieces else pieces


def join_like(pieces: Any, arrays: Any, shape: tuple[int, ...], axis: Any = 0) -> Any:
    """Adjoint of `split_like`: joins `pieces` (zeros for None) to an array of `shape`."""
    axis = 0 if axis is None else min(axis, len(shape) - 1) % len(shape)
    rest = int(np.prod(shape[:axis] + shape[axis + 1 :], dtype=int))
    parts = []
    for piece, a in zip(pieces, arrays, strict=True):
        width = np.size(a) // rest if rest else 0
        part = unnested(piece, a)
        parts.append(np.reshape(part, shape[:axis] + (width,) + shape[axis + 1 :]))
    found = np.concatenate(parts, axis=axis)
    return found if rest else np.reshape(found, shape)  # nothing tells then how wide the pieces are


def nested(t: Any, like: Any) -> Any:
    """`t`, a cotangent of an array made from `like`, as a list of lists if `like` is one."""
    if isinstance(like, (list, tuple)):
        return [nested(t[i], item) for i, item in enumerate(like)]
    return _given(t, like)


def _given(t: Any, item: Any) -> Any:
    """What an item gets of `t`, in memory of its own: a whole number 0.0, an array of them zeros, for they may stand
    where reals do, and what is no number None."""
    if type(item) is float and type(t) in _REALS:
        return t
    if has_derivative(item):
        found = unbroadcast(t, item)
        return found.copy() if is_array(found) and (found is t or found.base is not None) else found
    if is_array(item) and item.dtype.kind in "biu":
        return real_zero(item)
    return 0.0 if isinstance(item, int | np.integer) else None


def unnested(bars: Any, like: Any) -> Any:
    """Adjoint of `nested`: the numbers of a list of lists as one array, 0 for what has no derivative."""
    if isinstance(like, (list, tuple)):
        return array_of([unnested(bar, item) for bar, item in zip(bars, like, strict=True)])
    whole = isinstance(like, int) or getattr(getattr(like, "dtype", None), "kind", "f") in "biu"
    if bars is None or whole:
        return np.zeros_like(like, dtype=float) if is_array(like) else 0.0
    return bars


def unblock(t: Any, arrays: Any) -> Any:
    """Adjoint of ``np.block``: the parts of `t` in the lists, and in the shapes, of `arrays`; None for arrays that have
    no derivative."""
    return _unblocked(t, arrays, -_depth(arrays))


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) and arrays else 0


def _unblocked(t: Any, arrays: Any, axis: int) -> Any:
    if not isinstance(arrays, list):
        return np.copy(np.reshape(t, np.shape(arrays)))[()] if has_derivative(arrays) else None
    found, start = [], 0
    for item in arrays:
        width = _width(item, axis)
        found.append(_unblocked(t[(..., slice(start, start + width)) + (slice(None),) * (-axis - 1)], item, axis + 1))
        start += width
    return found


def _width(arrays: Any, axis: int) -> int:
    """The length along `axis` of what blocks make up that are put together along later axes."""
    if isinstance(arrays, list):
        return _width(arrays[0], axis)
    return int(np.shape(arrays)[axis]) if np.ndim(arrays) >= -axis else 1


def repeated(t: Any, items: Any) -> Any:
    """Adjoint of the built-in sum: `t` for each of `items`, as an array if they are one."""
    if is_elsewhere(items):
        return np.full_like(items, t) if not is_array(t) else np.broadcast_to(t, items.shape).copy()
    if isinstance(items, np.ndarray):
        return np.array(np.broadcast_to(t, items.shape))
    return [_given(t, item) for item in items]


def total(dots: Any, items: Any) -> Any:
    """Adjoint of `repeated`: the sum of `dots`, None counting as 0."""
    return sum((dot for dot in dots if dot is not None), start=0.0)


def _candidates(args: Any) -> Any:
    return args[0] if len(args) == 1 else args


def give_best(t: Any, best: Any, args: Any) -> Any:
    """Adjoint of the built-in max and min of `args`: equal shares of `t` for those equal to `best`, 0 for others."""
    items = _candidates(args)
    if type(t) in _REALS and type(items) in (tuple, list) and set(map(type, items)) == {float}:
        won = [item == best for item in items]
        part, nothing = t / (sum(won) or 1), type(t)(0)
        parts = [part if each else nothing for each in won]
        return tuple(parts) if len(args) > 1 else (parts,)
    count = sum(1 for item in items if item == best)
    shares = [_given(t / count if item == best else zero(t), item) for item in items]
    if len(args) > 1:
        return tuple(shares)
    if is_elsewhere(items):
        return (np.stack(shares),)
    return (np.array(shares, dtype=items.dtype) if isinstance(items, np.ndarray) else shares,)


def if_above(t: Any, x: Any, bound: Any) -> Any:
    """What the number `x` gets of `t`, the cotangent of ``max(x, bound)``: all, a half where they are equal, or 0."""
    if x > bound:
        return t
    return t / 2 if x == bound else zero(t)


def if_below(t: Any, x: Any, bound: Any) -> Any:
    """As `if_above`, of ``min(x, bound)``."""
    if x < bound:
        return t
    return t / 2 if x == bound else zero(t)


def take_best(dots: Any, best: Any, args: Any) -> Any:
    """Adjoint of `give_best`: the mean of those `dots` whose item of `args` equals `best`."""
    moving = _candidates(dots)
    if moving is None:
        return 0.0
    chosen = [dot for dot, item in zip(moving, _candidates(args), strict=True) if item == best]
    return sum((dot for dot in chosen if dot is not None), start=0.0) / max(len(chosen), 1)


def inverse_axes(axes: Any) -> Any:
    """The `axes` that undo a transposition; also takes the arguments of the method: (), (None,) or one tuple."""
    if axes is None or len(axes) == 0 or (len(axes) == 1 and axes[0] is None):
        return None
    order = axes[0] if len(axes) == 1 and not np.isscalar(axes[0]) else axes
    return tuple(int(i) for i in np.argsort([i % len(order) for i in order]))


def untake(t: Any, shape: tuple[int, ...], indices: Any, axis: Any = None, mode: Any = "raise") -> Any:
    """Adjoint of ``np.take``: zeros of `shape` to which `t` is added at `indices` of `axis`."""
    if axis is None:
        flat = untake(t, (int(np.prod(shape, dtype=int)),), indices, 0, mode)
        return np.reshape(flat, shape)[()]
    result = zeros_of(t, shape)
    axis %= len(shape)
    where = indices if type(indices) is int else brought(as_array(indices), t)
    if mode == "wrap":
        where = where % shape[axis]
    elif mode == "clip":
        where = np.clip(where, 0, shape[axis] - 1)
    added_at(result, (slice(None),) * axis + (where,), t)
    return result


def unrepeat(t: Any, shape: tuple[int, ...], repeats: Any, axis: Any = None) -> Any:
    """Adjoint of ``np.repeat``: the repeats of each element of `shape` are added up."""
    if axis is None:
        return np.reshape(unrepeat(t, (int(np.prod(shape, dtype=int)),), repeats, 0), shape)[()]
    return untake(t, shape, np.repeat(counted(shape[axis], t), repeats), axis)


def undiagonal(t: Any, shape: tuple[int, ...], offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    """Adjoint of ``np.diagonal``: zeros of `shape` with `t` on the diagonal."""
    result = zeros_of(t, shape)
    front = np.moveaxis(result, (axis1, axis2), (-2, -1))
    rows = max(0, min(front.shape[-2] + min(offset, 0), front.shape[-1] - max(offset, 0)))
    index = counted(rows, t)
    front[..., index - min(offset, 0), index + max(offset, 0)] = t
    return result


def undiag(t: Any, shape: tuple[int, ...], k: Any = 0) -> Any:
    """Adjoint of ``np.diag`` of an argument of `shape`, a vector or a matrix."""
    return np.diagonal(t, k).copy() if len(shape) == 1 else undiagonal(t, shape, k)


def unarange(t: Any, args: Any) -> Any:
    """Adjoint of ``np.arange(*args)``: the cotangents of its arguments."""
    if len(args) == 1:
        return (0.0,)
    return (np.sum(t), 0.0, np.sum(counted(len(t), t) * t))[: len(args)]


def arange_dot(dots: Any, ans: Any) -> Any:
    """Tangent of ``np.arange``: how its elements move with its start and step."""
    if len(dots) == 1:
        return np.zeros_like(ans)
    step = dots[2] if len(dots) == 3 and dots[2] is not None else 0.0
    return (0.0 if dots[0] is None else dots[0]) + step * counted(len(ans), ans)


def put_along(t: Any, shape: tuple[int, ...], indices: Any, axis: Any = -1) -> Any:
    """Adjoint of ``np.take_along_axis``: zeros of `shape` to which `t` is added at `indices` along `axis`.

    Along the other axes indices and array may have been broadcast together.
    """
    if axis is None:
        return np.reshape(put_along(t, (int(np.prod(shape, dtype=int)),), indices, 0), shape)
    t = as_array(t)
    result = zeros_of(t, shape)
    rank = len(shape)
    places = [counted(n, t).reshape((1,) * i + (n,) + (1,) * (rank - i - 1)) for i, n in enumerate(shape)]
    places[axis] = as_array(indices)
    added_at(result, tuple(places), t)
    return result


def sorted_as(x: Any, a: Any, axis: Any = -1) -> Any:
    """The elements of `x` in the order in which those of `a` are ascending; where some are equal, their mean."""
    if axis is None:
        x, a, axis = np.ravel(x), np.ravel(a), -1
    order = np.argsort(a, axis=axis)
    return _means_of_equals(np.take_along_axis(x, order, axis), np.take_along_axis(a, order, axis), axis)


def unsort(t: Any, a: Any, axis: Any = -1) -> Any:
    """Adjoint of ``np.sort(a, axis)``: each element of `t` where it came from; equal elements of `a` share theirs."""
    if axis is None:
        return unsort(t, np.ravel(a)).reshape(np.shape(a))
    order = np.argsort(a, axis=axis)
    shared = _means_of_equals(as_array(t), np.take_along_axis(a, order, axis), axis)
    result = zeros_of(shared, np.shape(a))
    np.put_along_axis(result, order, shared, axis)
    return result


def running_max(a: Any, axis: int = 0) -> Any:
    """The largest elements so far."""
    return np.maximum.accumulate(a, axis=axis)


def running_min(a: Any, axis: int = 0) -> Any:
    """The smallest elements so far."""
    return np.minimum.accumulate(a, axis=axis)


def running_as(x: Any, a: Any, best: Any, axis: int = 0) -> Any:
    """The elements of `x` at the places of the largest, or smallest, elements of `a` so far, which are `best`; where
    some are equal, their mean."""
    x, mine, first = (np.moveaxis(each, axis, 0) for each in (as_array(x), *_records(a, best, axis)))
    if not is_elsewhere(x) and (mine == first).all():
        found = np.take_along_axis(x, _latest(first), 0)
    else:
        found, total, zero = np.empty_like(x), np.zeros_like(x[0]), x.dtype.type(0)
        for i, count in enumerate(_counts(mine, first)):
            total = np.where(first[i], zero, total) + np.where(mine[i], x[i], zero)
            found[i] = total / count.astype(x.real.dtype)
    return np.moveaxis(found, 0, axis)


def unrun(t: Any, a: Any, best: Any, axis: int = 0) -> Any:
    """Adjoint of `running_max` and `running_min`: each element of `t` where it came from; equal ones share."""
    t, mine, first = (np.moveaxis(each, axis, 0) for each in (as_array(t), *_records(a, best, axis)))
    found = np.zeros_like(t)
    if not is_elsewhere(t) and (mine == first).all():
        np.add.at(found, (_latest(first), *np.indices(t.shape, sparse=True)[1:]), t)
    else:
        total, zero = np.zeros_like(t[0]), t.dtype.type(0)
        counts = _counts(mine, first)
        for i in reversed(range(len(t))):
            total = total + t[i] / counts[i].astype(t.real.dtype)
            found[i] = np.where(mine[i], total, zero)
            total = np.where(first[i], zero, total)
    return np.moveaxis(found, 0, axis)


def _records(a: Any, best: Any, axis: int) -> tuple[Any, Any]:
    """Where an element of `a` is the best so far, and where it is better than all before it."""
    mine = (a == best) | (a != a)
    before = np.moveaxis(best, axis, 0)
    first = np.ones_like(before, dtype=bool)
    first[1:] = (before[1:] != before[:-1]) & ((before[1:] == before[1:]) | (before[:-1] == before[:-1]))
    return mine, np.moveaxis(first, 0, axis)


def _latest(first: Any) -> Any:
    """The last place up to each one that is marked."""
    places = np.arange(len(first)).reshape((-1,) + (1,) * (first.ndim - 1))
    return np.maximum.accumulate(np.where(first, places, 0), axis=0)


def _counts(mine: Any, first: Any) -> list[Any]:
    """How many elements have been as good as the best one, at each place."""
    found: list[Any] = []
    for i in range(len(mine)):
        found.append(mine[i] + np.where(first[i], 0, found[-1] if found else 0))
    return found


def _means_of_equals(t: Any, a: Any, axis: int) -> Any:
    """`t` with the mean of each stretch along which the elements of `a`, in ascending order, are equal."""
    t, a = np.moveaxis(t, axis, -1), np.moveaxis(a, axis, -1)
    first = np.ones_like(a, dtype=bool)
    first[..., 1:] = a[..., 1:] != a[..., :-1]
    if is_elsewhere(t):  # how many stretches there are is not asked
        place = np.cumsum(first.ravel()) - 1
        sums, counts = np.zeros_like(t.ravel()), np.zeros_like(t.ravel())
        added_at(sums, place, t.ravel())
        added_at(counts, place, t.dtype.type(1))
        t = (sums[place] / counts[place]).reshape(t.shape)
    elif not first.all():
        places = np.flatnonzero(first)
        means = np.add.reduceat(t.ravel(), places) / np.diff(np.append(places, t.size)).astype(t.real.dtype)
        t = means[np.cumsum(first.ravel()) - 1].reshape(t.shape)
    return np.moveaxis(t, -1, axis)


def undiff(t: Any, n: Any = 1, axis: Any = -1) -> Any:
    """Adjoint of ``np.diff``."""
    for _ in range(n):
        edge = zeros_of(as_array(t), _thin(np.shape(t), axis))
        t = -np.diff(np.concatenate([edge, t, edge], axis=axis), axis=axis)
    return t


def _thin(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """`shape` with length 1 along `axis`."""
    axis %= len(shape)
    return (*shape[:axis], 1, *shape[axis + 1 :])


def one_system_each(t: Any, a_shape: tuple[int, ...], b_shape: tuple[int, ...]) -> Any:
    """`t` itself; raises NotDifferentiable if ``np.linalg.solve`` broadcast a stack of matrices or of right sides."""
    if len(a_shape) == 2 and len(b_shape) == 1:
        return t
    if len(b_shape) == len(a_shape) and a_shape[:-2] == b_shape[:-2]:
        return t
    raise NotDifferentiable(
        f"np.linalg.solve has no derivative where it broadcasts {a_shape} and {b_shape}",
        hint="broadcast the arguments first, to one right side for each matrix",
    )


def columns_outer(u: Any, v: Any) -> Any:
    """Products of the columns of `u` with those of `v`, summed: ``u @ v.T``, of vectors their outer product."""
    return careful(_columns_outer, u, v)


def _columns_outer(u: Any, v: Any) -> Any:
    return np.outer(u, v) if np.ndim(u) == 1 else np.matmul(u, np.swapaxes(v, -1, -2))


def _weighed_sums(t: Any, y: Any) -> Any:
    """The sums of ``t[i] * exp(y[i] - y[k])`` for the `i` up to each `k`, of a rising `y`: those of what is above 0 and
    below apart, by logarithms, so that nothing overflows."""
    if not np.all(np.isfinite(y)):
        found = [t[0]]
        for k in range(1, len(t)):
            found.append(t[k] + guarded(np.exp(lead(y[k - 1], y[k])), found[-1]))
        return np.stack(found)

    def part(sign: float) -> Any:
        size = np.maximum(sign * t, 0.0)
        heights = under_events(lambda: np.log(size), divide="ignore") + y
        return under_events(lambda: np.exp(np.logaddexp.accumulate(heights) - y), all="ignore")

    return (part(1.0) - part(-1.0)).astype(np.result_type(t, y), copy=False)


def running_logaddexp(a: Any, axis: Any = 0) -> Any:
    """Logarithms of running sums of exponentials along an axis."""
    return np.logaddexp.accumulate(a, 0 if axis is None else axis)


def decayed_sums(t: Any, y: Any, axis: Any = 0) -> Any:
    """The sums of ``t[i] * exp(y[i] - y[k])`` for the `i` up to each `k` along an axis, where `y` rises.

    >>> decayed_sums(np.array([1.0, 2.0]), np.log(np.array([1.0, 2.0])))
    array([1. , 2.5])
    """
    along = 0 if axis is None else axis
    return np.moveaxis(_weighed_sums(np.moveaxis(t, along, 0), np.moveaxis(y, along, 0)), 0, along)


def decayed_rests(t: Any, y: Any, axis: Any = 0) -> Any:
    """The adjoint of `decayed_sums` in its first argument: for each `i` the sums of all `k` from there on.

    >>> decayed_rests(np.array([1.0, 2.0]), np.log(np.array([1.0, 2.0])))
    array([2., 2.])
    """
    along = 0 if axis is None else axis
    rows, heights = np.moveaxis(t, along, 0)[::-1], np.moveaxis(y, along, 0)[::-1]
    return np.moveaxis(_weighed_sums(rows, -heights)[::-1], 0, along)
