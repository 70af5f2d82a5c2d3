"""NumPy's functions that are sums, products and rearrangements of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import count_reduced
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import methods


@composition(np.divmod, domain=("x, 0.4", "A(3), P(3)", "A(2,3), P(3)"))
def quotient_and_remainder(x: Any, y: Any) -> Any:
    """How often `y` fits into `x`, and what is left."""
    return np.floor_divide(x, y), np.mod(x, y)


@composition(np.ptp, domain=("A(4)", "A(2,3), 0", "A(2,3), axis=-1, keepdims=True"))
def peak_to_peak(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """Maximum less minimum."""
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


@composition(np.clip, domain=("A(3), min=-0.5", "A(3), max=0.5", "A(3), min=-0.5, max=x"))
def clip(a: Any, *, min: Any = None, max: Any = None) -> Any:
    """Limits by their newer names."""
    return np.clip(a, min, max)


@composition(
    np.average,
    domain=(
        "A(4)",
        "A(4), weights=P(4)",
        "A(2,3), axis=0, weights=P(2)",
        "A(2,3), 1, P(2,3)",
        "A(2,3), axis=(0, 1), weights=P(2,3), keepdims=True",
        "A(3), None, P(3), True",
    ),
)
def average(a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = False) -> Any:
    """Weighted mean, and the sum of the weights where that is asked for."""
    if weights is None:
        found = np.mean(a, axis=axis, keepdims=keepdims)
        if axis is not None and np.size(found) == 0:
            raise ZeroDivisionError("division by zero")
        return (found, count_reduced(np.shape(a), axis) + np.zeros_like(found)) if returned else found
    shares = np.atleast_1d(weights)
    if axis is not None and np.ndim(shares) < np.ndim(a):
        shares = _beside(shares, np.ndim(a), axis)
    total = np.sum(shares, axis=axis, keepdims=keepdims)
    if np.any(total == 0.0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    found = np.sum(a * shares, axis=axis, keepdims=keepdims) / total
    return (found, total) if returned else found


def _beside(weights: Any, rank: Any, axis: Any) -> Any:
    """Weights along some axes of an array of `rank` axes."""
    along = [k % rank for k in (axis if isinstance(axis, tuple) else (axis,))]
    others = tuple(k for k in range(rank) if k not in along)
    return np.expand_dims(np.transpose(weights, np.argsort(along)), others)


@composition(np.append, domain=("A(2), A(3)", "A(2), x", "A(2,2), A(2,3), axis=1"))
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """Values put behind an array."""
    if axis is None:
        return np.concatenate([np.ravel(arr), np.ravel(values)])
    return np.concatenate([arr, values], axis=axis)


@composition(np.extract, domain=("np.array([True, False, True]), A(3)", "np.array([[True], [True]]), A(2,1)"))
def extract(condition: Any, arr: Any) -> Any:
    """The elements at which `condition` holds, in a row."""
    return np.ravel(arr)[np.flatnonzero(condition)]


@composition(np.compress, domain=("[True, False, True], A(3)", "np.array([True, False]), A(2,3), axis=0"))
def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    """Slices along an axis at which `condition` holds."""
    return np.take(a, np.flatnonzero(condition), axis=axis)


@composition(*methods("compress"), domain=("A(3), [True, False, True]", "A(2,3), np.array([True, False]), axis=0"))
def compress_method(a: Any, condition: Any, axis: Any = None) -> Any:
    """As the function, its arguments exchanged."""
    return np.take(a, np.flatnonzero(condition), axis=axis)


@composition(
    np.diff,
    domain=(
        "A(4), prepend=x",
        "A(4), append=A(2)",
        "A(3,2), axis=0, prepend=A(1,2)",
        "A(3,2), append=x, prepend=y",
        "A(2,3,2), 2, 1, 0.0, x",
    ),
)
def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours, with elements before and behind."""
    if prepend is not None:
        front = _slice_of(prepend, a, axis) if np.ndim(prepend) == 0 else np.asarray(prepend)
        a = np.concatenate([front, a], axis=axis)
    if append is not None:
        back = _slice_of(append, a, axis) if np.ndim(append) == 0 else np.asarray(append)
        a = np.concatenate([a, back], axis=axis)
    return np.diff(a, n, axis)


