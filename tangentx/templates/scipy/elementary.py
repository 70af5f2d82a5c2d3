"""Exponentials, logarithms and entropies with care at zero, and sums of exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from tangentx.arrays import guarded, lead, over_root, ratio, stop_gradient, unreduce
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import adjoint, elementwise

# Exponentials, logarithms and entropies with care at zero, and what is made of them.


@elementwise(special.log1p, domain="positive", singular=True)
def log1p(x: Any) -> Any:
    """``log(1 + x)``."""
    return ratio(1.0, 1.0 + x)


@elementwise(special.expm1)
def expm1(x: Any, *, ans: Any) -> Any:
    """``exp(x) - 1``; keeps the result, not the argument."""
    return ans + 1.0


@elementwise(special.cosm1, analytic=False)
def cosm1(x: Any) -> Any:
    """``cos(x) - 1``."""
    return -np.sin(x)


@elementwise(special.exp2, analytic=False)
def exp2(x: Any, *, ans: Any) -> Any:
    """Power of two; keeps the result, not the argument."""
    return 0.6931471805599453 * ans


@elementwise(special.exp10, analytic=False)
def exp10(x: Any, *, ans: Any) -> Any:
    """Power of ten; keeps the result, not the argument."""
    return 2.302585092994046 * ans


@elementwise(special.cbrt, domain="positive", singular=True, analytic=False, silent="cube root")
def cbrt(x: Any, *, ans: Any) -> Any:
    """Cube root; keeps the result, not the argument."""
    return ratio(1.0, 3.0 * ans * ans)


@elementwise(special.exprel, analytic=False)
def exprel(x: Any) -> Any:
    """``(exp(x) - 1) / x``, near 0 by its series, ``hyp1f1(1, 2, x)``."""
    near = np.less(np.abs(x), 1.0)
    far = np.where(near, 1.0, x)
    series = 0.5 * special.hyp1f1(2.0, 3.0, np.where(near, x, 0.0))
    return np.where(near, series, np.exp(far) * (far - 1.0) / (far * far) + 1.0 / (far * far))


@elementwise(special.xlogy, domain="positive", singular=True, silent="logarithm")
def xlogy(x: Any, y: Any) -> Any:
    """``x * log(y)``, 0 where `x` is."""
    return special.xlogy(1.0, y), over_root(x, y)


@elementwise(special.xlog1py, domain="positive", singular=True, silent="logarithm")
def xlog1py(x: Any, y: Any) -> Any:
    """``x * log(1 + y)``, 0 where `x` is."""
    return special.xlog1py(1.0, y), over_root(x, 1.0 + y)


@elementwise(special.entr, domain="positive", singular=True, analytic=False)
def entr(x: Any) -> Any:
    """``-x * log(x)``, 0 at 0."""
    return -special.xlogy(1.0, x) - 1.0


@elementwise(special.rel_entr, domain="positive", singular=True, analytic=False)
def rel_entr(x: Any, y: Any) -> Any:
    """``x * log(x / y)``, 0 where `x` is."""
    return special.xlogy(1.0, ratio(x, y)) + 1.0, -over_root(x, y)


@elementwise(special.kl_div, domain="positive", singular=True, analytic=False)
def kl_div(x: Any, y: Any) -> Any:
    """``x * log(x / y) - x + y``."""
    return special.xlogy(1.0, ratio(x, y)), 1.0 - over_root(x, y)


@elementwise(special.huber, domain="positive", analytic=False)
def huber(delta: Any, r: Any) -> Any:
    """Half the square of `r`, and from `delta` on the line that continues it."""
    return np.maximum(np.abs(r) - delta, 0.0), np.sign(r) * np.minimum(np.abs(r), delta)


@elementwise(special.pseudo_huber, domain="positive", analytic=False)
def pseudo_huber(delta: Any, r: Any) -> Any:
    """Like `huber`, without a corner in its slope."""
    q = ratio(r, delta)
    root = np.sqrt(1.0 + q * q)
    return delta * ratio((root - 1.0) ** 2, root), ratio(r, root)


@elementwise(special.boxcox, domain="positive real", singular=True, analytic=False)
def boxcox(x: Any, lmbda: Any, *, ans: Any) -> Any:
    """``(x ** lmbda - 1) / lmbda``, the logarithm where `lmbda` is 0: ``log(x) * exprel(lmbda * log(x))``."""
    log = special.xlogy(1.0, x)
    u = special.xlogy(lmbda, x)
    near = np.less(np.abs(u), 1.0)
    far = np.where(near, 1.0, lmbda)
    series = 0.5 * log * log * special.hyp1f1(2.0, 3.0, np.where(near, u, 0.0))
    return np.exp(special.xlogy(lmbda - 1.0, x)), np.where(near, series, ratio(log * np.exp(u) - ans, far))


@elementwise(special.boxcox1p, domain="positive real", singular=True, analytic=False)
def boxcox1p(x: Any, lmbda: Any, *, ans: Any) -> Any:
    """`boxcox` of ``1 + x``."""
    log = special.xlog1py(1.0, x)
    u = special.xlog1py(lmbda, x)
    near = np.less(np.abs(u), 1.0)
    far = np.where(near, 1.0, lmbda)
    series = 0.5 * log * log * special.hyp1f1(2.0, 3.0, np.where(near, u, 0.0))
    return np.exp(special.xlog1py(lmbda - 1.0, x)), np.where(near, series, ratio(log * np.exp(u) - ans, far))


@elementwise(special.inv_boxcox, domain="unit unit", singular=True, analytic=False)
def inv_boxcox(y: Any, lmbda: Any, *, ans: Any) -> Any:
    """Inverse of `boxcox`: its slopes are the reciprocal one, and that times the slope by `lmbda` turned round."""
    log = special.xlogy(1.0, ans)
    u = special.xlogy(lmbda, ans)
    near = np.less(np.abs(u), 1.0)
    far = np.where(near, 1.0, lmbda)
    series = 0.5 * log * log * special.hyp1f1(2.0, 3.0, np.where(near, u, 0.0))
    slope = np.exp(special.xlogy(1.0 - lmbda, ans))
    return slope, -slope * np.where(near, series, ratio(log * np.exp(u) - y, far))


@elementwise(special.inv_boxcox1p, domain="unit unit", singular=True, analytic=False)
def inv_boxcox1p(y: Any, lmbda: Any, *, ans: Any) -> Any:
    """Inverse of `boxcox1p`."""
    log = special.xlog1py(1.0, ans)
    u = special.xlog1py(lmbda, ans)
    near = np.less(np.abs(u), 1.0)
    far = np.where(near, 1.0, lmbda)
    series = 0.5 * log * log * special.hyp1f1(2.0, 3.0, np.where(near, u, 0.0))
    slope = np.exp(special.xlog1py(1.0 - lmbda, ans))
    return slope, -slope * np.where(near, series, ratio(log * np.exp(u) - y, far))


# Sums of exponentials along axes, and shares in them.


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
