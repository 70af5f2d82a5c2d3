"""Sums, means, products and extremes over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import (
    before,
    chain,
    count_reduced,
    guarded,
    merged,
    ratio,
    ratio_or_zero,
    ties,
    unmerged,
    unreduce,
)
from tangentx.templates.registry import adjoint, linear, methods

_REDUCED = (
    "A(3)",
    "A(2,3), axis=0",
    "A(2,3), axis=-1, keepdims=True",
    "A(2,3,4), axis=(0,-1)",
    "A(2,3), keepdims=True",
    "A()",
    "A(1)",
    "x",
)
_EMPTY = ("A(0)", "A(0,3), axis=0", "A(3,0), axis=0")


@linear(np.sum, *methods("sum"), domain=(*_REDUCED, *_EMPTY, "C(2,3), axis=1"))
def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, ans_bar: Any, a_shape: Any
) -> Any:
    """Sum over `axis`: the cotangent is repeated along it."""
    a_bar = unreduce(ans_bar, a_shape, axis, keepdims)
    return a_bar


@linear(np.mean, *methods("mean"), domain=(*_REDUCED, "A(3,0), axis=0", "C(2,3), axis=1"))
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, ans_bar: Any, a_shape: Any
) -> Any:
    """Mean over `axis`."""
    a_bar = unreduce(ans_bar / max(count_reduced(a_shape, axis), 1), a_shape, axis, keepdims)
    return a_bar


@adjoint(np.max, np.min, np.amax, np.amin, *methods("max", "min"), domain=(*_REDUCED, "A(3,0), axis=0"))
def extreme(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, ans: Any, ans_bar: Any, a_shape: Any
) -> Any:
    """Maximum or minimum over `axis`; equal elements share, the others get exactly 0."""
    a_bar = guarded(unreduce(ans_bar, a_shape, axis, keepdims), ties(a, ans, axis, keepdims))
    return a_bar


@extreme.tangent
def extreme_tangent(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, ans: Any, a_dot: Any) -> Any:
    """Mean of the tangents of the elements that win."""
    ans_dot = np.sum(guarded(a_dot, ties(a, ans, axis, keepdims)), axis=axis, keepdims=keepdims)
    return ans_dot


@adjoint(
    np.prod,
    *methods("prod"),
    domain=(*_REDUCED, *_EMPTY, "np.array([0.0, 2.0, 3.0])", "np.array([0.0, 2.0, 0.0])", "C(2,3), axis=1"),
)
def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, ans_bar: Any, a_shape: Any
) -> Any:
    """Product over `axis`: for each element that of the others, without division, so zeros are no exception."""
    elements = merged(a, axis)
    others = before(elements) * np.flip(before(np.flip(elements, -1)), -1)
    a_bar = guarded(unmerged(others, a_shape, axis), unreduce(ans_bar, a_shape, axis, keepdims))
    return a_bar


@prod.tangent
def prod_tangent(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, a_dot: Any, a_shape: Any
) -> Any:
    """Sum over the elements of tangent times the others."""
    elements = merged(a, axis)
    others = before(elements) * np.flip(before(np.flip(elements, -1)), -1)
    ans_dot = np.sum(unmerged(others, a_shape, axis) * a_dot, axis=axis, keepdims=keepdims)
    return ans_dot


_SPREAD = ("A(3), ddof=1", "A(2,3), axis=0, ddof=1", "C(2,3), axis=1")


@adjoint(np.var, *methods("var"), domain=(*_REDUCED, *_SPREAD))
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    ans_bar: Any,
    a_shape: Any,
) -> Any:
    """Variance over `axis`: twice the deviation from the mean."""
    deviation = np.conj(a - np.mean(a, axis=axis, keepdims=True))
    slope = ratio(2.0, count_reduced(a_shape, axis) - ddof) * deviation
    a_bar = guarded(slope, unreduce(ans_bar, a_shape, axis, keepdims))
    return a_bar


@var.tangent
def var_tangent(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    a_dot: Any,
    a_shape: Any,
) -> Any:
    """The tangent weighted by the deviation."""
    deviation = np.conj(a - np.mean(a, axis=axis, keepdims=True))
    along = np.sum(np.real(deviation * a_dot), axis=axis, keepdims=keepdims)
    ans_dot = ratio(2.0 * along, count_reduced(a_shape, axis) - ddof)
    return ans_dot


@adjoint(np.std, *methods("std"), domain=(*_REDUCED[:5], *_SPREAD), singular=True)
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    ans: Any,
    ans_bar: Any,
    a_shape: Any,
) -> Any:
    """Standard deviation over `axis`; 0 where it is 0."""
    deviation = np.conj(a - np.mean(a, axis=axis, keepdims=True))
    scale = ratio_or_zero(1.0, ans * (count_reduced(a_shape, axis) - ddof))
    slope = deviation * unreduce(scale, a_shape, axis, keepdims)
    a_bar = guarded(slope, unreduce(ans_bar, a_shape, axis, keepdims))
    return a_bar


@std.tangent
def std_tangent(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    ans: Any,
    a_dot: Any,
    a_shape: Any,
) -> Any:
    """The tangent weighted by the deviation."""
    deviation = np.conj(a - np.mean(a, axis=axis, keepdims=True))
    along = np.sum(np.real(deviation * a_dot), axis=axis, keepdims=keepdims)
    ans_dot = ratio_or_zero(along, ans * (count_reduced(a_shape, axis) - ddof))
    return ans_dot


@linear(np.cumsum, *methods("cumsum"), domain=("A(3)", "A(2,3)", "A(2,3), 0", "A(2,3), axis=-1", "A(0)", "A()"))
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, *, ans_bar: Any, a_shape: Any) -> Any:
    """Running sum along `axis`: the running sum of the cotangent from the other end."""
    a_bar = np.reshape(np.flip(np.cumsum(np.flip(ans_bar, axis), axis), axis), a_shape)
    return a_bar


@adjoint(
    np.cumprod,
    *methods("cumprod"),
    domain=("A(4)", "A(2,3)", "A(2,3), 0", "A(2,3), axis=-1", "A(0)", "A()", "np.array([2.0, 0.0, 3.0, 0.0])"),
)
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, *, ans_bar: Any, a_shape: Any) -> Any:
    """Running product along `axis`, without division, so zeros are no exception."""
    elements = merged(a, axis)
    t = merged(ans_bar, axis)
    a_bar = unmerged(guarded(before(elements), t + chain(guarded(elements, t), elements)), a_shape, axis)
    return a_bar


@cumprod.tangent
def cumprod_tangent(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, *, ans: Any, a_dot: Any) -> Any:
    """The product rule, the products before each element changing by a recurrence."""
    elements = merged(a, axis)
    dots = merged(a_dot, axis)
    front = before(elements)
    front_dot = np.flip(chain(np.flip(front * dots, -1), np.flip(elements, -1)), -1)
    ans_dot = unmerged(front_dot * elements + front * dots, np.shape(ans), axis)
    return ans_dot


@adjoint(before, domain=("A(3)", "A(2,4)", "np.array([1.0, 0.0, 3.0])", "A(1)"))
def before_(a: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Products of all elements before each one."""
    a_bar = guarded(ans, chain(ans_bar, a))
    return a_bar


