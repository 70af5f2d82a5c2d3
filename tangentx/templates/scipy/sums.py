"""Sums of exponentials along axes, and shares in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from tangentx.arrays import guarded, lead, stop_gradient, unreduce
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import adjoint


@adjoint(special.logsumexp, domain=("A(3)", "A(2,3), 1", "A(2,3,2), axis=(0,2), keepdims=True"), singular=True)
def logsumexp(
    a: Any, axis: Any = None, absent: Any = None, keepdims: Any = False, *, ans: Any, ans_bar: Any, a_shape: Any
) -> Any:
    """Logarithm of the sum of exponentials; the partials are the shares in it."""
    share = np.exp(lead(a, unreduce(ans, a_shape, axis, keepdims)))
    a_bar = guarded(share, unreduce(ans_bar, a_shape, axis, keepdims))
    return a_bar


@logsumexp.tangent
def logsumexp_tangent(
    a: Any, axis: Any = None, absent: Any = None, keepdims: Any = False, *, ans: Any, a_dot: Any, a_shape: Any
) -> Any:
    """The mean of the tangents, each with its share."""
    share = np.exp(lead(a, unreduce(ans, a_shape, axis, keepdims)))
    ans_dot = np.sum(guarded(share, a_dot), axis=axis, keepdims=keepdims)
    return ans_dot


@composition(special.logsumexp, domain=("A(3), b=P(3)", "A(2,3), 1, P(2,3), True"))
def weighed_logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: Any = False, return_sign: Any = False) -> Any:
    """Logarithm of the sum of weighed exponentials, from the largest down, so that none overflows."""
    if np.iscomplexobj(a) or np.iscomplexobj(b):
        raise NotDifferentiable(
            "scipy.special.logsumexp of complex numbers has no derivative", hint="write `np.log(np.sum(b * np.exp(a)))`"
        )
    weights = 1.0 if b is None else b
    absent = np.equal(weights, 0.0) | np.zeros(np.shape(a), bool)
    top = stop_gradient(np.max(np.where(absent, -np.inf, a), axis=axis, keepdims=True, initial=-np.inf))
    top = np.where(np.isfinite(top), top, 0.0)
    total = np.sum(weights * np.exp(np.where(absent, -np.inf, a - top)), axis=axis, keepdims=keepdims)
    size = np.log(np.where(np.equal(total, 0.0), 1.0, np.abs(total)))
    found = np.where(np.equal(total, 0.0), -np.inf, size + np.max(top, axis=axis, keepdims=keepdims))[()]
    if return_sign:
        return found, np.sign(total)
    return np.where(np.less(total, 0.0), np.nan, found)[()]


@adjoint(special.softmax, domain=("A(3)", "A(2,3), 1", "A(2,3), axis=0", "A(2,3,2), axis=(0,2)"))
def softmax(x: Any, axis: Any = None, *, ans: Any, ans_bar: Any) -> Any:
    """Shares in the sum of exponentials; keeps the result, not the argument."""
    x_bar = guarded(ans, ans_bar - np.sum(guarded(ans, ans_bar), axis=axis, keepdims=True))
    return x_bar


@softmax.tangent
def softmax_tangent(x: Any, axis: Any = None, *, ans: Any, x_dot: Any) -> Any:
    """Each share times how far its tangent is above the mean."""
    ans_dot = guarded(ans, x_dot - np.sum(guarded(ans, x_dot), axis=axis, keepdims=True))
    return ans_dot


@adjoint(special.log_softmax, domain=("A(3)", "A(2,3), 1", "A(2,3), axis=0"))
def log_softmax(x: Any, axis: Any = None, *, ans: Any, ans_bar: Any) -> Any:
    """Logarithms of the shares in the sum of exponentials; keeps the result, not the argument."""
    x_bar = ans_bar - guarded(np.exp(ans), np.sum(ans_bar, axis=axis, keepdims=True))
    return x_bar


@log_softmax.tangent
def log_softmax_tangent(x: Any, axis: Any = None, *, ans: Any, x_dot: Any) -> Any:
    """How far the tangents are above their mean."""
    ans_dot = x_dot - np.sum(guarded(np.exp(ans), x_dot), axis=axis, keepdims=True)
    return ans_dot
