"""The normal distribution between two bounds, by logarithms of its mass on one side of the middle.

Bounds that are none, and what is no scale, give nan, as in SciPy. A point outside of the support is moved inside before
a formula is asked, so that what is not selected neither warns nor has a derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from tangentx.arrays import within
from tangentx.templates.compositions import composition

_FAR = 1e10
"""In the place of a bound that is infinite: nothing is beyond it, and its density is exactly 0."""


def _log_mass(a: Any, b: Any) -> Any:
    """Logarithm of the mass of the standard normal distribution between two points, ``a <= b``."""
    mirrored = a > 0.0
    low, high = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
    high = np.where(high > _FAR, _FAR, high)
    low = np.where(low < -_FAR, np.minimum(-_FAR, 2.0 * high), low)
    tail = high <= 0.0
    wide = np.log1p(-special.ndtr(np.where(tail, -1.0, low)) - special.ndtr(-np.where(tail, 1.0, high)))
    top, bottom = special.log_ndtr(np.where(tail, high, 0.0)), special.log_ndtr(np.where(tail, low, -1.0))
    return np.where(tail, top + np.log1p(-np.exp(bottom - top)), wide)


def _bounds(a: Any, b: Any) -> Any:
    """The bounds, nan where they are none."""
    known = a < b
    return np.where(known, a, np.nan), np.where(known, b, np.nan)


def _placed(x: Any, a: Any, b: Any, loc: Any, scale: Any) -> Any:
    """Where a point is below or above the bounds, the point, inside, and the bounds."""
    scale = np.where(np.greater(scale, 0.0), scale, np.nan)
    low, high = _bounds(a, b)
    z = (x - loc) / scale + 0.0 * np.where(np.isinf(low), 0.0, low) + 0.0 * np.where(np.isinf(high), 0.0, high)
    below, above = z <= low, z >= high
    middle = np.where(
        np.isinf(low),
        np.where(np.isinf(high), 0.0, high - 1.0),
        np.where(np.isinf(high), low + 1.0, 0.5 * (low + high)),
    )
    return below, above, np.where(below | above, middle, z), low, high


@composition(
    stats.truncnorm.logpdf,
    double=True,
    domain=("0.5 * U(3), -1.1, 1.2, 0.1, y", "0.5 * U(3), -1.1 - P(3), np.inf", "2.0 + P(3), 1.1, 5.0"),
)
def truncnorm_logpdf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the normal distribution between two bounds."""
    z = (x - loc) / np.where(np.greater(scale, 0.0), scale, np.nan)
    low, high = _bounds(a, b)
    outside = (z < low) | (z > high)
    found = -0.5 * z * z - 0.9189385332046727 - _log_mass(low, high)
    return np.where(outside, -np.inf, found - np.log(scale))[()]


@composition(stats.truncnorm.pdf, double=True, domain=())
def truncnorm_pdf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the normal distribution between two bounds."""
    return np.exp(stats.truncnorm.logpdf(x, a, b, loc, scale))


@composition(stats.truncnorm.logcdf, double=True, domain=("0.5 * U(3), -1.1, 1.2, 0.1, y", "2.0 + P(3), 1.1, 5.0"))
def truncnorm_logcdf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the normal distribution between two bounds."""
    below, above, z, low, high = _placed(x, a, b, loc, scale)
    found = _log_mass(low, z) - _log_mass(low, high)
    return np.where(below, -np.inf, np.where(above, 0.0, found))[()]


@composition(stats.truncnorm.logsf, double=True, domain=("0.5 * U(3), -1.1, 1.2, 0.1, y",))
def truncnorm_logsf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the normal distribution between two bounds."""
    below, above, z, low, high = _placed(x, a, b, loc, scale)
    found = _log_mass(z, high) - _log_mass(low, high)
    return np.where(above, -np.inf, np.where(below, 0.0, found))[()]


@composition(stats.truncnorm.cdf, double=True, domain=("0.5 * U(3), -1.1, 1.2, 0.1, y", "2.0 + P(3), 1.1, np.inf"))
def truncnorm_cdf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the normal distribution between two bounds."""
    return np.exp(stats.truncnorm.logcdf(x, a, b, loc, scale))


