"""Circular and hyperbolic functions and their inverses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.arrays import ratio, ratio_or_zero
from tangentx.templates.registry import elementwise, linear


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
