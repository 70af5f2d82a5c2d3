"""Gamma, Bessel and sinc functions, and what tells the steps between floats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.arrays import bessel_i, guarded, normal_quantile, polygamma, sinc_slope
from tangentx.templates.registry import adjoint, elementwise


@elementwise(math.gamma, domain="positive", analytic=False)
def gamma(x: Any, *, ans: Any) -> Any:
    """Gamma function."""
    return ans * polygamma(x)


@elementwise(math.lgamma, domain="positive", analytic=False)
def lgamma(x: Any) -> Any:
    """Logarithm of the size of the gamma function."""
    return polygamma(x)


@elementwise(normal_quantile, domain="probability", analytic=False)
def normal_quantile_(p: Any, *, ans: Any) -> Any:
    """Inverse of the distribution function of the standard normal distribution."""
    return 2.5066282746310002 * np.exp(0.5 * ans * ans)


@adjoint(polygamma, domain=("x", "P(3), 1", "-1.5 * x, 2"), singular=True)
def polygamma_(x: Any, order: Any = 0, *, ans_bar: Any) -> Any:
    """Derivatives of the digamma function."""
    x_bar = guarded(polygamma(x, order + 1), ans_bar)
    return x_bar


@polygamma_.tangent
def polygamma_tangent(x: Any, order: Any = 0, *, x_dot: Any) -> Any:
    """Its next derivative."""
    ans_dot = guarded(polygamma(x, order + 1), x_dot)
    return ans_dot


@elementwise(np.i0, analytic=False)
def i0(x: Any) -> Any:
    """Modified Bessel function of the first kind and order 0."""
    return bessel_i(x, 1)


@adjoint(bessel_i, domain=("A(3), 1", "x, 2"))
def bessel_i_(x: Any, order: Any = 0, *, ans_bar: Any) -> Any:
    """Modified Bessel function of the first kind: the mean of its neighbours."""
    x_bar = guarded(0.5 * (bessel_i(x, order - 1) + bessel_i(x, order + 1)), ans_bar)
    return x_bar


@bessel_i_.tangent
def bessel_i_tangent(x: Any, order: Any = 0, *, x_dot: Any) -> Any:
    """The same mean."""
    ans_dot = guarded(0.5 * (bessel_i(x, order - 1) + bessel_i(x, order + 1)), x_dot)
    return ans_dot


@elementwise(np.sinc)
def sinc(x: Any) -> Any:
    """``sin(pi * x) / (pi * x)``, 1 at 0."""
    return sinc_slope(x)


@adjoint(sinc_slope, domain=("A(3)", "x, 2"))
def sinc_slope_(x: Any, order: Any = 1, *, ans_bar: Any) -> Any:
    """Derivatives of sinc."""
    x_bar = guarded(sinc_slope(x, order + 1), ans_bar)
    return x_bar


@sinc_slope_.tangent
def sinc_slope_tangent(x: Any, order: Any = 1, *, x_dot: Any) -> Any:
    """Its next derivative."""
    ans_dot = guarded(sinc_slope(x, order + 1), x_dot)
    return ans_dot


@elementwise(np.heaviside, analytic=False)
def heaviside(x1: Any, x2: Any) -> Any:
    """A step; where `x1` is 0 it is `x2`."""
    return None, 1.0 * np.equal(x1, 0.0)


@elementwise(np.nextafter, math.nextafter, analytic=False)
def nextafter(x: Any, y: Any) -> Any:
    """The next float towards `y`."""
    return 1.0, None
