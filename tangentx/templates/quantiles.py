"""Medians and quantiles, of all elements and of those that are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import at_quantile, behind, from_quantile, guarded
from tangentx.templates.registry import adjoint, linear

_ROWS = "np.array([[1.0, 0.3, 0.2, 0.4], [2.0, 3.0, 0.1, -1.0]])"
_GAPS = "np.array([[1.0, np.nan, 0.2, 0.4], [2.0, 3.0, 0.1, -1.0]])"


@adjoint(np.median, domain=(f"{_ROWS}", f"{_ROWS}, axis=0", f"{_ROWS}, 1, keepdims=True", f"{_ROWS}, (0, 1)"))
def median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False, *, ans_bar: Any
) -> Any:
    """Mean of the one or two elements in the middle."""
    a_bar = from_quantile(ans_bar, a, 0.5, axis, keepdims)
    return a_bar


@median.tangent
def median_tangent(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False, *, a_dot: Any
) -> Any:
    """Mean of the tangents there."""
    ans_dot = at_quantile(a_dot, a, 0.5, axis, keepdims)
    return ans_dot


@adjoint(np.nanmedian, domain=(f"{_GAPS}", f"{_GAPS}, axis=0", f"{_GAPS}, 1, keepdims=True", f"{_GAPS}, (0, 1)"))
def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False, *, ans_bar: Any
) -> Any:
    """Median of the elements that are numbers."""
    a_bar = from_quantile(ans_bar, a, 0.5, axis, keepdims, gaps=True)
    return a_bar


@nanmedian.tangent
def nanmedian_tangent(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False, *, a_dot: Any
) -> Any:
    """Mean of the tangents there."""
    ans_dot = at_quantile(a_dot, a, 0.5, axis, keepdims, gaps=True)
    return ans_dot


@adjoint(
    np.quantile,
    domain=(
        f"{_ROWS}, x",
        f"{_ROWS}, x, 1",
        f"{_ROWS}, np.array([0.2, 0.9]), axis=(0, -1), keepdims=True",
        f"{_ROWS}, x, axis=1, method='median_unbiased'",
        f"{_ROWS}, x, 1, method='averaged_inverted_cdf'",
        f"{_ROWS}, x, 1, method='inverted_cdf', weights=np.array([0.3, 0.1, 0.4, 0.7])",
        f"{_ROWS}, np.array([[0.1, 0.5], [0.7, 0.9]]), 0, method='weibull'",
    ),
)
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    weights: Any = None,
    *,
    ans_bar: Any,
    q_shape: Any,
) -> Any:
    """The point between two elements that a fraction `q` of them lies below; weights count in steps."""
    a_bar = from_quantile(ans_bar, a, q, axis, keepdims, method, weights)
    pace = at_quantile(a, a, q, axis, keepdims, method, weights, False, 1)
    q_bar = np.sum(np.reshape(guarded(pace, ans_bar), q_shape + (-1,)), axis=-1)
    return a_bar, q_bar


@quantile.tangent
def quantile_tangent(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    weights: Any = None,
    *,
    ans: Any,
    a_dot: Any,
    q_dot: Any,
) -> Any:
    """The tangents of the elements there, and how fast the place moves."""
    pace = at_quantile(a, a, q, axis, keepdims, method, weights, False, 1)
    ans_dot = at_quantile(a_dot, a, q, axis, keepdims, method, weights) + guarded(pace, behind(q_dot, ans))
    return ans_dot


@adjoint(
    np.nanquantile,
    domain=(
        f"{_GAPS}, x",
        f"{_GAPS}, x, 1",
        f"{_GAPS}, np.array([0.2, 0.9]), axis=(0, -1), keepdims=True",
        f"{_GAPS}, x, axis=1, method='median_unbiased'",
        f"{_GAPS}, x, 1, method='averaged_inverted_cdf'",
    ),
)
def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    weights: Any = None,
    *,
    ans_bar: Any,
    q_shape: Any,
) -> Any:
    """Quantile of the elements that are numbers."""
    a_bar = from_quantile(ans_bar, a, q, axis, keepdims, method, weights, gaps=True)
    pace = at_quantile(a, a, q, axis, keepdims, method, weights, True, 1)
    q_bar = np.sum(np.reshape(guarded(pace, ans_bar), q_shape + (-1,)), axis=-1)
    return a_bar, q_bar


@nanquantile.tangent
def nanquantile_tangent(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    weights: Any = None,
    *,
    ans: Any,
    a_dot: Any,
    q_dot: Any,
) -> Any:
    """The tangents of the elements there, and how fast the place moves."""
    pace = at_quantile(a, a, q, axis, keepdims, method, weights, True, 1)
    ans_dot = at_quantile(a_dot, a, q, axis, keepdims, method, weights, gaps=True) + guarded(pace, behind(q_dot, ans))
    return ans_dot


@adjoint(
    np.percentile,
    domain=(
        f"{_ROWS}, 30.0",
        f"{_ROWS}, np.array([45.0, 10.0]), axis=1",
    ),
)
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    weights: Any = None,
    *,
    ans_bar: Any,
    q_shape: Any,
) -> Any:
    """Quantile by a fraction in hundredths."""
    part = np.divide(q, 100.0)
    a_bar = from_quantile(ans_bar, a, part, axis, keepdims, method, weights)
    pace = at_quantile(a, a, part, axis, keepdims, method, weights, False, 1)
    q_bar = np.sum(np.reshape(guarded(0.01 * pace, ans_bar), q_shape + (-1,)), axis=-1)
    return a_bar, q_bar


@percentile.tangent
def percentile_tangent(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    weights: Any = None,
    *,
    ans: Any,
    a_dot: Any,
    q_dot: Any,
) -> Any:
    """The tangents of the elements there, and how fast the place moves."""
    part = np.divide(q, 100.0)
    pace = at_quantile(a, a, part, axis, keepdims, method, weights, False, 1)
    ans_dot = at_quantile(a_dot, a, part, axis, keepdims, method, weights) + guarded(pace, 0.01 * behind(q_dot, ans))
    return ans_dot


@adjoint(
    np.nanpercentile,
    domain=(
        f"{_GAPS}, 30.0",
        f"{_GAPS}, np.array([45.0, 10.0]), axis=1",
    ),
)
def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    weights: Any = None,
    *,
    ans_bar: Any,
    q_shape: Any,
) -> Any:
    """Percentile of the elements that are numbers."""
    part = np.divide(q, 100.0)
    a_bar = from_quantile(ans_bar, a, part, axis, keepdims, method, weights, gaps=True)
    pace = at_quantile(a, a, part, axis, keepdims, method, weights, True, 1)
    q_bar = np.sum(np.reshape(guarded(0.01 * pace, ans_bar), q_shape + (-1,)), axis=-1)
    return a_bar, q_bar


@nanpercentile.tangent
def nanpercentile_tangent(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    weights: Any = None,
    *,
    ans: Any,
    a_dot: Any,
    q_dot: Any,
) -> Any:
    """The tangents of the elements there, and how fast the place moves."""
    part = np.divide(q, 100.0)
    pace = at_quantile(a, a, part, axis, keepdims, method, weights, True, 1)
    ans_dot = at_quantile(a_dot, a, part, axis, keepdims, method, weights, gaps=True) + guarded(
        pace, 0.01 * behind(q_dot, ans)
    )
    return ans_dot


_HAZEN = f"{_GAPS}, P(2) / 2.5, 1, True, 'hazen', None, True"


@adjoint(at_quantile, domain=(f"A(2,4), {_ROWS}, x, 1", f"A(2,4), {_HAZEN}, 1"))
def at_quantile_(
    x: Any,
    a: Any,
    q: Any,
    axis: Any = None,
    keepdims: Any = False,
    method: Any = "linear",
    weights: Any = None,
    gaps: Any = False,
    order: Any = 0,
    *,
    ans_bar: Any,
    q_shape: Any,
) -> Any:
    """What stands where others have a quantile."""
    x_bar = from_quantile(ans_bar, a, q, axis, keepdims, method, weights, gaps, order)
    pace = at_quantile(x, a, q, axis, keepdims, method, weights, gaps, order + 1)
    q_bar = np.sum(np.reshape(guarded(pace, ans_bar), q_shape + (-1,)), axis=-1)
    return x_bar, q_bar


@at_quantile_.tangent
def at_quantile_tangent(
    x: Any,
    a: Any,
    q: Any,
    axis: Any = None,
    keepdims: Any = False,
    method: Any = "linear",
    weights: Any = None,
    gaps: Any = False,
    order: Any = 0,
    *,
    ans: Any,
    x_dot: Any,
    q_dot: Any,
) -> Any:
    """The same of the tangents, and how fast that place moves."""
    moved = behind(q_dot, ans)
    along = guarded(at_quantile(x, a, q, axis, keepdims, method, weights, gaps, order + 1), moved)
    ans_dot = at_quantile(x_dot, a, q, axis, keepdims, method, weights, gaps, order) + along
    return ans_dot


@adjoint(from_quantile, domain=(f"A(2), {_ROWS}, x, 1", f"A(2,2,1), {_HAZEN}"))
def from_quantile_(
    t: Any,
    a: Any,
    q: Any,
    axis: Any = None,
    keepdims: Any = False,
    method: Any = "linear",
    weights: Any = None,
    gaps: Any = False,
    order: Any = 0,
    *,
    ans_bar: Any,
    q_shape: Any,
) -> Any:
    """Adjoint of what stands where others have a quantile."""
    t_bar = at_quantile(ans_bar, a, q, axis, keepdims, method, weights, gaps, order)
    pace = at_quantile(ans_bar, a, q, axis, keepdims, method, weights, gaps, order + 1)
    q_bar = np.sum(np.reshape(guarded(pace, t), q_shape + (-1,)), axis=-1)
    return t_bar, q_bar


@from_quantile_.tangent
def from_quantile_tangent(
    t: Any,
    a: Any,
    q: Any,
    axis: Any = None,
    keepdims: Any = False,
    method: Any = "linear",
    weights: Any = None,
    gaps: Any = False,
    order: Any = 0,
    *,
    t_dot: Any,
    q_dot: Any,
) -> Any:
    """The same of the tangents, and of what is there when the place moves."""
    moved = guarded(t, behind(q_dot, t))
    along = from_quantile(moved, a, q, axis, keepdims, method, weights, gaps, order + 1)
    ans_dot = from_quantile(t_dot, a, q, axis, keepdims, method, weights, gaps, order) + along
    return ans_dot


@linear(behind, domain=("A(2), A(2,3)", "x, A(3)", "x, y"))
def behind_(t: Any, like: Any, *, ans_bar: Any, t_shape: Any) -> Any:
    """New axes behind."""
    t_bar = np.reshape(ans_bar, t_shape)
    return t_bar
