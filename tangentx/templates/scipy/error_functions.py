"""Error functions, the logistic function, and their inverses (DLMF, chapter 7)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from tangentx.arrays import quotient, ratio
from tangentx.templates.registry import elementwise


@elementwise(special.erf)
def erf(x: Any) -> Any:
    """Error function."""
    return 1.1283791670955126 * np.exp(-x * x)


@elementwise(special.erfc)
def erfc(x: Any) -> Any:
    """Complement of the error function."""
    return -1.1283791670955126 * np.exp(-x * x)


@elementwise(special.erfcx, domain="unit")
def erfcx(x: Any, *, ans: Any) -> Any:
    """``exp(x * x) * erfc(x)``; far out, where the two terms of the slope cancel, by its asymptotic series."""
    far = np.greater(np.real(x), 50.0)
    u = ratio(1.0, np.where(far, x, 1.0) ** 2)
    series = -0.5641895835477563 * u * (1.0 - 1.5 * u * (1.0 - 2.5 * u * (1.0 - 3.5 * u)))
    return np.where(far, series, 2.0 * np.where(far, 0.0, x * ans) - 1.1283791670955126)


@elementwise(special.erfi, domain="unit")
def erfi(x: Any) -> Any:
    """Error function of an imaginary argument, divided by i."""
    return 1.1283791670955126 * np.exp(x * x)


@elementwise(special.dawsn, domain="unit")
def dawsn(x: Any, *, ans: Any) -> Any:
    """Dawson's integral; far out, where the two terms of the slope cancel, by its asymptotic series."""
    far = np.greater(np.abs(x), 50.0)
    u = ratio(1.0, np.where(far, x, 1.0) ** 2)
    series = -0.5 * u * (1.0 + 1.5 * u * (1.0 + 2.5 * u * (1.0 + 3.5 * u)))
    return np.where(far, series, 1.0 - 2.0 * np.where(far, 0.0, x * ans))


@elementwise(special.erfinv, domain="unit", singular=True, analytic=False)
def erfinv(y: Any, *, ans: Any) -> Any:
    """Inverse of the error function; keeps the result, not the argument."""
    return 0.886226925452758 * np.exp(ans * ans)


@elementwise(special.erfcinv, domain="positive", singular=True, analytic=False)
def erfcinv(y: Any, *, ans: Any) -> Any:
    """Inverse of the complement of the error function; keeps the result, not the argument."""
    return -0.886226925452758 * np.exp(ans * ans)


@elementwise(special.expit, analytic=False)
def expit(x: Any, *, ans: Any) -> Any:
    """Logistic function; its slope is a product without cancellation at either end."""
    return ans * special.expit(-x)


@elementwise(special.logit, domain="probability", singular=True, analytic=False)
def logit(x: Any) -> Any:
    """Inverse of the logistic function."""
    return quotient(1.0, x * (1.0 - x))


@elementwise(special.log_expit, analytic=False)
def log_expit(x: Any) -> Any:
    """Logarithm of the logistic function."""
    return special.expit(-x)
