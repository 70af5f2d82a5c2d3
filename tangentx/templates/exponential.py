"""Exponentials and logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import tangentx.arrays as support
from tangentx.arrays import lead, quotient
from tangentx.templates.registry import elementwise


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
