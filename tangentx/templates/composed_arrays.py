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


@composition(np.nansum, domain=("A(4)", "A(2,3), axis=0", "np.array([1.0, np.nan, 2.0])"))
def nansum(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """Sum, nan counting as 0."""
    return np.sum(np.where(np.isnan(a), 0.0, a), axis=axis, keepdims=keepdims)


@composition(np.nanmean, domain=("A(4)", "A(2,3), axis=0", "np.array([1.0, np.nan, 2.0])"))
def nanmean(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """Mean of what is not nan."""
    count = np.sum(~np.isnan(a), axis=axis, keepdims=keepdims)
    return np.sum(np.where(np.isnan(a), 0.0, a), axis=axis, keepdims=keepdims) / count


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
        return (found, count_reduced(np.shape(a), axis) + np.zeros_like(found)) if returned else found
    shares = weights
    if np.ndim(weights) < np.ndim(a):
        if isinstance(axis, tuple):
            raise NotDifferentiable("weights of fewer axes than the elements", hint="broadcast them to the shape first")
        shares = np.moveaxis(np.zeros_like(np.moveaxis(a, axis, -1)) + weights, -1, axis)
    total = np.sum(shares, axis=axis, keepdims=keepdims)
    found = np.sum(a * shares, axis=axis, keepdims=keepdims) / total
    return (found, total) if returned else found


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
        front = _slice_of(prepend, a, axis) if np.ndim(prepend) == 0 else prepend
        a = np.concatenate([front, a], axis=axis)
    if append is not None:
        back = _slice_of(append, a, axis) if np.ndim(append) == 0 else append
        a = np.concatenate([a, back], axis=axis)
    return np.diff(a, n, axis)


def _slice_of(x: Any, a: Any, axis: Any) -> Any:
    """A number in a slice of length one of `a` along an axis."""
    if np.ndim(a) == 1:
        return np.full((1,), x)
    return np.zeros_like(np.sum(a, axis=axis, keepdims=True)) + np.asarray(x)


@composition(np.kron, domain=("A(2), A(3)", "A(2,2), A(2,3)", "A(2), A(2,3)", "A(2,2), A(3)"))
def kron(a: Any, b: Any) -> Any:
    """All products of an element of `a` with the whole of `b`."""
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return np.ravel(np.outer(a, b))
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    if np.ndim(a) == 1 and np.ndim(b) == 2:
        return np.kron(np.expand_dims(a, 0), b)
    if np.ndim(a) == 2 and np.ndim(b) == 1:
        return np.kron(a, np.expand_dims(b, 0))
    if np.ndim(a) != 2 or np.ndim(b) != 2:
        raise NotDifferentiable("np.kron takes two vectors or two matrices here", hint="reshape the arguments")
    products = np.expand_dims(a, (1, 3)) * np.expand_dims(b, (0, 2))
    return np.reshape(products, (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]))


@composition(np.vecdot, domain=("A(3), A(3)", "A(2,3), A(3)", "C(2,3), C(2,3)"))
def vecdot(x1: Any, x2: Any) -> Any:
    """Products over the last axes."""
    return np.sum(np.conj(x1) * x2, axis=-1)


@composition(np.matrix_transpose, np.linalg.matrix_transpose, domain=("A(2,3)", "A(4,2,3)"))
def matrix_transpose(x: Any) -> Any:
    """The last two axes exchanged."""
    return np.swapaxes(x, -1, -2)


@composition(np.logspace, domain=("x, y, 4", "x, y, 4, base=2.0", "x, y, num=3, endpoint=False"))
def logspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0) -> Any:
    """Powers of even steps."""
    return np.power(base, np.linspace(start, stop, num, endpoint=endpoint))


@composition(np.meshgrid, domain=("A(3), A(2)", "A(3), A(2), indexing='ij'"))
def meshgrid(x: Any, y: Any, *, indexing: Any = "xy") -> Any:
    """Coordinates of the points of a plane grid."""
    if indexing == "ij":
        shape = (len(x), len(y))
        return np.copy(np.broadcast_to(np.expand_dims(x, 1), shape)), np.copy(np.broadcast_to(y, shape))
    shape = (len(y), len(x))
    return np.copy(np.broadcast_to(x, shape)), np.copy(np.broadcast_to(np.expand_dims(y, 1), shape))


@composition(np.correlate, domain=("A(4), A(3)", "A(4), A(3), 'full'", "A(2), A(4)", "A(5), A(2), mode='same'"))
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """Products of `a` with `v` at each shift."""
    return np.convolve(a, np.conj(v[::-1]), mode)


@composition(*methods("item"), domain=("A(3), 1", "A(2,3), 4", "A(2,3), 1, 0"))
def item(a: Any, *place: Any) -> Any:
    """An element as a number."""
    return float(np.ravel(a)[place[0]]) if len(place) == 1 else float(a[place])


@composition(np.rollaxis, domain=("A(2,3), 1", "A(2,3,2), 2", "A(2,3,2), 0, 3", "A(2,3,2), -1, start=1"))
def rollaxis(a: Any, axis: Any, start: Any = 0) -> Any:
    """An axis moved before another one."""
    source = axis % np.ndim(a)
    target = start + np.ndim(a) if start < 0 else start
    return np.moveaxis(a, source, target - 1 if source < target else target)


@composition(np.rot90, domain=("A(2,3)", "A(2,3), 2", "A(2,3), k=-1"))
def rot90(m: Any, k: Any = 1) -> Any:
    """Quarter turns."""
    turns = k % 4
    if turns == 0:
        return m[:]
    if turns == 2:
        return m[::-1, ::-1]
    turned = np.swapaxes(m, 0, 1)
    return turned[::-1] if turns == 1 else turned[:, ::-1]


@composition(np.broadcast_arrays, domain=("A(3), A(2,1)", "x, A(2)"))
def broadcast_arrays(x: Any, y: Any) -> Any:
    """Two arrays repeated to one shape, read-only."""
    shape = np.broadcast_shapes(np.shape(x), np.shape(y))
    return np.broadcast_to(x, shape), np.broadcast_to(y, shape)


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
