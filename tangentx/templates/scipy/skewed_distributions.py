"""Other continuous distributions with two unlike ends.

What is no shape or scale gives nan, as in SciPy. A point outside of the support is moved inside before a formula is
asked, so that what is not selected neither warns nor has a derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from tangentx.arrays import positive, positive_with, within
from tangentx.templates.compositions import composition


@composition(stats.lognorm.logpdf, double=True, domain=("0.5 + P(3), P(3), loc=0.1, scale=y",))
def lognorm_logpdf(x: Any, s: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the log-normal distribution."""
    scale = positive_with(scale, s)
    z = (x - loc) / scale
    outside = z <= 0.0
    z = np.where(outside, 1.0, z)
    found = -0.5 * (special.xlogy(1.0, z) / s) ** 2 - special.xlogy(1.0, z) - np.log(s) - 0.9189385332046727
    return np.where(outside, -np.inf, found - np.log(scale))[()]


@composition(stats.lognorm.pdf, double=True, domain=())
def lognorm_pdf(x: Any, s: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the log-normal distribution."""
    return np.exp(stats.lognorm.logpdf(x, s, loc, scale))


@composition(stats.lognorm.cdf, double=True, domain=("0.5 + P(3), s=2.5, loc=0.1, scale=y",))
def lognorm_cdf(x: Any, s: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the log-normal distribution."""
    scale = positive_with(scale, s)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 0.0, special.ndtr(np.log(z) / s))[()]


@composition(stats.lognorm.sf, double=True, domain=())
def lognorm_sf(x: Any, s: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the log-normal distribution."""
    scale = positive_with(scale, s)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 1.0, special.ndtr(-np.log(z) / s))[()]


@composition(stats.lognorm.logcdf, double=True, domain=())
def lognorm_logcdf(x: Any, s: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the log-normal distribution."""
    scale = positive_with(scale, s)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, -np.inf, special.log_ndtr(np.log(z) / s))[()]