def _slice_of(x: Any, a: Any, axis: Any) -> Any:
    """A number in a slice of length one of `a` along an axis."""
    if np.ndim(a) == 1:
        return np.full((1,), x)
    return np.zeros_like(np.sum(a, axis=axis, keepdims=True)) + np.asarray(x)


@composition(np.kron, domain=("A(2), A(3)", "A(2,2), A(2,3)", "A(2), A(2,3)", "A(2,2), [1.0, x]", "A(2,1,2), A(2,2)"))
def kron(a: Any, b: Any) -> Any:
    """All products of an element of `a` with the whole of `b`."""
    a, b = np.asarray(a), np.asarray(b)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return np.ravel(np.outer(a, b))
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    rank = max(np.ndim(a), np.ndim(b))
    outer = np.reshape(a, (1,) * (rank - np.ndim(a)) + np.shape(a))
    inner = np.reshape(b, (1,) * (rank - np.ndim(b)) + np.shape(b))
    products = np.expand_dims(outer, tuple(range(1, 2 * rank, 2))) * np.expand_dims(inner, tuple(range(0, 2 * rank, 2)))
    return np.reshape(products, tuple(n * m for n, m in zip(np.shape(outer), np.shape(inner), strict=True)))


@composition(np.vecdot, domain=("A(3), A(3)", "A(2,3), A(3)", "C(2,3), C(2,3)"))
def vecdot(x1: Any, x2: Any) -> Any:
    """Products over the last axes."""
    return np.sum(np.conj(x1) * x2, axis=-1)


@composition(np.matrix_transpose, np.linalg.matrix_transpose, domain=("A(2,3)", "A(4,2,3)"))
def matrix_transpose(x: Any) -> Any:
    """The last two axes exchanged."""
    return np.swapaxes(x, -1, -2)


@composition(
    np.linspace,
    domain=(
        "x, y, 4, retstep=True",
        "A(2), A(2), 3, axis=-1",
        "x, y, 3, False, True, np.float64",
        "x, y, 1, dtype=float",
    ),
)
def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    retstep: Any = False,
    dtype: Any = None,
    axis: Any = 0,
) -> Any:
    """Even steps, and how long they are where that is asked for."""
    found = np.linspace(start, stop, num, endpoint)
    if dtype is not None:
        found = (np.floor(found) if np.issubdtype(dtype, np.integer) else found).astype(dtype)
    if axis != 0:
        found = np.moveaxis(found, 0, axis)
    count = num - 1 if endpoint else num
    return (found, np.subtract(stop, start) / count if count > 0 else np.nan) if retstep else found


def _of_rank(x: Any, rank: Any) -> Any:
    """`x` with axes in front, so that it has `rank` of them."""
    return np.reshape(x, (1,) * (rank - np.ndim(x)) + np.shape(x))


@composition(
    np.logspace,
    domain=(
        *("x, y, 4", "x, y, 4, base=2.0", "x, y, num=3, endpoint=False", "A(2), A(2), 3, axis=1"),
        *("x, y, 3, base=P(2)", "A(2), x, 3, base=P(3,1), axis=-1"),
    ),
)
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None, axis: Any = 0
) -> Any:
    """Powers of even steps; several bases have axes of their own, beside that of the steps."""
    if np.ndim(base) > 0:
        rank = len(np.broadcast_shapes(np.shape(start), np.shape(stop), np.shape(base)))
        start, stop, base = _of_rank(start, rank), _of_rank(stop, rank), np.expand_dims(_of_rank(base, rank), axis)
    found = np.power(base, np.linspace(start, stop, num, endpoint, axis=axis))
    return found if dtype is None else found.astype(dtype)


