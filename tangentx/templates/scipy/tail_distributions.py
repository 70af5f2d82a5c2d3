"""Distributions of extremes, and the normal distribution between two bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from tangentx.arrays import positive, within
from tangentx.templates.compositions import composition

# Distributions of extremes: of the largest of many (`genextreme`), and of what is above a threshold (`genpareto`).
#
# Both are made of ``log1p(c * z) / c``, which is `z` where the shape `c` is 0. What is no scale gives nan, as in
# SciPy. A point outside of the support is moved inside before a formula is asked, so that what is not selected
# neither warns nor has a derivative.


def _exponent(c: Any, z: Any) -> Any:
    """``log1p(c * z) / c``, with all digits around 0 too: ``z * hyp2f1(1, 1, 2, -c * z)``."""
    near = np.abs(c * z) < 0.5
    series = z * special.hyp2f1(1.0, 1.0, 2.0, -np.where(near, c * z, 0.0))
    return np.where(near, series, np.log1p(np.where(near, 1.0, c * z)) / np.where(near, 1.0, c))


def _extreme(x: Any, c: Any, loc: Any, scale: Any) -> Any:
    """Where a point is below or above the support, and ``log1p(-c * z) / c`` where it is neither."""
    z = (x - loc) / positive(scale) + 0.0 * c
    outside = c * z >= 1.0
    below, above = (outside & (c < 0.0)) | (z == -np.inf), (outside & (c > 0.0)) | (z == np.inf)
    return below, above, -_exponent(-c, np.where(below | above, 0.0, z))


@composition(
    stats.genextreme.logpdf, double=True, domain=("P(3), 0.2, 0.1, y", "P(3), -0.3 * P(3), 0.1, y", "P(3), 0.0")
)
def genextreme_logpdf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the distribution of extreme values."""
    below, above, t = _extreme(x, c, loc, scale)
    return np.where(below | above, -np.inf, t - c * t - np.exp(t) - np.log(positive(scale)))[()]


@composition(stats.genextreme.pdf, double=True, domain=())
def genextreme_pdf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the distribution of extreme values."""
    return np.exp(stats.genextreme.logpdf(x, c, loc, scale))


@composition(stats.genextreme.logcdf, double=True, domain=("P(3), 0.2, 0.1, y",))
def genextreme_logcdf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of extreme values."""
    below, above, t = _extreme(x, c, loc, scale)
    return np.where(below, -np.inf, np.where(above, 0.0, -np.exp(t)))[()]


@composition(stats.genextreme.cdf, double=True, domain=("P(3), -0.2, 0.1, y",))
def genextreme_cdf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of extreme values."""
    return np.exp(stats.genextreme.logcdf(x, c, loc, scale))


@composition(stats.genextreme.sf, double=True, domain=())
def genextreme_sf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of extreme values."""
    return -np.expm1(stats.genextreme.logcdf(x, c, loc, scale))


@composition(stats.genextreme.logsf, double=True, domain=())
def genextreme_logsf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of extreme values."""
    found = stats.genextreme.sf(x, c, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.genextreme.ppf, double=True, domain=("0.2 + 0.3 * P(3), 0.2, 0.1, y",))
def genextreme_ppf(q: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of extreme values."""
    return -special.boxcox(-special.xlogy(1.0, within(q, 0.0, 1.0)), c) * positive(scale) + loc


@composition(stats.genextreme.isf, double=True, domain=("0.2 + 0.3 * P(3), 0.2, 0.1, y",))
def genextreme_isf(q: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of extreme values."""
    return -special.boxcox(-special.xlog1py(1.0, -within(q, 0.0, 1.0)), c) * positive(scale) + loc


@composition(stats.genextreme.entropy, double=True, domain=())
def genextreme_entropy(c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Entropy of the distribution of extreme values."""
    return 1.0 + 0.5772156649015329 * (1.0 - c) + np.log(positive(scale))


def _above(x: Any, c: Any, loc: Any, scale: Any) -> Any:
    """Where a point is below or above the support, and ``log1p(c * z) / c`` where it is neither."""
    z = (x - loc) / positive(scale) + 0.0 * c
    below, above = z < 0.0, (c * z <= -1.0) | (z == np.inf)
    return below, above & ~below, _exponent(c, np.where(below | above, 0.0, z))


@composition(
    stats.genpareto.logpdf, double=True, domain=("0.2 + P(3), 0.2, 0.1, y", "0.2 + P(3), -0.3 * P(3)", "P(3), 0.0")
)
def genpareto_logpdf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of what is above a threshold."""
    below, above, t = _above(x, c, loc, scale)
    high = np.log(positive(scale))
    at_end = (c * (x - loc) == -scale) & (c <= -1.0)  # where the density ends by a step
    edge = np.where(at_end, np.where(c == -1.0, -high, np.inf), -np.inf)
    return np.where(below | above, edge, -(1.0 + c) * t - high)[()]


@composition(stats.genpareto.pdf, double=True, domain=())
def genpareto_pdf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of what is above a threshold."""
    return np.exp(stats.genpareto.logpdf(x, c, loc, scale))


@composition(stats.genpareto.logsf, double=True, domain=("0.2 + P(3), -0.2, 0.1, y",))
def genpareto_logsf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of what is above a threshold."""
    below, above, t = _above(x, c, loc, scale)
    return np.where(above, -np.inf, np.where(below, 0.0, -t))[()]


@composition(stats.genpareto.sf, double=True, domain=())
def genpareto_sf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of what is above a threshold."""
    return np.exp(stats.genpareto.logsf(x, c, loc, scale))


@composition(stats.genpareto.cdf, double=True, domain=("0.2 + P(3), 0.2, 0.1, y",))
def genpareto_cdf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of what is above a threshold."""
    return -np.expm1(stats.genpareto.logsf(x, c, loc, scale))


@composition(stats.genpareto.logcdf, double=True, domain=())
def genpareto_logcdf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of what is above a threshold."""
    found = stats.genpareto.cdf(x, c, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.genpareto.ppf, double=True, domain=("0.2 + 0.3 * P(3), 0.2, 0.1, y",))
def genpareto_ppf(q: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of what is above a threshold."""
    return -special.boxcox1p(-within(q, 0.0, 1.0), -c) * positive(scale) + loc


@composition(stats.genpareto.isf, double=True, domain=())
def genpareto_isf(q: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of what is above a threshold."""
    return -special.boxcox(within(q, 0.0, 1.0), -c) * positive(scale) + loc


@composition(stats.genpareto.entropy, double=True, domain=())
def genpareto_entropy(c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Entropy of the distribution of what is above a threshold."""
    return 1.0 + c + np.log(positive(scale))


# The normal distribution between two bounds, by logarithms of its mass on one side of the middle.
#
# Bounds that are none, and what is no scale, give nan, as in SciPy. A point outside of the support is moved inside
# before a formula is asked, so that what is not selected neither warns nor has a derivative.

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
