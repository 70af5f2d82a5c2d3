"""Continuous distributions that are the same from both ends.

What is no shape or scale gives nan, as in SciPy. A point outside of the support is moved inside before a formula is
asked, so that what is not selected neither warns nor has a derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from tangentx.arrays import positive, positive_with, within
from tangentx.templates.compositions import composition


@composition(stats.norm.logpdf, double=True, domain=("0.5 + P(3), 0.1, y",))
def norm_logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the normal distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return -0.5 * z * z - 0.9189385332046727 - np.log(scale)


@composition(stats.norm.pdf, double=True, domain=())
def norm_pdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the normal distribution."""
    return np.exp(stats.norm.logpdf(x, loc, scale))


@composition(stats.norm.cdf, double=True, domain=("0.5 + P(3), 0.1, y",))
def norm_cdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the normal distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return special.ndtr(z)


@composition(stats.norm.sf, double=True, domain=())
def norm_sf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the normal distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return special.ndtr(-z)


@composition(stats.norm.logcdf, double=True, domain=())
def norm_logcdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the normal distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return special.log_ndtr(z)


@composition(stats.norm.logsf, double=True, domain=())
def norm_logsf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the normal distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return special.log_ndtr(-z)


@composition(stats.norm.ppf, double=True, domain=())
def norm_ppf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the normal distribution."""
    scale = positive(scale)
    q = within(q, 0.0, 1.0)
    return special.ndtri(q) * scale + loc


@composition(stats.norm.isf, double=True, domain=())
def norm_isf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of the normal distribution."""
    scale = positive(scale)
    q = within(q, 0.0, 1.0)
    return -special.ndtri(q) * scale + loc


