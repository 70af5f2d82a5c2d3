"""Derivatives of quantiles: the order statistics between which a quantile lies.

The definitions are those of R.J. Hyndman and Y. Fan, Sample quantiles in statistical packages (The American
Statistician 50, 1996), and the further ones that NumPy has; NumPy itself is asked where one lies, as the quantile of
0, 1, 2 ... Equal elements share the derivative. Where a row holds nan, so does the quantile: then its nan share.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.adjoints import sorted_as, unsort
from tangentx.arrays.libraries import added_at
from tangentx.arrays.safe_arithmetic import guarded
from tangentx.arrays.shapes import merged, unmerged

_EDGES = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1.0 / 3.0, 1.0 / 3.0),
    "normal_unbiased": (0.375, 0.375),
}
"""The two parameters of the definitions that are continuous in the fraction."""


def at_quantile(
    x: Any,
    a: Any,
    q: Any,
    axis: Any = None,
    keepdims: bool = False,
    method: str = "linear",
    weights: Any = None,
    gaps: bool = False,
    order: int = 0,
) -> Any:
    """What stands in `x` where ``np.quantile(a, q, axis)`` lies in `a`, or between two elements of it.

    `gaps`: as ``np.nanquantile``, which leaves out nan. `order`: which derivative by `q` is meant.
    """
    rows, missing = _ordering(a, axis)
    low, high, first, second = _ends(rows, missing, q, method, _along_rows(weights, a, axis), gaps, order)
    ordered = sorted_as(merged(x, axis), rows)
    found = guarded(np.take_along_axis(ordered, low, -1), first)
    found = found + guarded(np.take_along_axis(ordered, high, -1), second)
    if rows.shape[-1] == 0:  # nan, which depends on nothing
        found = np.zeros((*rows.shape[:-1], np.size(q)), ordered.dtype)
    found = np.moveaxis(found, -1, 0).reshape(np.shape(q) + rows.shape[:-1])
    return np.expand_dims(found, _kept(np.ndim(a), axis, np.ndim(q))) if keepdims else found[()]


def from_quantile(
    t: Any,
    a: Any,
    q: Any,
    axis: Any = None,
    keepdims: bool = False,
    method: str = "linear",
    weights: Any = None,
    gaps: bool = False,
    order: int = 0,
) -> Any:
    """Adjoint of `at_quantile` in `x`: `t` at the elements of `a` at which, or between which, the quantile lies."""
    rows, missing = _ordering(a, axis)
    low, high, first, second = _ends(rows, missing, q, method, _along_rows(weights, a, axis), gaps, order)
    front = np.moveaxis(np.reshape(t, (np.size(q), *rows.shape[:-1])), 0, -1)
    ordered = np.zeros(rows.shape, front.dtype)
    others = np.indices(low.shape, sparse=True)[:-1]
    added_at(ordered, (*others, low), guarded(first, front))
    added_at(ordered, (*others, high), guarded(second, front))
    return unmerged(unsort(ordered, rows), np.shape(a), axis)


def behind(t: Any, like: Any) -> Any:
    """`t` with axes of length one behind, as many in all as `like` has; fractions in a list of whole numbers have no
    tangents, which are None in `t`."""
    if isinstance(t, list | tuple) and any(item is None for item in t):
        t = np.zeros(len(t))
    return np.reshape(t, np.shape(t) + (1,) * (np.ndim(like) - np.ndim(t)))[()]


def _ordering(a: Any, axis: Any) -> tuple[Any, Any]:
    """The rows in which a quantile is taken, and which of their elements are nan: those are equal, and at the end."""
    rows = merged(a, axis)
    missing = rows != rows
    if missing.any():
        rows = np.where(missing, np.inf, np.minimum(rows, np.finfo(rows.dtype).max))
    return rows, missing


def _along_rows(weights: Any, a: Any, axis: Any) -> Any:
    """The weights of each element of each row."""
    if weights is None:
        return None
    shape, weights = np.shape(a), np.asarray(weights)
    if weights.shape != shape:
        axes = axis if isinstance(axis, tuple) else (axis,)
        places = [int(i) % len(shape) for i in axes]
        order = np.argsort(places)
        lengths = [shape[i] if i in places else 1 for i in range(len(shape))]
        weights = np.broadcast_to(weights.transpose(order).reshape(lengths), shape)
    return merged(weights, axis)


def _ends(
    rows: Any, missing: Any, q: Any, method: str, weights: Any, gaps: bool, order: int
) -> tuple[Any, Any, Any, Any]:
    """Two places in each row in order for each fraction, and how much the elements there count for."""
    n, q = rows.shape[-1], np.ravel(q)
    count = np.sum(~missing, axis=-1, keepdims=True) if gaps else np.full((*rows.shape[:-1], 1), n)
    if n == 0:
        nothing = np.zeros((*rows.shape[:-1], 0), int)
        return nothing, nothing, nothing, nothing
    if weights is not None:
        at = _by_weights(rows, q, np.where(missing, 0.0, weights))
    else:
        at = np.clip(_places(q, count, method), 0.0, np.maximum(count - 1, 0))
    if not gaps:
        at = np.where(missing.any(axis=-1, keepdims=True), n - 1.0, at)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, np.maximum(count - 1, 0))
    share = at - low
    real = np.result_type(rows.real, np.float16)
    if order > 0:
        pace = _pace(q, count, method) if order == 1 else 0.0
        share = np.broadcast_to(pace, share.shape)
        return low, high, -share.astype(real), share.astype(real)
    return low, high, (1.0 - share).astype(real), share.astype(real)


def _places(q: Any, count: Any, method: str) -> Any:
    """Where among `count` elements the fractions lie, from 0."""
    if method == "linear":
        return q * (count - 1)
    found = np.zeros(np.broadcast_shapes(q.shape, count.shape))
    for n in np.unique(count[count > 0]):
        row = np.quantile(np.arange(float(n)), q, method=method)  # type: ignore[call-overload]
        found = np.where(count == n, row, found)
    return found


def _pace(q: Any, count: Any, method: str) -> Any:
    """How fast the places move; not at all where they jump, or at the ends."""
    if method not in _EDGES:
        return np.zeros(np.broadcast_shapes(q.shape, count.shape))
    first, last = _EDGES[method]
    pace = count + 1.0 - first - last
    place = pace * q + first - 1.0
    return np.where((place < 0.0) | (place >= count - 1), 0.0, pace)


def _by_weights(rows: Any, q: Any, weights: Any) -> Any:
    """The places at which the weights of the elements up to there reach the fractions of all."""
    order = np.argsort(rows, axis=-1)
    sums = np.cumsum(np.take_along_axis(weights, order, -1), axis=-1)
    reached = np.where(sums == 0.0, -1.0, sums / sums[..., -1:])
    return np.minimum(np.sum(reached[..., None, :] < q[:, None], axis=-1), rows.shape[-1] - 1.0)


def _kept(rank: int, axis: Any, lead: int) -> tuple[int, ...]:
    """The axes that a reduction over `axis` leaves with length one, behind `lead` others."""
    axes = tuple(range(rank)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(int(i) % rank + lead for i in axes))