@composition(stats.lognorm.logsf, double=True, domain=())
def lognorm_logsf(x: Any, s: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the log-normal distribution."""
    scale = positive_with(scale, s)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 0.0, special.log_ndtr(-np.log(z) / s))[()]


@composition(stats.lognorm.ppf, double=True, domain=())
def lognorm_ppf(q: Any, s: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the log-normal distribution."""
    scale = positive_with(scale, s)
    q = within(q, 0.0, 1.0)
    return np.exp(s * special.ndtri(q)) * scale + loc


@composition(stats.lognorm.isf, double=True, domain=())
def lognorm_isf(q: Any, s: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of the log-normal distribution."""
    scale = positive_with(scale, s)
    q = within(q, 0.0, 1.0)
    return np.exp(-s * special.ndtri(q)) * scale + loc


@composition(stats.lognorm.mean, double=True, domain=())
def lognorm_mean(s: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Mean of the log-normal distribution."""
    scale = positive_with(scale, s)
    return np.exp(0.5 * s * s) * scale + loc


@composition(stats.lognorm.var, double=True, domain=())
def lognorm_var(s: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Variance of the log-normal distribution."""
    scale = positive_with(scale, s)
    return np.expm1(s * s) * np.exp(s * s) * scale * scale


@composition(stats.lognorm.std, double=True, domain=())
def lognorm_std(s: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Standard deviation of the log-normal distribution."""
    return np.sqrt(stats.lognorm.var(s, loc, scale))


@composition(stats.lognorm.entropy, double=True, domain=())
def lognorm_entropy(s: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Entropy of the log-normal distribution."""
    scale = positive_with(scale, s)
    return 1.4189385332046727 + np.log(s) + np.log(scale)


@composition(stats.halfnorm.logpdf, double=True, domain=("0.5 + P(3), loc=0.1, scale=y",))
def halfnorm_logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the half-normal distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    outside = z < 0.0
    z = np.where(outside, 1.0, z)
    found = -0.5 * z * z - 0.22579135264472744
    return np.where(outside, -np.inf, found - np.log(scale))[()]


@composition(stats.halfnorm.pdf, double=True, domain=())
def halfnorm_pdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the half-normal distribution."""
    return np.exp(stats.halfnorm.logpdf(x, loc, scale))


@composition(stats.halfnorm.cdf, double=True, domain=("0.5 + P(3), loc=0.1, scale=y",))
def halfnorm_cdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the half-normal distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 0.0, special.erf(0.7071067811865476 * z))[()]


@composition(stats.halfnorm.sf, double=True, domain=())
def halfnorm_sf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the half-normal distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    below = z <= 0.0
    z = np.where(below, 1.0, z)
    return np.where(below, 1.0, special.erfc(0.7071067811865476 * z))[()]


@composition(stats.halfnorm.logcdf, double=True, domain=())
def halfnorm_logcdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the half-normal distribution."""
    found = stats.halfnorm.cdf(x, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.halfnorm.logsf, double=True, domain=())
def halfnorm_logsf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the half-normal distribution."""
    found = stats.halfnorm.sf(x, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.halfnorm.ppf, double=True, domain=())
def halfnorm_ppf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the half-normal distribution."""
    scale = positive(scale)
    q = within(q, 0.0, 1.0)
    return special.ndtri(0.5 + 0.5 * q) * scale + loc


@composition(stats.halfnorm.isf, double=True, domain=())
def halfnorm_isf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of the half-normal distribution."""
    scale = positive(scale)
    q = within(q, 0.0, 1.0)
    return -special.ndtri(0.5 * q) * scale + loc


@composition(stats.halfnorm.mean, double=True, domain=())
def halfnorm_mean(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Mean of the half-normal distribution."""
    scale = positive(scale)
    return 0.7978845608028654 * scale + loc


@composition(stats.halfnorm.var, double=True, domain=())
def halfnorm_var(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Variance of the half-normal distribution."""
    scale = positive(scale)
    return 0.3633802276324186 * scale * scale


@composition(stats.halfnorm.std, double=True, domain=())
def halfnorm_std(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Standard deviation of the half-normal distribution."""
    return np.sqrt(stats.halfnorm.var(loc, scale))


@composition(stats.halfnorm.entropy, double=True, domain=())
def halfnorm_entropy(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Entropy of the half-normal distribution."""
    scale = positive(scale)
    return 0.7257913526447274 + np.log(scale)


@composition(stats.pareto.logpdf, double=True, domain=("2.5 + P(3), 1.0 + P(3), 0.1, x",))
def pareto_logpdf(x: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the Pareto distribution."""
    b, scale = positive(b), positive_with(scale, b)
    z = (x - loc) / scale
    outside = z < 1.0
    z = np.where(outside, 2.0, z)
    found = np.log(b * z ** (-b - 1.0))
    return np.where(outside, -np.inf, found - np.log(scale))[()]


@composition(stats.pareto.pdf, double=True, domain=())
def pareto_pdf(x: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the Pareto distribution."""
    return np.exp(stats.pareto.logpdf(x, b, loc, scale))


@composition(stats.pareto.cdf, double=True, domain=("2.5 + P(3), b=2.5, loc=0.1, scale=x",))
def pareto_cdf(x: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the Pareto distribution."""
    b, scale = positive(b), positive_with(scale, b)
    z = (x - loc) / scale
    below = z <= 1.0
    z = np.where(below, 2.0, z)
    return np.where(below, 0.0, 1.0 - z**-b)[()]


@composition(stats.pareto.sf, double=True, domain=())
def pareto_sf(x: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the Pareto distribution."""
    b, scale = positive(b), positive_with(scale, b)
    z = (x - loc) / scale
    below = z <= 1.0
    z = np.where(below, 2.0, z)
    return np.where(below, 1.0, z**-b)[()]


@composition(stats.pareto.logcdf, double=True, domain=())
def pareto_logcdf(x: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the Pareto distribution."""
    found = stats.pareto.cdf(x, b, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.pareto.logsf, double=True, domain=())
def pareto_logsf(x: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the Pareto distribution."""
    b, scale = positive(b), positive_with(scale, b)
    z = (x - loc) / scale
    below = z <= 1.0
    z = np.where(below, 2.0, z)
    return np.where(below, 0.0, np.log(z**-b))[()]


@composition(stats.pareto.ppf, double=True, domain=())
def pareto_ppf(q: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the Pareto distribution."""
    scale = positive_with(scale, b)
    q = within(q, 0.0, 1.0)
    return np.exp(-special.xlog1py(1.0, -q) / b) * scale + loc


@composition(stats.pareto.isf, double=True, domain=())
def pareto_isf(q: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of the Pareto distribution."""
    scale = positive_with(scale, b)
    q = within(q, 0.0, 1.0)
    return np.exp(-special.xlogy(1.0, q) / b) * scale + loc


@composition(stats.gumbel_r.logpdf, double=True, domain=("0.5 + P(3), 0.1, y",))
def gumbel_r_logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the right-skewed Gumbel distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return -z - np.exp(-z) - np.log(scale)


@composition(stats.gumbel_r.pdf, double=True, domain=())
def gumbel_r_pdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the right-skewed Gumbel distribution."""
    return np.exp(stats.gumbel_r.logpdf(x, loc, scale))


@composition(stats.gumbel_r.cdf, double=True, domain=("0.5 + P(3), 0.1, y",))
def gumbel_r_cdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the right-skewed Gumbel distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return np.exp(-np.exp(-z))


@composition(stats.gumbel_r.sf, double=True, domain=())
def gumbel_r_sf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the right-skewed Gumbel distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return -np.expm1(-np.exp(-z))


@composition(stats.gumbel_r.logcdf, double=True, domain=())
def gumbel_r_logcdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the right-skewed Gumbel distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    return -np.exp(-z)


@composition(stats.gumbel_r.logsf, double=True, domain=())
def gumbel_r_logsf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the right-skewed Gumbel distribution."""
    found = stats.gumbel_r.sf(x, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.gumbel_r.ppf, double=True, domain=())
def gumbel_r_ppf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the right-skewed Gumbel distribution."""
    scale = positive(scale)
    q = within(q, 0.0, 1.0)
    return -special.xlogy(1.0, -special.xlogy(1.0, q)) * scale + loc


@composition(stats.gumbel_r.mean, double=True, domain=())
def gumbel_r_mean(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Mean of the right-skewed Gumbel distribution."""
    scale = positive(scale)
    return 0.5772156649015329 * scale + loc


@composition(stats.gumbel_r.var, double=True, domain=())
def gumbel_r_var(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Variance of the right-skewed Gumbel distribution."""
    scale = positive(scale)
    return 1.6449340668482264 * scale * scale


@composition(stats.gumbel_r.std, double=True, domain=())
def gumbel_r_std(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Standard deviation of the right-skewed Gumbel distribution."""
    return np.sqrt(stats.gumbel_r.var(loc, scale))


@composition(stats.gumbel_r.entropy, double=True, domain=())
def gumbel_r_entropy(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Entropy of the right-skewed Gumbel distribution."""
    scale = positive(scale)
    return 1.5772156649015329 + np.log(scale)


@composition(stats.uniform.logpdf, double=True, domain=("0.3 + 0.2 * U(3), loc=0.1, scale=y",))
def uniform_logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the uniform distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    outside = (z < 0.0) | (z > 1.0)
    z = np.where(outside, 0.5, z)
    found = z - z
    return np.where(outside, -np.inf, found - np.log(scale))[()]


@composition(stats.uniform.pdf, double=True, domain=())
def uniform_pdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the uniform distribution."""
    return np.exp(stats.uniform.logpdf(x, loc, scale))


@composition(stats.uniform.cdf, double=True, domain=("0.3 + 0.2 * U(3), loc=0.1, scale=y",))
def uniform_cdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the uniform distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    outside = (z <= 0.0) | (z >= 1.0)
    beyond = np.where(z <= 0.0, 0.0, 1.0)
    z = np.where(outside, 0.5, z)
    return np.where(outside, beyond, z)[()]


@composition(stats.uniform.sf, double=True, domain=())
def uniform_sf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the uniform distribution."""
    scale = positive(scale)
    z = (x - loc) / scale
    outside = (z <= 0.0) | (z >= 1.0)
    beyond = np.where(z <= 0.0, 1.0, 0.0)
    z = np.where(outside, 0.5, z)
    return np.where(outside, beyond, 1.0 - z)[()]


@composition(stats.uniform.logcdf, double=True, domain=())
def uniform_logcdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the uniform distribution."""
    found = stats.uniform.cdf(x, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.uniform.logsf, double=True, domain=())
def uniform_logsf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the uniform distribution."""
    found = stats.uniform.sf(x, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.uniform.ppf, double=True, domain=())
def uniform_ppf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the uniform distribution."""
    scale = positive(scale)
    q = within(q, 0.0, 1.0)
    return q * scale + loc


@composition(stats.uniform.isf, double=True, domain=())
def uniform_isf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of the uniform distribution."""
    scale = positive(scale)
    q = within(q, 0.0, 1.0)
    return (1.0 - q) * scale + loc


@composition(stats.uniform.mean, double=True, domain=())
def uniform_mean(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Mean of the uniform distribution."""
    scale = positive(scale)
    return 0.5 * scale + loc


@composition(stats.uniform.var, double=True, domain=())
def uniform_var(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Variance of the uniform distribution."""
    scale = positive(scale)
    return 0.08333333333333333 * scale * scale


@composition(stats.uniform.std, double=True, domain=())
def uniform_std(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Standard deviation of the uniform distribution."""
    return np.sqrt(stats.uniform.var(loc, scale))


@composition(stats.uniform.entropy, double=True, domain=())
def uniform_entropy(loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Entropy of the uniform distribution."""
    scale = positive(scale)
    return 0.0 + np.log(scale)


@composition(stats.beta.logpdf, double=True, domain=("0.3 + 0.2 * U(3), 1.0 + P(3), 1.0 + P(3), loc=0.1, scale=y",))
def beta_logpdf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the density of the beta distribution."""
    scale = positive_with(positive_with(scale, a), b)
    z = (x - loc) / scale
    outside = (z < 0.0) | (z > 1.0)
    z = np.where(outside, 0.5, z)
    found = special.xlogy(a - 1.0, z) + special.xlog1py(b - 1.0, -z) - special.betaln(a, b)
    return np.where(outside, -np.inf, found - np.log(scale))[()]


@composition(stats.beta.pdf, double=True, domain=())
def beta_pdf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Density of the beta distribution."""
    return np.exp(stats.beta.logpdf(x, a, b, loc, scale))


@composition(stats.beta.cdf, double=True, domain=("0.3 + 0.2 * U(3), a=2.5, b=3.5, loc=0.1, scale=y",))
def beta_cdf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Distribution function of the beta distribution."""
    scale = positive_with(positive_with(scale, a), b)
    z = (x - loc) / scale
    outside = (z <= 0.0) | (z >= 1.0)
    beyond = np.where(z <= 0.0, 0.0, 1.0)
    z = np.where(outside, 0.5, z)
    return np.where(outside, beyond, special.betainc(a, b, z))[()]


@composition(stats.beta.sf, double=True, domain=())
def beta_sf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Survival function of the beta distribution."""
    scale = positive_with(positive_with(scale, a), b)
    z = (x - loc) / scale
    outside = (z <= 0.0) | (z >= 1.0)
    beyond = np.where(z <= 0.0, 1.0, 0.0)
    z = np.where(outside, 0.5, z)
    return np.where(outside, beyond, special.betaincc(a, b, z))[()]


@composition(stats.beta.logcdf, double=True, domain=())
def beta_logcdf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the distribution function of the beta distribution."""
    found = stats.beta.cdf(x, a, b, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.beta.logsf, double=True, domain=())
def beta_logsf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Logarithm of the survival function of the beta distribution."""
    found = stats.beta.sf(x, a, b, loc, scale)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.beta.ppf, double=True, domain=())
def beta_ppf(q: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantile of the beta distribution."""
    scale = positive_with(positive_with(scale, a), b)
    q = within(q, 0.0, 1.0)
    return special.betaincinv(a, b, q) * scale + loc


@composition(stats.beta.isf, double=True, domain=())
def beta_isf(q: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Inverse of the survival function of the beta distribution."""
    scale = positive_with(positive_with(scale, a), b)
    q = within(q, 0.0, 1.0)
    return special.betainccinv(a, b, q) * scale + loc


@composition(stats.beta.mean, double=True, domain=())
def beta_mean(a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Mean of the beta distribution."""
    scale = positive_with(positive_with(scale, a), b)
    return a / (a + b) * scale + loc


@composition(stats.beta.var, double=True, domain=())
def beta_var(a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Variance of the beta distribution."""
    scale = positive_with(positive_with(scale, a), b)
    return a * b / ((a + b) ** 2 * (a + b + 1.0)) * scale * scale


@composition(stats.beta.std, double=True, domain=())
def beta_std(a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Standard deviation of the beta distribution."""
    return np.sqrt(stats.beta.var(a, b, loc, scale))
