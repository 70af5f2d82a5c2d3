"""Continuous distributions that begin somewhere: of waiting times.

What is no shape or scale gives nan, as in SciPy. A point outside of the support is moved inside before a formula is
asked, so that what is not selected neither warns nor has a derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from tangentx.arrays import positive, positive_with, within
from tangentx.templates.compositions import composition


@composition(stats.expon.logpdf, double=True, domain=("0.5 + P(3), loc=0.1, scale=y",))
def expon_logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the exponential distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    outside = z < 0.0
    z = np.where(outside, 1.0, z)
    found = -z
    return np.where(outside, -np.inf, found - np.log(scale))[()]


@composition(stats.expon.pdf, double=True, domain=())
def expon_pdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the exponential distribution."""
    return np.exp(stats.expon.logpdf(x, loc, scale))


@composition(stats.expon.cdf, double=True, domain=("0.5 + P(3), loc=0.1, scale=y",))
def expon_cdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the exponential distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 0.0, -np.expm1(-z))[()]


@composition(stats.expon.sf, double=True, domain=())
def expon_sf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the exponential distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 1.0, np.exp(-z))[()]


@composition(stats.expon.logcdf, double=True, domain=())
def expon_logcdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the exponential distribution."""
    found = stats.expon.cdf(x, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.expon.logsf, double=True, domain=())
def expon_logsf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the exponential distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 0.0, -z)[()]


@composition(stats.expon.ppf, double=True, domain=())
def expon_ppf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the exponential distribution."""
    scale = positive(scale)
    q = within(q, 0.0, 1.0)
    return -special.xlog1py(1.0, -q) * scale + loc


@composition(stats.expon.isf, double=True, domain=())
def expon_isf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of the exponential distribution."""
    scale = positive(scale)
    q = within(q, 0.0, 1.0)
    return -special.xlogy(1.0, q) * scale + loc


@composition(stats.expon.mean, double=True, domain=())
def expon_mean(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Mean of the exponential distribution."""
    scale = positive(scale)
    return 1.0 * scale + loc