@before_.tangent
def before_tangent(a: Any, *, ans: Any, a_dot: Any) -> Any:
    """The product rule as a recurrence from the left."""
    ans_dot = np.flip(chain(np.flip(ans * a_dot, -1), np.flip(a, -1)), -1)
    return ans_dot


@adjoint(chain, domain=("A(3), A(3)", "A(2,4), A(2,4)", "A(1), A(1)"))
def chain_(t: Any, a: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Linear recurrence from the right; its adjoint runs from the left."""
    t_bar = np.flip(chain(np.flip(ans_bar, -1), np.flip(a, -1)), -1)
    a_bar = guarded(ans, t_bar)
    return t_bar, a_bar


@chain_.tangent
def chain_tangent(t: Any, a: Any, *, ans: Any, t_dot: Any, a_dot: Any) -> Any:
    """The same recurrence, driven by the tangents."""
    ans_dot = chain(t_dot + guarded(a_dot, ans), a)
    return ans_dot


@linear(merged, domain=("A(2,3)", "A(2,3,4), (0,2)", "A(2,3), -1", "A()"))
def merged_(a: Any, axis: Any = None, *, ans_bar: Any, a_shape: Any) -> Any:
    """Axes moved to the end and merged."""
    a_bar = unmerged(ans_bar, a_shape, axis)
    return a_bar


@linear(unmerged, domain=("A(6), (2,3)", "A(3,8), (2,3,4), (0,2)", "A(2,3), (2,3), -1", "A(1), ()"))
def unmerged_(t: Any, shape: Any, axis: Any = None, *, ans_bar: Any) -> Any:
    """Inverse of merging."""
    t_bar = merged(ans_bar, axis)
    return t_bar