@composition(stats.truncnorm.sf, double=True, domain=())
def truncnorm_sf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the normal distribution between two bounds."""
    return np.exp(stats.truncnorm.logsf(x, a, b, loc, scale))


@composition(
    stats.truncnorm.ppf, double=True, domain=("0.2 + 0.3 * P(3), -1.1, 1.2, 0.1, y", "0.2 + 0.3 * P(3), 0.4, 1.2")
)
def truncnorm_ppf(q: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the normal distribution between two bounds, by logarithms of the mass on one side."""
    scale = np.where(np.greater(scale, 0.0), scale, np.nan)
    q = within(q, 0.0, 1.0)
    low, high = _bounds(a, b)
    first, last = q == 0.0, q == 1.0
    share = np.where(first | last, 0.5, q)
    left = low < 0.0
    near = np.where(left, low, -high)
    known = special.log_ndtr(np.where(near < -_FAR, -_FAR, near))
    part = np.log(np.where(left, share, 1.0 - share)) + _log_mass(low, high)
    z = np.where(left, 1.0, -1.0) * special.ndtri_exp(np.logaddexp(known, part))
    return (np.where(first, low, np.where(last, high, z)) * scale + loc)[()]


@composition(stats.truncnorm.isf, double=True, domain=())
def truncnorm_isf(q: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function between two bounds: the quantile of what is mirrored."""
    return 2.0 * loc - stats.truncnorm.ppf(q, -np.asarray(b), -np.asarray(a), loc, scale)


def _densities(a: Any, b: Any) -> Any:
    """The densities at both bounds, and what they are times the bounds."""
    mass = _log_mass(a, b)
    low, high = np.where(np.isinf(a), 0.0, a), np.where(np.isinf(b), 0.0, b)
    at_low = np.where(np.isinf(a), 0.0, np.exp(-0.5 * low * low - 0.9189385332046727 - mass))
    at_high = np.where(np.isinf(b), 0.0, np.exp(-0.5 * high * high - 0.9189385332046727 - mass))
    return at_low, at_high, low * at_low - high * at_high


@composition(stats.truncnorm.mean, double=True, domain=("-1.1, 1.2, 0.1, y",))
def truncnorm_mean(a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Mean of the normal distribution between two bounds."""
    low, high = _bounds(a, b)
    at_low, at_high, _ = _densities(low, high)
    return ((at_low - at_high) * np.where(np.greater(scale, 0.0), scale, np.nan) + loc)[()]


@composition(stats.truncnorm.var, double=True, domain=("-1.1, 1.2, 0.1, y",))
def truncnorm_var(a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Variance of the normal distribution between two bounds."""
    low, high = _bounds(a, b)
    at_low, at_high, moved = _densities(low, high)
    scale = np.where(np.greater(scale, 0.0), scale, np.nan)
    return ((1.0 + moved - (at_low - at_high) ** 2) * scale * scale + 0.0 * loc)[()]


@composition(stats.truncnorm.std, double=True, domain=())
def truncnorm_std(a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Standard deviation of the normal distribution between two bounds."""
    return np.sqrt(stats.truncnorm.var(a, b, loc, scale))


@composition(stats.truncnorm.entropy, double=True, domain=("-1.1, 1.2, 0.1, y",))
def truncnorm_entropy(a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Entropy of the normal distribution between two bounds."""
    low, high = _bounds(a, b)
    _, _, moved = _densities(low, high)
    scale = np.where(np.greater(scale, 0.0), scale, np.nan)
    return (1.4189385332046727 + _log_mass(low, high) + 0.5 * moved + np.log(scale) + 0.0 * loc)[()]