@composition(stats.expon.var, double=True, domain=())
def expon_var(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Variance of the exponential distribution."""
    scale = positive(scale)
    return 1.0 * scale * scale


@composition(stats.expon.std, double=True, domain=())
def expon_std(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Standard deviation of the exponential distribution."""
    return np.sqrt(stats.expon.var(loc, scale))


@composition(stats.expon.entropy, double=True, domain=())
def expon_entropy(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Entropy of the exponential distribution."""
    scale = positive(scale)
    return 1.0 + np.log(scale)


@composition(stats.gamma.logpdf, double=True, domain=("0.5 + P(3), 1.0 + P(3), loc=0.1, scale=y",))
def gamma_logpdf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the gamma distribution."""
    scale = positive_with(scale, a)
    z = (x - loc) / scale
    outside = z < 0.0
    z = np.where(outside, 1.0, z)
    found = special.xlogy(a - 1.0, z) - z - special.gammaln(a)
    return np.where(outside, -np.inf, found - np.log(scale))[()]


@composition(stats.gamma.pdf, double=True, domain=())
def gamma_pdf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the gamma distribution."""
    return np.exp(stats.gamma.logpdf(x, a, loc, scale))


@composition(stats.gamma.cdf, double=True, domain=("0.5 + P(3), a=2.5, loc=0.1, scale=y",))
def gamma_cdf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the gamma distribution."""
    scale = positive_with(scale, a)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 0.0, special.gammainc(a, z))[()]


@composition(stats.gamma.sf, double=True, domain=())
def gamma_sf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the gamma distribution."""
    scale = positive_with(scale, a)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 1.0, special.gammaincc(a, z))[()]


@composition(stats.gamma.logcdf, double=True, domain=())
def gamma_logcdf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the gamma distribution."""
    found = stats.gamma.cdf(x, a, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.gamma.logsf, double=True, domain=())
def gamma_logsf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the gamma distribution."""
    found = stats.gamma.sf(x, a, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.gamma.ppf, double=True, domain=())
def gamma_ppf(q: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the gamma distribution."""
    scale = positive_with(scale, a)
    q = within(q, 0.0, 1.0)
    return special.gammaincinv(a, q) * scale + loc


@composition(stats.gamma.isf, double=True, domain=())
def gamma_isf(q: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of the gamma distribution."""
    scale = positive_with(scale, a)
    q = within(q, 0.0, 1.0)
    return special.gammainccinv(a, q) * scale + loc


@composition(stats.gamma.mean, double=True, domain=())
def gamma_mean(a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Mean of the gamma distribution."""
    scale = positive_with(scale, a)
    return a * scale + loc


@composition(stats.gamma.var, double=True, domain=())
def gamma_var(a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Variance of the gamma distribution."""
    scale = positive_with(scale, a)
    return a * scale * scale


@composition(stats.gamma.std, double=True, domain=())
def gamma_std(a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Standard deviation of the gamma distribution."""
    return np.sqrt(stats.gamma.var(a, loc, scale))


@composition(stats.gamma.entropy, double=True, domain=())
def gamma_entropy(a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Entropy of the gamma distribution."""
    scale = positive_with(scale, a)
    return special.digamma(a) * (1.0 - a) + a + special.gammaln(a) + np.log(scale)


@composition(stats.chi2.logpdf, double=True, domain=("0.5 + P(3), 1.0 + P(3), loc=0.1, scale=y",))
def chi2_logpdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the chi-square distribution."""
    scale = positive_with(scale, df)
    z = (x - loc) / scale
    outside = z < 0.0
    z = np.where(outside, 1.0, z)
    found = special.xlogy(0.5 * df - 1.0, z) - 0.5 * z - special.gammaln(0.5 * df) - 0.34657359027997264 * df
    return np.where(outside, -np.inf, found - np.log(scale))[()]


@composition(stats.chi2.pdf, double=True, domain=())
def chi2_pdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the chi-square distribution."""
    return np.exp(stats.chi2.logpdf(x, df, loc, scale))


@composition(stats.chi2.cdf, double=True, domain=("0.5 + P(3), df=2.5, loc=0.1, scale=y",))
def chi2_cdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the chi-square distribution."""
    scale = positive_with(scale, df)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 0.0, special.chdtr(df, z))[()]


@composition(stats.chi2.sf, double=True, domain=())
def chi2_sf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the chi-square distribution."""
    scale = positive_with(scale, df)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 1.0, special.chdtrc(df, z))[()]


@composition(stats.chi2.logcdf, double=True, domain=())
def chi2_logcdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the chi-square distribution."""
    found = stats.chi2.cdf(x, df, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.chi2.logsf, double=True, domain=())
def chi2_logsf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the chi-square distribution."""
    found = stats.chi2.sf(x, df, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.chi2.ppf, double=True, domain=())
def chi2_ppf(q: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the chi-square distribution."""
    scale = positive_with(scale, df)
    q = within(q, 0.0, 1.0)
    return 2.0 * special.gammaincinv(0.5 * df, q) * scale + loc


@composition(stats.chi2.isf, double=True, domain=())
def chi2_isf(q: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of the chi-square distribution."""
    scale = positive_with(scale, df)
    q = within(q, 0.0, 1.0)
    return 2.0 * special.gammainccinv(0.5 * df, q) * scale + loc


@composition(stats.chi2.mean, double=True, domain=())
def chi2_mean(df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Mean of the chi-square distribution."""
    scale = positive_with(scale, df)
    return df * scale + loc


@composition(stats.chi2.var, double=True, domain=())
def chi2_var(df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Variance of the chi-square distribution."""
    scale = positive_with(scale, df)
    return 2.0 * df * scale * scale


@composition(stats.chi2.std, double=True, domain=())
def chi2_std(df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Standard deviation of the chi-square distribution."""
    return np.sqrt(stats.chi2.var(df, loc, scale))


@composition(stats.invgamma.logpdf, double=True, domain=("0.5 + P(3), 1.0 + P(3), loc=0.1, scale=y",))
def invgamma_logpdf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the inverse gamma distribution."""
    scale = positive_with(scale, a)
    z = (x - loc) / scale
    outside = z <= 0.0
    z = np.where(outside, 1.0, z)
    found = special.xlogy(-a - 1.0, z) - special.gammaln(a) - 1.0 / z
    return np.where(outside, -np.inf, found - np.log(scale))[()]


@composition(stats.invgamma.pdf, double=True, domain=())
def invgamma_pdf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the inverse gamma distribution."""
    return np.exp(stats.invgamma.logpdf(x, a, loc, scale))


@composition(stats.invgamma.cdf, double=True, domain=("0.5 + P(3), a=2.5, loc=0.1, scale=y",))
def invgamma_cdf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the inverse gamma distribution."""
    scale = positive_with(scale, a)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 0.0, special.gammaincc(a, 1.0 / z))[()]


@composition(stats.invgamma.sf, double=True, domain=())
def invgamma_sf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the inverse gamma distribution."""
    scale = positive_with(scale, a)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 1.0, special.gammainc(a, 1.0 / z))[()]


@composition(stats.invgamma.logcdf, double=True, domain=())
def invgamma_logcdf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the inverse gamma distribution."""
    found = stats.invgamma.cdf(x, a, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.invgamma.logsf, double=True, domain=())
def invgamma_logsf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the inverse gamma distribution."""
    found = stats.invgamma.sf(x, a, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.invgamma.ppf, double=True, domain=())
def invgamma_ppf(q: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the inverse gamma distribution."""
    scale = positive_with(scale, a)
    q = within(q, 0.0, 1.0)
    return 1.0 / special.gammainccinv(a, q) * scale + loc


@composition(stats.invgamma.isf, double=True, domain=())
def invgamma_isf(q: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of the inverse gamma distribution."""
    scale = positive_with(scale, a)
    q = within(q, 0.0, 1.0)
    return 1.0 / special.gammaincinv(a, q) * scale + loc


@composition(stats.weibull_min.logpdf, double=True, domain=("0.5 + P(3), 1.0 + P(3), loc=0.1, scale=y",))
def weibull_min_logpdf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the Weibull distribution."""
    c, scale = positive(c), positive_with(scale, c)
    z = (x - loc) / scale
    outside = z < 0.0
    z = np.where(outside, 1.0, z)
    found = np.log(c) + special.xlogy(c - 1.0, z) - z**c
    return np.where(outside, -np.inf, found - np.log(scale))[()]


@composition(stats.weibull_min.pdf, double=True, domain=())
def weibull_min_pdf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the Weibull distribution."""
    return np.exp(stats.weibull_min.logpdf(x, c, loc, scale))


@composition(stats.weibull_min.cdf, double=True, domain=("0.5 + P(3), c=2.5, loc=0.1, scale=y",))
def weibull_min_cdf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the Weibull distribution."""
    c, scale = positive(c), positive_with(scale, c)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 0.0, -np.expm1(-(z**c)))[()]


@composition(stats.weibull_min.sf, double=True, domain=())
def weibull_min_sf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the Weibull distribution."""
    c, scale = positive(c), positive_with(scale, c)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 1.0, np.exp(-(z**c)))[()]


@composition(stats.weibull_min.logcdf, double=True, domain=())
def weibull_min_logcdf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the Weibull distribution."""
    found = stats.weibull_min.cdf(x, c, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.weibull_min.logsf, double=True, domain=())
def weibull_min_logsf(x: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the Weibull distribution."""
    c, scale = positive(c), positive_with(scale, c)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 0.0, -(z**c))[()]


@composition(stats.weibull_min.ppf, double=True, domain=())
def weibull_min_ppf(q: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the Weibull distribution."""
    c, scale = positive(c), positive_with(scale, c)
    q = within(q, 0.0, 1.0)
    return (-special.xlog1py(1.0, -q)) ** (1.0 / c) * scale + loc


@composition(stats.weibull_min.isf, double=True, domain=())
def weibull_min_isf(q: Any, c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of the Weibull distribution."""
    c, scale = positive(c), positive_with(scale, c)
    q = within(q, 0.0, 1.0)
    return (-special.xlogy(1.0, q)) ** (1.0 / c) * scale + loc


@composition(stats.weibull_min.mean, double=True, domain=())
def weibull_min_mean(c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Mean of the Weibull distribution."""
    c, scale = positive(c), positive_with(scale, c)
    return special.gamma(1.0 + 1.0 / c) * scale + loc


@composition(stats.weibull_min.var, double=True, domain=())
def weibull_min_var(c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Variance of the Weibull distribution."""
    c, scale = positive(c), positive_with(scale, c)
    return (special.gamma(1.0 + 2.0 / c) - special.gamma(1.0 + 1.0 / c) ** 2) * scale * scale


@composition(stats.weibull_min.std, double=True, domain=())
def weibull_min_std(c: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Standard deviation of the Weibull distribution."""
    return np.sqrt(stats.weibull_min.var(c, loc, scale))