@composition(
    np.meshgrid,
    domain=("A(3), A(2)", "A(3), A(2), indexing='ij'", "A(2), A(1), A(3), sparse=True", "A(2), x, A(3), copy=False"),
)
def meshgrid(
    x: Any, y: Any = None, z: Any = None, *, copy: Any = True, sparse: Any = False, indexing: Any = "xy"
) -> Any:
    """Coordinates of the points of a grid of up to three axes."""
    if y is None:
        return (np.copy(np.ravel(x)),)
    if z is None:
        down, across = np.expand_dims(np.ravel(x), 1), np.ravel(y)
        shape = (np.size(x), np.size(y))
        if indexing == "xy":
            down, across = np.ravel(x), np.expand_dims(np.ravel(y), 1)
            shape = (np.size(y), np.size(x))
        if sparse:
            return np.atleast_2d(down), np.atleast_2d(across)
        first, second = np.broadcast_to(down, shape), np.broadcast_to(across, shape)
        return (np.copy(first), np.copy(second)) if copy else (first, second)
    first = np.reshape(x, (-1, 1, 1) if indexing == "ij" else (1, -1, 1))
    second = np.reshape(y, (1, -1, 1) if indexing == "ij" else (-1, 1, 1))
    third = np.reshape(z, (1, 1, -1))
    if not sparse:
        first, second, third = np.broadcast_arrays(first, second, third)
    return (np.copy(first), np.copy(second), np.copy(third)) if copy else (first, second, third)


@composition(np.correlate, domain=("A(4), A(3)", "A(4), A(3), 'full'", "A(2), A(4)", "A(5), A(2), mode='same'"))
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """Products of `a` with `v` at each shift."""
    return np.convolve(a, np.conj(v[::-1]), mode)


@composition(*methods("item"), domain=("A(3), 1", "A(2,3), 4", "A(2,3), 1, 0", "A(2,3), (0, 2)"))
def item(a: Any, *place: Any) -> Any:
    """An element as a number."""
    if len(place) == 1 and isinstance(place[0], tuple):
        found = a[place[0]]
    else:
        found = np.ravel(a)[place[0]] if len(place) == 1 else a[place]
    return complex(found) if np.iscomplexobj(a) else float(found)


@composition(np.rollaxis, domain=("A(2,3), 1", "A(2,3,2), 2", "A(2,3,2), 0, 3", "A(2,3,2), -1, start=1"))
def rollaxis(a: Any, axis: Any, start: Any = 0) -> Any:
    """An axis moved before another one."""
    source = axis % np.ndim(a)
    target = start + np.ndim(a) if start < 0 else start
    return np.moveaxis(a, source, target - 1 if source < target else target)


@composition(np.rot90, domain=("A(2,3)", "A(2,3), 2", "A(2,3), k=-1", "A(2,3,2), 1, (1, 2)", "A(2,3), 4"))
def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> Any:
    """Quarter turns."""
    turns = k % 4
    if turns == 0:
        return m[:]
    if turns == 2:
        return np.flip(np.flip(m, axes[0]), axes[1])
    if turns == 1:
        return np.swapaxes(np.flip(m, axes[1]), axes[0], axes[1])
    return np.flip(np.swapaxes(m, axes[0], axes[1]), axes[1])


@composition(np.broadcast_arrays, domain=("A(3), A(2,1)", "x, A(2)", "A(3), A(2,1), y"))
def broadcast_arrays(x: Any, y: Any, z: Any = None) -> Any:
    """Arrays repeated to one shape, read-only."""
    if z is None:
        shape = np.broadcast_shapes(np.shape(x), np.shape(y))
        return np.broadcast_to(x, shape), np.broadcast_to(y, shape)
    shape = np.broadcast_shapes(np.shape(x), np.shape(y), np.shape(z))
    return np.broadcast_to(x, shape), np.broadcast_to(y, shape), np.broadcast_to(z, shape)


