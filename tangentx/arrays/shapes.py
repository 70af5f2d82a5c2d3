"""Shapes and dtypes: undoes broadcasting and reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.libraries import as_array, is_array, is_elsewhere
from tangentx.arrays.safe_arithmetic import guarded, has_nan
from tangentx.errors import NotDifferentiable

_REALS = (float, np.float64)


def unbroadcast(t: Any, like: Any) -> Any:
    """Cotangent `t` in the shape, domain and dtype of `like`.

    Sums over the axes along which `like` was broadcast and repeats `t` where it is the smaller one; a real `like`
    takes the real part. Returns `t` itself if nothing is to be done, and an array without axes for None.
    """
    if type(like) is np.ndarray and type(t) is np.ndarray:
        if t.dtype == like.dtype:
            if t.shape == like.shape:
                return t
            if t.shape[1:] == like.shape != ():
                return np.add.reduce(t)  # the common case of a row that was added to each
    elif type(like) in _REALS and type(t) in _REALS:
        return t
    if like is None:
        return as_array(resized(t, ()))
    if is_elsewhere(like) and not is_array(t):
        return np.full_like(like, t)
    return _cast(resized(t, np.shape(like)), like)


def alike(t: Any, like: Any) -> Any:
    """`t` itself, a cotangent of which it is known that it has the shape, domain and dtype of `like`."""
    return t


def spread(t: Any, like: Any) -> Any:
    """Adjoint of `unbroadcast`: `t` in the shape, domain and dtype of `like`, in memory of its own."""
    result = unbroadcast(t, like)
    return result.copy() if is_array(result) else result


def resized(t: Any, shape: tuple[int, ...]) -> Any:
    """`t` summed over or repeated along axes of length one, to `shape`; `t` itself if it has that shape."""
    if np.shape(t) == shape:
        return t[()] if not shape and is_array(t) else t
    if np.ndim(t) > len(shape):
        t = np.sum(t, axis=tuple(range(np.ndim(t) - len(shape))))
    offset = len(shape) - np.ndim(t)
    axes = tuple(i for i, n in enumerate(np.shape(t)) if n != 1 and shape[i + offset] == 1)
    if axes:
        t = np.sum(t, axis=axes, keepdims=True)
    if np.shape(t) != shape:
        try:
            t = np.broadcast_to(t, shape).copy() if is_array(t) else np.array(np.broadcast_to(t, shape))
        except ValueError:
            raise NotDifferentiable(
                f"no rule gives the derivative of an operand of shape {shape} here: it would have shape {np.shape(t)}",
                hint="bring the operands to one shape before: `np.cross` takes a third component of 0",
            ) from None
    return t if shape else t[()]


def _cast(t: Any, like: Any) -> Any:
    """`t` in the domain and dtype of `like`; integers and booleans ask for nothing."""
    dtype = getattr(like, "dtype", None)
    if dtype is None:
        if not isinstance(like, complex) and np.iscomplexobj(t):
            return np.real(t)
        return t
    if dtype.kind in "fc":
        if dtype.kind == "f" and np.iscomplexobj(t):
            t = np.real(t)
        if is_elsewhere(like):
            return t.astype(dtype, copy=False)
        if isinstance(like, np.ndarray):
            return np.asarray(t, dtype=dtype)
        return t if isinstance(t, dtype.type) else dtype.type(t)
    return np.real(t) if np.iscomplexobj(t) else t


def unreduce(t: Any, shape: tuple[int, ...], axis: Any = None, keepdims: Any = False) -> Any:
    """`t`, a reduction's result over `axis`, repeated to the reduced argument's `shape`; fresh."""
    if not shape:
        return np.reshape(t, ())[()]
    result = np.empty_like(t, order="C", shape=shape)
    result[...] = t if axis is None and not keepdims else _kept(t, shape, axis, keepdims)
    return result


def _kept(t: Any, shape: tuple[int, ...], axis: Any, keepdims: Any) -> Any:
    """`t` with the axes that a reduction removed put back with length one."""
    if keepdims:
        return t
    gone = _normal(axis, len(shape))
    return np.reshape(t, tuple(1 if i in gone else n for i, n in enumerate(shape)))


def _normal(axis: Any, rank: int) -> tuple[int, ...]:
    """The reduced axes, counted from 0."""
    if axis is None:
        return tuple(range(rank))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(int(i) % rank if rank else 0 for i in axes)


def count_reduced(shape: tuple[int, ...], axis: Any = None) -> int:
    """How many elements a reduction over `axis` takes together; 1 for none, whose mean has no elements to inform."""
    count = 1
    for i in _normal(axis, len(shape)):
        count *= shape[i] if shape else 1
    return max(count, 1)


def ties(a: Any, best: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """Weights of the elements of `a` in their maximum or minimum `best`: equal shares, zero for the others."""
    kept = _kept(best, np.shape(a), axis, keepdims) if np.shape(a) else best
    mask = (a == kept) | (a != a)
    count = np.sum(mask, axis=axis, keepdims=True)
    return (mask / count).astype(np.result_type(as_array(a), np.float16))


def top_of(a: Any, axis: Any = None) -> Any:
    """The largest elements along `axis`, which stays; 0 where that is not finite, or there are none."""
    if is_elsewhere(a) and a.size:
        top = np.max(a, axis=axis, keepdims=True)
    else:
        top = np.max(a, axis=axis, keepdims=True, initial=-np.inf)
    return np.where(np.isfinite(top), top, top.dtype.type(0))


def share(x: Any, y: Any, best: Any) -> Any:
    """Weight of `x` in `best`, the larger or the smaller of `x` and `y`: 1, 0, or a half where they tie.

    An absent (None) bound has no weight.
    """
    if y is None:
        return 1.0
    if x is None:
        return 0.0
    mine, other = x == best, y == best
    if has_nan(best):
        mine, other = mine | ((x != x) & (best != best)), other | ((y != y) & (best != best))
    dtype = getattr(best, "dtype", None)
    dtype = dtype if dtype is not None and dtype.kind == "f" else np.dtype(float)
    tied = np.logical_and(mine, other)
    weights = np.where(tied, 0.5, mine) if is_elsewhere(tied) or np.any(tied) else np.asarray(mine)
    return np.broadcast_to(weights, tied.shape).astype(dtype)[()]


def merged(a: Any, axis: Any = None) -> Any:
    """`a` with the axes `axis` moved to the end and merged into one."""
    a = as_array(a)
    if a.ndim == 0:
        return a.reshape(1)
    axes = _normal(axis, a.ndim)
    rest = tuple(i for i in range(a.ndim) if i not in axes)
    count = int(np.prod([a.shape[i] for i in axes], dtype=int))
    return a.transpose(rest + axes).reshape(tuple(a.shape[i] for i in rest) + (count,))


def unmerged(t: Any, shape: tuple[int, ...], axis: Any = None) -> Any:
    """Inverse and adjoint of `merged`: back to `shape`."""
    if not shape:
        return np.reshape(t, ())[()]
    axes = _normal(axis, len(shape))
    rest = tuple(i for i in range(len(shape)) if i not in axes)
    order = rest + axes
    return np.transpose(np.reshape(t, tuple(shape[i] for i in order)), tuple(np.argsort(order)))


def before(a: Any) -> Any:
    """Products of all elements before each one, along the last axis."""
    a = as_array(a)
    result = np.ones_like(a)
    np.cumprod(a[..., :-1], axis=-1, out=result[..., 1:])
    return result


def chain(t: Any, a: Any) -> Any:
    """The recurrence ``s[k] = t[k + 1] + a[k + 1] * s[k + 1]`` along the last axis, from a zero at the end."""
    t, a = as_array(t), as_array(a)
    s = np.zeros_like(a, dtype=np.result_type(t, a), order="C")
    for k in range(a.shape[-1] - 2, -1, -1):
        s[..., k] = t[..., k + 1] + guarded(a[..., k + 1], s[..., k + 1])
    return s