@composition(stats.norm.mean, double=True, domain=())
def norm_mean(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Mean of the normal distribution."""
    scale = positive(scale)
    return loc + 0.0 * scale


@composition(stats.norm.var, double=True, domain=())
def norm_var(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Variance of the normal distribution."""
    scale = positive(scale)
    return 1.0 * scale * scale


@composition(stats.norm.std, double=True, domain=())
def norm_std(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Standard deviation of the normal distribution."""
    return np.sqrt(stats.norm.var(loc, scale))


@composition(stats.norm.entropy, double=True, domain=())
def norm_entropy(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Entropy of the normal distribution."""
    scale = positive(scale)
    return 1.4189385332046727 + np.log(scale)


@composition(stats.logistic.logpdf, double=True, domain=("0.5 + P(3), 0.1, y",))
def logistic_logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the logistic distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return special.log_expit(z) + special.log_expit(-z) - np.log(scale)


@composition(stats.logistic.pdf, double=True, domain=())
def logistic_pdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the logistic distribution."""
    return np.exp(stats.logistic.logpdf(x, loc, scale))


@composition(stats.logistic.cdf, double=True, domain=("0.5 + P(3), 0.1, y",))
def logistic_cdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the logistic distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return special.expit(z)


@composition(stats.logistic.sf, double=True, domain=())
def logistic_sf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the logistic distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return special.expit(-z)


@composition(stats.logistic.logcdf, double=True, domain=())
def logistic_logcdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the logistic distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return special.log_expit(z)


@composition(stats.logistic.logsf, double=True, domain=())
def logistic_logsf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the logistic distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return special.log_expit(-z)


@composition(stats.logistic.ppf, double=True, domain=())
def logistic_ppf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the logistic distribution."""
    scale = positive(scale)
    q = within(q, 0.0, 1.0)
    return special.logit(q) * scale + loc


@composition(stats.logistic.isf, double=True, domain=())
def logistic_isf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of the logistic distribution."""
    scale = positive(scale)
    q = within(q, 0.0, 1.0)
    return -special.logit(q) * scale + loc


@composition(stats.logistic.mean, double=True, domain=())
def logistic_mean(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Mean of the logistic distribution."""
    scale = positive(scale)
    return loc + 0.0 * scale


@composition(stats.logistic.var, double=True, domain=())
def logistic_var(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Variance of the logistic distribution."""
    scale = positive(scale)
    return 3.289868133696453 * scale * scale


@composition(stats.logistic.std, double=True, domain=())
def logistic_std(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Standard deviation of the logistic distribution."""
    return np.sqrt(stats.logistic.var(loc, scale))


@composition(stats.logistic.entropy, double=True, domain=())
def logistic_entropy(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Entropy of the logistic distribution."""
    scale = positive(scale)
    return 2.0 + np.log(scale)


@composition(stats.laplace.logpdf, double=True, domain=("0.5 + P(3), 0.1, y",))
def laplace_logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the Laplace distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return -np.abs(z) - 0.6931471805599453 - np.log(scale)


@composition(stats.laplace.pdf, double=True, domain=())
def laplace_pdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the Laplace distribution."""
    return np.exp(stats.laplace.logpdf(x, loc, scale))


@composition(stats.laplace.cdf, double=True, domain=("0.5 + P(3), 0.1, y",))
def laplace_cdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the Laplace distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return np.where(z > 0.0, 1.0 - 0.5 * np.exp(-np.abs(z)), 0.5 * np.exp(-np.abs(z)))[()]


@composition(stats.laplace.sf, double=True, domain=())
def laplace_sf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the Laplace distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return np.where(z > 0.0, 0.5 * np.exp(-np.abs(z)), 1.0 - 0.5 * np.exp(-np.abs(z)))[()]


@composition(stats.laplace.logcdf, double=True, domain=())
def laplace_logcdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the Laplace distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return np.where(z > 0.0, np.log1p(-0.5 * np.exp(-np.abs(z))), z - 0.6931471805599453)[()]


@composition(stats.laplace.logsf, double=True, domain=())
def laplace_logsf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the Laplace distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return np.where(z > 0.0, -z - 0.6931471805599453, np.log1p(-0.5 * np.exp(-np.abs(z))))[()]


@composition(stats.laplace.ppf, double=True, domain=())
def laplace_ppf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the Laplace distribution."""
    scale = positive(scale)
    q = within(q, 0.0, 1.0)
    return np.where(q > 0.5, -special.xlogy(1.0, 2.0 * (1.0 - q)), special.xlogy(1.0, 2.0 * q))[()] * scale + loc


@composition(stats.laplace.isf, double=True, domain=())
def laplace_isf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of the Laplace distribution."""
    scale = positive(scale)
    q = within(q, 0.0, 1.0)
    return np.where(q > 0.5, special.xlogy(1.0, 2.0 * (1.0 - q)), -special.xlogy(1.0, 2.0 * q))[()] * scale + loc


@composition(stats.laplace.mean, double=True, domain=())
def laplace_mean(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Mean of the Laplace distribution."""
    scale = positive(scale)
    return loc + 0.0 * scale


@composition(stats.laplace.var, double=True, domain=())
def laplace_var(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Variance of the Laplace distribution."""
    scale = positive(scale)
    return 2.0 * scale * scale


@composition(stats.laplace.std, double=True, domain=())
def laplace_std(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Standard deviation of the Laplace distribution."""
    return np.sqrt(stats.laplace.var(loc, scale))


@composition(stats.laplace.entropy, double=True, domain=())
def laplace_entropy(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Entropy of the Laplace distribution."""
    scale = positive(scale)
    return 1.6931471805599454 + np.log(scale)


@composition(stats.cauchy.logpdf, double=True, domain=("0.5 + P(3), 0.1, y",))
def cauchy_logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the Cauchy distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return -np.log1p(z * z) - 1.1447298858494002 - np.log(scale)


@composition(stats.cauchy.pdf, double=True, domain=())
def cauchy_pdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the Cauchy distribution."""
    return np.exp(stats.cauchy.logpdf(x, loc, scale))


@composition(stats.cauchy.cdf, double=True, domain=("0.5 + P(3), 0.1, y",))
def cauchy_cdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the Cauchy distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return np.arctan2(1.0, -z) * 0.3183098861837907


@composition(stats.cauchy.sf, double=True, domain=())
def cauchy_sf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the Cauchy distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return np.arctan2(1.0, z) * 0.3183098861837907


@composition(stats.cauchy.logcdf, double=True, domain=())
def cauchy_logcdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the Cauchy distribution."""
    found = stats.cauchy.cdf(x, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.cauchy.logsf, double=True, domain=())
def cauchy_logsf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the Cauchy distribution."""
    found = stats.cauchy.sf(x, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.cauchy.ppf, double=True, domain=())
def cauchy_ppf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the Cauchy distribution."""
    scale = positive(scale)
    q = within(q, 0.0, 1.0)
    return np.tan(3.141592653589793 * q - 1.5707963267948966) * scale + loc


@composition(stats.cauchy.isf, double=True, domain=())
def cauchy_isf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of the Cauchy distribution."""
    scale = positive(scale)
    q = within(q, 0.0, 1.0)
    return -np.tan(3.141592653589793 * q - 1.5707963267948966) * scale + loc


@composition(stats.cauchy.entropy, double=True, domain=())
def cauchy_entropy(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Entropy of the Cauchy distribution."""
    scale = positive(scale)
    return 2.5310242469692907 + np.log(scale)


@composition(stats.t.logpdf, double=True, domain=("0.5 + P(3), 1.0 + P(3), 0.1, y",))
def t_logpdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the Student's t distribution."""
    scale = positive_with(scale, df)
    z = (x - loc) / scale
    return -0.5 * (df + 1.0) * np.log1p(z * z / df) - special.betaln(0.5 * df, 0.5) - 0.5 * np.log(df) - np.log(scale)


@composition(stats.t.pdf, double=True, domain=())
def t_pdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the Student's t distribution."""
    return np.exp(stats.t.logpdf(x, df, loc, scale))


@composition(stats.t.cdf, double=True, domain=("0.5 + P(3), df=2.5, loc=0.1, scale=y",))
def t_cdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the Student's t distribution."""
    scale = positive_with(scale, df)
    z = (x - loc) / scale
    return special.stdtr(df, z)


@composition(stats.t.sf, double=True, domain=())
def t_sf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the Student's t distribution."""
    scale = positive_with(scale, df)
    z = (x - loc) / scale
    return special.stdtr(df, -z)


@composition(stats.t.logcdf, double=True, domain=())
def t_logcdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the Student's t distribution."""
    found = stats.t.cdf(x, df, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.t.logsf, double=True, domain=())
def t_logsf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the Student's t distribution."""
    found = stats.t.sf(x, df, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.t.ppf, double=True, domain=())
def t_ppf(q: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the Student's t distribution."""
    scale = positive_with(scale, df)
    q = within(q, 0.0, 1.0)
    return np.where(q <= 0.0, -np.inf, special.stdtrit(df, q))[()] * scale + loc


@composition(stats.t.isf, double=True, domain=())
def t_isf(q: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of the Student's t distribution."""
    scale = positive_with(scale, df)
    q = within(q, 0.0, 1.0)
    return -np.where(q <= 0.0, -np.inf, special.stdtrit(df, q))[()] * scale + loc