@composition(np.atleast_1d, domain=("A(3), x", "x, y, A(2,2)"))
def atleast_1d(x: Any, y: Any, z: Any = None) -> Any:
    """Several arrays with one axis at least."""
    first, second = np.atleast_1d(x), np.atleast_1d(y)
    return (first, second) if z is None else (first, second, np.atleast_1d(z))


@composition(np.atleast_2d, domain=("A(3), x", "x, y, A(2,2)"))
def atleast_2d(x: Any, y: Any, z: Any = None) -> Any:
    """Several arrays with two axes at least."""
    first, second = np.atleast_2d(x), np.atleast_2d(y)
    return (first, second) if z is None else (first, second, np.atleast_2d(z))


@composition(np.atleast_3d, domain=("A(3), x", "x, y, A(2,2)"))
def atleast_3d(x: Any, y: Any, z: Any = None) -> Any:
    """Several arrays with three axes at least."""
    first, second = np.atleast_3d(x), np.atleast_3d(y)
    return (first, second) if z is None else (first, second, np.atleast_3d(z))


@composition(np.array, domain=("A(3), ndmin=2", "[x, y], float, ndmin=3", "A(2,3), copy=True, subok=False"))
def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: Any = False,
    ndmin: Any = 0,
) -> Any:
    """An array with some axes at least."""
    found = np.array(object, dtype, copy=copy)
    return np.reshape(found, (1,) * (ndmin - np.ndim(found)) + np.shape(found)) if ndmin > np.ndim(found) else found


@composition(
    np.concatenate,
    domain=("[A(2), [1.0, x]], dtype=np.float64", "[A(2,1), A(2,2)], 1, casting='same_kind'"),
    containers=True,
)
def concatenate(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Arrays joined along an axis, as numbers of one type."""
    found = np.concatenate([np.asarray(x) for x in arrays], axis)
    return found if dtype is None else found.astype(dtype)


@composition(
    np.stack, domain=("[A(2), [1.0, x]], dtype=np.float64", "[A(2), A(2)], 1, casting='same_kind'"), containers=True
)
def stack(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Arrays joined along a new axis, as numbers of one type."""
    found = np.stack([np.asarray(x) for x in arrays], axis)
    return found if dtype is None else found.astype(dtype)


@composition(np.cross, domain=("A(2,3), A(2,3), axis=1", "A(3,2), A(3), 0, 0", "A(3,2), A(3,2), 0, 0, axisc=0"))
def cross(a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> Any:
    """Vector products of vectors along any axes."""
    first = np.moveaxis(a, axisa if axis is None else axis, -1)
    second = np.moveaxis(b, axisb if axis is None else axis, -1)
    if np.shape(first)[-1] == 2 and np.shape(second)[-1] == 2:  # numbers
        return np.cross(first, second)
    if np.shape(first)[-1] == 2 or np.shape(second)[-1] == 2:
        raise NotDifferentiable(
            "`np.cross` of vectors with two components has no rule", hint="give them a third component of 0"
        )
    return np.moveaxis(np.cross(first, second), -1, axisc if axis is None else axis)


if hasattr(np, "unstack"):  # since NumPy 2.1

    @composition(np.unstack, domain=("A(2,3)", "A(2,3), axis=1"))
    def unstack(x: Any, *, axis: Any = 0) -> Any:
        """The slices along an axis."""
        rows = np.moveaxis(x, axis, 0)
        return [rows[k] for k in range(len(rows))]


@composition(np.diagflat, domain=("A(3)", "A(2,2), 1", "x"))
def diagflat(v: Any, k: Any = 0) -> Any:
    """A matrix with all elements on a diagonal."""
    return np.diag(np.ravel(v), k)
