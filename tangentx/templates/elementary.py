"""Exponentials, logarithms, circular and hyperbolic functions, and their inverses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import tangentx.arrays as support
from tangentx.arrays import lead, quotient, ratio, ratio_or_zero
from tangentx.templates.registry import elementwise, linear

# Exponentials and logarithms.


@elementwise(np.exp, math.exp)
def exp(x: Any, *, ans: Any) -> Any:
    """Exponential; keeps the result, not the argument."""
    return ans


@elementwise(np.exp2, math.exp2)
def exp2(x: Any, *, ans: Any) -> Any:
    """Power of two; keeps the result, not the argument."""
    return 0.6931471805599453 * ans


@elementwise(np.expm1, math.expm1)
def expm1(x: Any, *, ans: Any) -> Any:
    """``exp(x) - 1``; keeps the result, not the argument."""
    return ans + 1.0


@elementwise(np.log, math.log, domain="positive", singular=True)
def log(x: Any) -> Any:
    """Natural logarithm."""
    return quotient(1.0, x)


@elementwise(np.log2, math.log2, domain="positive", singular=True)
def log2(x: Any) -> Any:
    """Logarithm to base 2."""
    return quotient(1.4426950408889634, x)


@elementwise(np.log10, math.log10, domain="positive", singular=True)
def log10(x: Any) -> Any:
    """Logarithm to base 10."""
    return quotient(0.4342944819032518, x)


@elementwise(np.log1p, math.log1p, domain="positive", singular=True)
def log1p(x: Any) -> Any:
    """``log(1 + x)``."""
    return quotient(1.0, 1.0 + x)


@elementwise(np.logaddexp, analytic=False)
def logaddexp(x1: Any, x2: Any) -> Any:
    """``log(exp(x1) + exp(x2))``; the partials are the two shares, written so that equal infinities do no harm."""
    return 0.5 + 0.5 * np.tanh(0.5 * lead(x1, x2)), 0.5 + 0.5 * np.tanh(0.5 * lead(x2, x1))


@elementwise(np.logaddexp2, analytic=False)
def logaddexp2(x1: Any, x2: Any) -> Any:
    """``log2(2 ** x1 + 2 ** x2)``; the partials are the two shares."""
    return (
        0.5 + 0.5 * np.tanh(0.34657359027997264 * lead(x1, x2)),
        0.5 + 0.5 * np.tanh(0.34657359027997264 * lead(x2, x1)),
    )


@elementwise(math.erf, support.erf, analytic=False)
def erf(x: Any) -> Any:
    """Error function."""
    return 1.1283791670955126 * np.exp(-x * x)


@elementwise(math.erfc, analytic=False)
def erfc(x: Any) -> Any:
    """Complement of the error function."""
    return -1.1283791670955126 * np.exp(-x * x)


# Circular and hyperbolic functions and their inverses.


@elementwise(np.sin, math.sin)
def sin(x: Any) -> Any:
    """Sine."""
    return np.cos(x)


@elementwise(np.cos, math.cos)
def cos(x: Any) -> Any:
    """Cosine."""
    return -np.sin(x)


@elementwise(np.tan, math.tan, domain="unit")
def tan(x: Any, *, ans: Any) -> Any:
    """Tangent; keeps the result, not the argument."""
    return 1.0 + ans * ans


@elementwise(np.arcsin, math.asin, domain="unit", singular=True)
def arcsin(x: Any) -> Any:
    """Inverse sine."""
    return ratio(1.0, np.sqrt(1.0 - x * x))


@elementwise(np.arccos, math.acos, domain="unit", singular=True)
def arccos(x: Any) -> Any:
    """Inverse cosine."""
    return ratio(-1.0, np.sqrt(1.0 - x * x))


@elementwise(np.arctan, math.atan, domain="unit")
def arctan(x: Any) -> Any:
    """Inverse tangent."""
    return 1.0 / (1.0 + x * x)


@elementwise(np.arctan2, math.atan2, singular=True, analytic=False)
def arctan2(y: Any, x: Any) -> Any:
    """Angle of the point (x, y); by its distance, whose square may be too large or too small."""
    r = np.hypot(x, y)
    return ratio(ratio(x, r), r), ratio(ratio(-y, r), r)


@elementwise(np.hypot, math.hypot, singular=True, analytic=False)
def hypot(x: Any, y: Any, *, ans: Any) -> Any:
    """Length of the vector (x, y), 0 at 0; keeps the result."""
    return ratio_or_zero(x, ans), ratio_or_zero(y, ans)


@elementwise(np.sinh, math.sinh)
def sinh(x: Any) -> Any:
    """Hyperbolic sine."""
    return np.cosh(x)


@elementwise(np.cosh, math.cosh)
def cosh(x: Any) -> Any:
    """Hyperbolic cosine."""
    return np.sinh(x)


@elementwise(np.tanh, math.tanh, domain="unit")
def tanh(x: Any, *, ans: Any) -> Any:
    """Hyperbolic tangent; keeps the result, not the argument."""
    return 1.0 - ans * ans


@elementwise(np.arcsinh, math.asinh, domain="unit")
def arcsinh(x: Any) -> Any:
    """Inverse hyperbolic sine."""
    return 1.0 / np.sqrt(1.0 + x * x)


@elementwise(np.arccosh, math.acosh, domain="above", singular=True)
def arccosh(x: Any) -> Any:
    """Inverse hyperbolic cosine; written as two roots, whose branches are right for complex arguments."""
    return ratio(1.0, np.sqrt(x - 1.0) * np.sqrt(x + 1.0))


@elementwise(np.arctanh, math.atanh, domain="unit", singular=True)
def arctanh(x: Any) -> Any:
    """Inverse hyperbolic tangent."""
    return ratio(1.0, 1.0 - x * x)


@linear(np.deg2rad, np.radians, math.radians, domain=("x",))
def radians(x: Any, *, ans_bar: Any) -> Any:
    """Degrees to radians."""
    x_bar = np.radians(ans_bar)
    return x_bar


@linear(np.rad2deg, np.degrees, math.degrees, domain=("x",))
def degrees(x: Any, *, ans_bar: Any) -> Any:
    """Radians to degrees."""
    x_bar = np.degrees(ans_bar)
    return x_bar
