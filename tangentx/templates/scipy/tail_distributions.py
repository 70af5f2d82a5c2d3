"""Distributions of extremes: of the largest of many (`genextreme`), and of what is above a threshold (`genpareto`).

Both are made of ``log1p(c * z) / c``, which is `z` where the shape `c` is 0. What is no scale gives nan, as in SciPy. A
point outside of the support is moved inside before a formula is asked, so that what is not selected neither warns nor
has a derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from tangentx.arrays import positive, within
from tangentx.templates.compositions import composition


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
