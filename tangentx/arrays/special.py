"""Special functions that derivatives need and NumPy lacks, and the domains of those that it has."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.arrays.copies import clone
from tangentx.arrays.libraries import is_elsewhere, library_of
from tangentx.common.float_events import under_events

# Special functions that derivatives need and NumPy lacks: polygamma, modified Bessel functions.
#
# Formulas: NIST Digital Library of Mathematical Functions, 5.11 and 5.15 (polygamma), 10.25, 10.29 and 10.40 (Bessel).

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
"""The Bernoulli numbers of index 2, 4, 6 ..."""


def polygamma(x: Any, order: int = 0) -> Any:
    """The derivative of that order of the digamma function, the logarithmic derivative of gamma; nan at its poles."""
    if np.ndim(x) == 0:
        value = _polygamma(float(x), order)
        return np.asarray(value) if isinstance(x, np.ndarray) else value
    flat = [_polygamma(float(value), order) for value in np.ravel(x)]
    return np.array(flat, np.result_type(x, np.float16)).reshape(np.shape(x))


def _polygamma(x: float, order: int) -> float:
    if not -math.inf < x < math.inf or (x <= 0.0 and x == math.floor(x)):
        return (math.inf if order == 0 else 0.0) if x == math.inf else math.nan
    sign = -1.0 if order % 2 else 1.0
    if x < 0.0:  # reflection
        return sign * _polygamma(1.0 - x, order) - _cotangent(x, order)
    factorial, total = math.factorial(order), 0.0
    while x < 15.0 + order:
        total -= sign * factorial * (1.0 / x) ** (order + 1)
        x += 1.0
    small = 1.0 / x
    if order == 0:
        tail = sum(b / (2 * k) * small ** (2 * k) for k, b in enumerate(_BERNOULLI, 1))
        return total + math.log(x) - 0.5 * small - tail
    tail = math.factorial(order - 1) * small**order + 0.5 * factorial * small ** (order + 1)
    for k, b in enumerate(_BERNOULLI, 1):
        tail += b * math.factorial(2 * k + order - 1) / math.factorial(2 * k) * small ** (2 * k + order)
    return total - sign * tail


def _cotangent(x: float, order: int) -> float:
    """The derivative of that order of pi times the cotangent of ``pi * x``, a polynomial in the cotangent."""
    coefficients = np.array([0.0, math.pi])
    for _ in range(order):
        coefficients = -math.pi * np.convolve([1.0, 0.0, 1.0], np.polynomial.polynomial.polyder(coefficients))
    return float(np.polynomial.polynomial.polyval(1.0 / math.tan(math.pi * (x - round(x))), coefficients))


def bessel_i(x: Any, order: int = 0) -> Any:
    """The modified Bessel function of the first kind, of whole order."""
    order = abs(int(order))
    z = np.asarray(x, np.result_type(np.asarray(x), np.float16))
    size = np.abs(z)
    near = size <= 30.0 + order**2

    def both() -> Any:
        return np.where(near, _series(np.where(near, size, 0.0), order), _far(np.where(near, 1e9, size), order))

    found = under_events(both, over="ignore", invalid="ignore")
    if order % 2:
        found = np.where(z < 0, -found, found)
    found = found.astype(z.dtype)
    return found if isinstance(x, np.ndarray) else found[()]


def _series(z: Any, order: int) -> Any:
    """The power series, all of whose terms are positive."""
    term = (0.5 * z) ** order / math.factorial(order)
    total = term
    square, k = 0.25 * z * z, 0
    while np.any(term > 1e-17 * total):
        k += 1
        term = term * square / (k * (k + order))
        total = total + term
    return total


def _far(z: Any, order: int) -> Any:
    """The expansion for large arguments."""
    term, total = 1.0, np.ones(np.shape(z))
    for k in range(1, 30):
        term = -term * (4.0 * order**2 - (2.0 * k - 1.0) ** 2) / (8.0 * k * z)
        total = total + term
    return np.exp(z) / np.sqrt(2.0 * math.pi * z) * total


def sinc_slope(x: Any, order: int = 1) -> Any:
    """The derivative of that order of ``np.sinc``: of ``sin(z) / z`` at ``z = pi * x``, times a power of pi.

    From ``z * S = sin(z)`` follows ``z * S[n] + n * S[n-1] = sin(z + n * pi / 2)``; near 0 the power series is right.
    """
    dtype = np.result_type(np.asarray(x), np.float16)
    z = math.pi * np.asarray(x, np.result_type(dtype, np.float64))
    near = np.abs(z) <= 1.0 + 2.0 * order
    far = np.where(near, 1.0, z)
    found = np.sin(far) / far
    for n in range(1, order + 1):
        found = (np.sin(far + 0.5 * math.pi * n) - n * found) / far
    close, total = np.where(near, z, 0.0), np.zeros_like(z)
    for k in range(-(-order // 2), 40 + 3 * order):
        power = 2 * k - order
        total = total + (-1.0) ** k / (2 * k + 1) / math.factorial(power) * close**power
    found = (math.pi**order * np.where(near, total, found)).astype(dtype)
    return found if isinstance(x, np.ndarray) else found[()]


def normal_quantile(p: Any) -> Any:
    """Where the distribution function of the standard normal distribution is `p`, as the module `statistics` finds it;
    nan where that is nowhere.

    >>> normal_quantile(0.5)
    0.0
    """
    if np.ndim(p) == 0:
        value = _normal_quantile(float(p))
        return np.asarray(value) if isinstance(p, np.ndarray) else value
    flat = [_normal_quantile(float(each)) for each in np.ravel(p)]
    return np.array(flat, np.result_type(p, np.float16)).reshape(np.shape(p))


def _normal_quantile(p: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(p) if 0.0 < p < 1.0 else math.nan


# The error function of arrays, without SciPy.

_each = np.frompyfunc(math.erf, 1, 1)


def erf(x: Any) -> Any:
    """``2 / sqrt(pi)`` times the integral of ``exp(-t²)`` from 0 to x: Python's, element by element."""
    record = getattr(type(x), "__tangentx_record__", None)
    if record is not None:  # a Tensor
        return record(erf, (x,))
    if is_elsewhere(x):
        return library_of(x).special.erf(x)
    if isinstance(x, np.ndarray):
        kind = x.dtype if x.dtype.kind == "f" else float
        return np.asarray(_each(x), kind)
    return type(x)(math.erf(x)) if isinstance(x, np.floating) else math.erf(x)


# Replaces numbers outside a function's domain by nan, as the function itself would.


def positive(x: Any) -> Any:
    """`x`, nan where it is not above 0: scales and shapes of distributions."""
    return _kept(x, np.greater(x, 0.0))


def positive_with(x: Any, shape: Any) -> Any:
    """`x`, nan where it or `shape` is not above 0: the scale of a distribution that has this shape."""
    return np.where(np.greater(x, 0.0) & np.greater(shape, 0.0), x, np.nan)[()]


def within(x: Any, low: Any, high: Any) -> Any:
    """`x`, nan where it is not between the two: probabilities."""
    return _kept(x, np.greater_equal(x, low) & np.less_equal(x, high))


def _kept(x: Any, inside: Any) -> Any:
    """The numbers inside, in memory of their own: a result that is sometimes its argument would be a view of it."""
    if np.all(inside):
        return clone(x)
    found = np.where(inside, x, np.nan)
    return found if np.ndim(found) else found.dtype.type(found) if isinstance(x, np.generic) else float(found)
