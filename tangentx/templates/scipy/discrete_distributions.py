"""Discrete distributions, by their parameters: of counts nothing varies.

What is no parameter of the distribution gives nan, as in SciPy. A count that is none is replaced by one before a
formula is asked, so that what is not selected neither warns nor has a derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from tangentx.arrays import positive, within
from tangentx.templates.compositions import composition


def _no_count(k: Any, least: Any) -> Any:
    """Whether a number is below the least one or not whole; nan is neither."""
    return (k < least) | (k - np.floor(k) > 0.0)


@composition(
    stats.poisson.logpmf,
    double=True,
    domain=(
        "np.array([1, 2, 4]), 2.5",
        "1, P(3)",
    ),
)
def poisson_logpmf(k: Any, mu: Any, loc: Any = 0.0) -> Any:
    """Logarithm of the probability of the Poisson distribution."""
    mu = within(mu, 0.0, np.inf)
    k = k - loc
    outside = _no_count(k, 0.0)
    k = np.where(outside, 0.0, np.floor(k))
    return np.where(outside, -np.inf + 0.0 * mu, special.xlogy(k, mu) - special.gammaln(k + 1.0) - mu)[()]


@composition(stats.poisson.pmf, double=True, domain=())
def poisson_pmf(k: Any, mu: Any, loc: Any = 0.0) -> Any:
    """Probability of the Poisson distribution."""
    return np.exp(stats.poisson.logpmf(k, mu, loc))


@composition(stats.poisson.cdf, double=True, domain=("np.array([0, 2, 3, -1]), 2.5",))
def poisson_cdf(k: Any, mu: Any, loc: Any = 0.0) -> Any:
    """Distribution function of the Poisson distribution."""
    mu = within(mu, 0.0, np.inf)
    k = np.floor(k - loc)
    outside = k < 0.0
    k = np.where(outside, 0.0, k)
    return np.where(outside, 0.0 + 0.0 * mu, special.gammaincc(k + 1.0, mu))[()]


@composition(stats.poisson.sf, double=True, domain=("np.array([0, 2, 3, -1]), 2.5",))
def poisson_sf(k: Any, mu: Any, loc: Any = 0.0) -> Any:
    """Survival function of the Poisson distribution."""
    mu = within(mu, 0.0, np.inf)
    k = np.floor(k - loc)
    outside = k < 0.0
    k = np.where(outside, 0.0, k)
    return np.where(outside, 1.0 + 0.0 * mu, special.gammainc(k + 1.0, mu))[()]


@composition(stats.poisson.logcdf, double=True, domain=())
def poisson_logcdf(k: Any, mu: Any, loc: Any = 0.0) -> Any:
    """Logarithm of the distribution function of the Poisson distribution."""
    found = stats.poisson.cdf(k, mu, loc)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.poisson.logsf, double=True, domain=())
def poisson_logsf(k: Any, mu: Any, loc: Any = 0.0) -> Any:
    """Logarithm of the survival function of the Poisson distribution."""
    found = stats.poisson.sf(k, mu, loc)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.poisson.mean, double=True, domain=())
def poisson_mean(mu: Any, loc: Any = 0.0) -> Any:
    """Mean of the Poisson distribution."""
    mu = within(mu, 0.0, np.inf)
    return mu + loc


@composition(stats.poisson.var, double=True, domain=())
def poisson_var(mu: Any, loc: Any = 0.0) -> Any:
    """Variance of the Poisson distribution."""
    mu = within(mu, 0.0, np.inf)
    return mu + 0.0 * loc


@composition(stats.poisson.std, double=True, domain=())
def poisson_std(mu: Any, loc: Any = 0.0) -> Any:
    """Standard deviation of the Poisson distribution."""
    return np.sqrt(stats.poisson.var(mu, loc))


@composition(
    stats.binom.logpmf,
    double=True,
    domain=(
        "np.array([1, 2, 4]), 7, 0.3",
        "1, 7, 0.5 + 0.3 * U(3)",
    ),
)
def binom_logpmf(k: Any, n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Logarithm of the probability of the binomial distribution."""
    n = within(n, 0.0, np.inf)
    p = within(p, 0.0, 1.0)
    k = k - loc
    outside = _no_count(k, 0.0) | (k > n)
    k = np.where(outside, 0.0, np.floor(k))
    return np.where(
        outside,
        -np.inf + 0.0 * p,
        special.gammaln(n + 1.0)
        - special.gammaln(k + 1.0)
        - special.gammaln(n - k + 1.0)
        + special.xlogy(k, p)
        + special.xlog1py(n - k, -p),
    )[()]


@composition(stats.binom.pmf, double=True, domain=())
def binom_pmf(k: Any, n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Probability of the binomial distribution."""
    return np.exp(stats.binom.logpmf(k, n, p, loc))


@composition(stats.binom.cdf, double=True, domain=("np.array([0, 2, 3, -1]), 7, 0.3",))
def binom_cdf(k: Any, n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Distribution function of the binomial distribution."""
    n = within(n, 0.0, np.inf)
    p = within(p, 0.0, 1.0)
    k = np.floor(k - loc)
    outside = (k < 0.0) | (k >= n)
    beyond = np.where(k < 0.0, 0.0, 1.0) + 0.0 * p
    k = np.where(outside, 0.0, k)
    return np.where(outside, beyond, special.betaincc(k + 1.0, n - k, p))[()]


@composition(stats.binom.sf, double=True, domain=("np.array([0, 2, 3, -1]), 7, 0.3",))
def binom_sf(k: Any, n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Survival function of the binomial distribution."""
    n = within(n, 0.0, np.inf)
    p = within(p, 0.0, 1.0)
    k = np.floor(k - loc)
    outside = (k < 0.0) | (k >= n)
    beyond = np.where(k < 0.0, 1.0, 0.0) + 0.0 * p
    k = np.where(outside, 0.0, k)
    return np.where(outside, beyond, special.betainc(k + 1.0, n - k, p))[()]


@composition(stats.binom.logcdf, double=True, domain=())
def binom_logcdf(k: Any, n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Logarithm of the distribution function of the binomial distribution."""
    found = stats.binom.cdf(k, n, p, loc)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.binom.logsf, double=True, domain=())
def binom_logsf(k: Any, n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Logarithm of the survival function of the binomial distribution."""
    found = stats.binom.sf(k, n, p, loc)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.binom.mean, double=True, domain=())
def binom_mean(n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Mean of the binomial distribution."""
    n = within(n, 0.0, np.inf)
    p = within(p, 0.0, 1.0)
    return n * p + loc


@composition(stats.binom.var, double=True, domain=())
def binom_var(n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Variance of the binomial distribution."""
    n = within(n, 0.0, np.inf)
    p = within(p, 0.0, 1.0)
    return n * p * (1.0 - p) + 0.0 * loc


@composition(stats.binom.std, double=True, domain=())
def binom_std(n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Standard deviation of the binomial distribution."""
    return np.sqrt(stats.binom.var(n, p, loc))


@composition(
    stats.nbinom.logpmf,
    double=True,
    domain=(
        "np.array([1, 2, 4]), 4, 0.3",
        "1, 4, 0.5 + 0.3 * U(3)",
    ),
)
def nbinom_logpmf(k: Any, n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Logarithm of the probability of the negative binomial distribution."""
    n = positive(n)
    p = positive(within(p, 0.0, 1.0))
    k = k - loc
    outside = _no_count(k, 0.0)
    k = np.where(outside, 0.0, np.floor(k))
    return np.where(
        outside,
        -np.inf + 0.0 * p,
        special.gammaln(n + k)
        - special.gammaln(k + 1.0)
        - special.gammaln(n)
        + special.xlogy(n, p)
        + special.xlog1py(k, -p),
    )[()]


@composition(stats.nbinom.pmf, double=True, domain=())
def nbinom_pmf(k: Any, n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Probability of the negative binomial distribution."""
    return np.exp(stats.nbinom.logpmf(k, n, p, loc))


@composition(stats.nbinom.cdf, double=True, domain=("np.array([0, 2, 3, -1]), 4, 0.3",))
def nbinom_cdf(k: Any, n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Distribution function of the negative binomial distribution."""
    n = positive(n)
    p = positive(within(p, 0.0, 1.0))
    k = np.floor(k - loc)
    outside = k < 0.0
    k = np.where(outside, 0.0, k)
    return np.where(outside, 0.0 + 0.0 * p, special.betainc(n, k + 1.0, p))[()]


@composition(stats.nbinom.sf, double=True, domain=("np.array([0, 2, 3, -1]), 4, 0.3",))
def nbinom_sf(k: Any, n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Survival function of the negative binomial distribution."""
    n = positive(n)
    p = positive(within(p, 0.0, 1.0))
    k = np.floor(k - loc)
    outside = k < 0.0
    k = np.where(outside, 0.0, k)
    return np.where(outside, 1.0 + 0.0 * p, special.betaincc(n, k + 1.0, p))[()]


@composition(stats.nbinom.logcdf, double=True, domain=())
def nbinom_logcdf(k: Any, n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Logarithm of the distribution function of the negative binomial distribution."""
    found = stats.nbinom.cdf(k, n, p, loc)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.nbinom.logsf, double=True, domain=())
def nbinom_logsf(k: Any, n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Logarithm of the survival function of the negative binomial distribution."""
    found = stats.nbinom.sf(k, n, p, loc)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.nbinom.mean, double=True, domain=())
def nbinom_mean(n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Mean of the negative binomial distribution."""
    n = positive(n)
    p = positive(within(p, 0.0, 1.0))
    return n * (1.0 - p) / p + loc


@composition(stats.nbinom.var, double=True, domain=())
def nbinom_var(n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Variance of the negative binomial distribution."""
    n = positive(n)
    p = positive(within(p, 0.0, 1.0))
    return n * (1.0 - p) / (p * p) + 0.0 * loc


@composition(stats.nbinom.std, double=True, domain=())
def nbinom_std(n: Any, p: Any, loc: Any = 0.0) -> Any:
    """Standard deviation of the negative binomial distribution."""
    return np.sqrt(stats.nbinom.var(n, p, loc))


@composition(
    stats.geom.logpmf,
    double=True,
    domain=(
        "np.array([1, 2, 4]), 0.3",
        "1, 0.5 + 0.3 * U(3)",
    ),
)
def geom_logpmf(k: Any, p: Any, loc: Any = 0.0) -> Any:
    """Logarithm of the probability of the geometric distribution."""
    p = positive(within(p, 0.0, 1.0))
    k = k - loc
    outside = _no_count(k, 1.0)
    k = np.where(outside, 1.0, np.floor(k))
    return np.where(outside, -np.inf + 0.0 * p, special.xlog1py(k - 1.0, -p) + special.xlogy(1.0, p))[()]


@composition(stats.geom.pmf, double=True, domain=())
def geom_pmf(k: Any, p: Any, loc: Any = 0.0) -> Any:
    """Probability of the geometric distribution."""
    return np.exp(stats.geom.logpmf(k, p, loc))


@composition(stats.geom.cdf, double=True, domain=("np.array([1, 2, 3, -1]), 0.3",))
def geom_cdf(k: Any, p: Any, loc: Any = 0.0) -> Any:
    """Distribution function of the geometric distribution."""
    p = positive(within(p, 0.0, 1.0))
    k = np.floor(k - loc)
    outside = k < 1.0
    k = np.where(outside, 1.0, k)
    return np.where(outside, 0.0 + 0.0 * p, -np.expm1(special.xlog1py(k, -p)))[()]


@composition(stats.geom.sf, double=True, domain=("np.array([1, 2, 3, -1]), 0.3",))
def geom_sf(k: Any, p: Any, loc: Any = 0.0) -> Any:
    """Survival function of the geometric distribution."""
    p = positive(within(p, 0.0, 1.0))
    k = np.floor(k - loc)
    outside = k < 1.0
    k = np.where(outside, 1.0, k)
    return np.where(outside, 1.0 + 0.0 * p, np.exp(special.xlog1py(k, -p)))[()]


@composition(stats.geom.logcdf, double=True, domain=())
def geom_logcdf(k: Any, p: Any, loc: Any = 0.0) -> Any:
    """Logarithm of the distribution function of the geometric distribution."""
    found = stats.geom.cdf(k, p, loc)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.geom.logsf, double=True, domain=())
def geom_logsf(k: Any, p: Any, loc: Any = 0.0) -> Any:
    """Logarithm of the survival function of the geometric distribution."""
    found = stats.geom.sf(k, p, loc)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.geom.mean, double=True, domain=())
def geom_mean(p: Any, loc: Any = 0.0) -> Any:
    """Mean of the geometric distribution."""
    p = positive(within(p, 0.0, 1.0))
    return 1.0 / p + loc


@composition(stats.geom.var, double=True, domain=())
def geom_var(p: Any, loc: Any = 0.0) -> Any:
    """Variance of the geometric distribution."""
    p = positive(within(p, 0.0, 1.0))
    return (1.0 - p) / (p * p) + 0.0 * loc


@composition(stats.geom.std, double=True, domain=())
def geom_std(p: Any, loc: Any = 0.0) -> Any:
    """Standard deviation of the geometric distribution."""
    return np.sqrt(stats.geom.var(p, loc))


@composition(
    stats.bernoulli.logpmf,
    double=True,
    domain=(
        "np.array([0, 1, 1]), 0.3",
        "1, 0.5 + 0.3 * U(3)",
    ),
)
def bernoulli_logpmf(k: Any, p: Any, loc: Any = 0.0) -> Any:
    """Logarithm of the probability of the Bernoulli distribution."""
    p = within(p, 0.0, 1.0)
    k = k - loc
    outside = _no_count(k, 0.0) | (k > 1.0)
    k = np.where(outside, 0.0, np.floor(k))
    return np.where(outside, -np.inf + 0.0 * p, special.xlogy(k, p) + special.xlog1py(1.0 - k, -p))[()]


@composition(stats.bernoulli.pmf, double=True, domain=())
def bernoulli_pmf(k: Any, p: Any, loc: Any = 0.0) -> Any:
    """Probability of the Bernoulli distribution."""
    return np.exp(stats.bernoulli.logpmf(k, p, loc))


@composition(stats.bernoulli.cdf, double=True, domain=("np.array([0, 2, 3, -1]), 0.3",))
def bernoulli_cdf(k: Any, p: Any, loc: Any = 0.0) -> Any:
    """Distribution function of the Bernoulli distribution."""
    p = within(p, 0.0, 1.0)
    k = np.floor(k - loc)
    outside = (k < 0.0) | (k >= 1.0)
    beyond = np.where(k < 0.0, 0.0, 1.0) + 0.0 * p
    k = np.where(outside, 0.0, k)
    return np.where(outside, beyond, 1.0 - p + 0.0 * k)[()]


@composition(stats.bernoulli.sf, double=True, domain=("np.array([0, 2, 3, -1]), 0.3",))
def bernoulli_sf(k: Any, p: Any, loc: Any = 0.0) -> Any:
    """Survival function of the Bernoulli distribution."""
    p = within(p, 0.0, 1.0)
    k = np.floor(k - loc)
    outside = (k < 0.0) | (k >= 1.0)
    beyond = np.where(k < 0.0, 1.0, 0.0) + 0.0 * p
    k = np.where(outside, 0.0, k)
    return np.where(outside, beyond, p + 0.0 * k)[()]


@composition(stats.bernoulli.logcdf, double=True, domain=())
def bernoulli_logcdf(k: Any, p: Any, loc: Any = 0.0) -> Any:
    """Logarithm of the distribution function of the Bernoulli distribution."""
    found = stats.bernoulli.cdf(k, p, loc)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.bernoulli.logsf, double=True, domain=())
def bernoulli_logsf(k: Any, p: Any, loc: Any = 0.0) -> Any:
    """Logarithm of the survival function of the Bernoulli distribution."""
    found = stats.bernoulli.sf(k, p, loc)
    return np.where(found == 0.0, -np.inf, np.log(np.where(found == 0.0, 1.0, found)))[()]


@composition(stats.bernoulli.mean, double=True, domain=())
def bernoulli_mean(p: Any, loc: Any = 0.0) -> Any:
    """Mean of the Bernoulli distribution."""
    p = within(p, 0.0, 1.0)
    return p + loc


@composition(stats.bernoulli.var, double=True, domain=())
def bernoulli_var(p: Any, loc: Any = 0.0) -> Any:
    """Variance of the Bernoulli distribution."""
    p = within(p, 0.0, 1.0)
    return p * (1.0 - p) + 0.0 * loc


@composition(stats.bernoulli.std, double=True, domain=())
def bernoulli_std(p: Any, loc: Any = 0.0) -> Any:
    """Standard deviation of the Bernoulli distribution."""
    return np.sqrt(stats.bernoulli.var(p, loc))


@composition(stats.bernoulli.entropy, double=True, domain=())
def bernoulli_entropy(p: Any, loc: Any = 0.0) -> Any:
    """Entropy of the Bernoulli distribution."""
    p = within(p, 0.0, 1.0)
    return special.entr(p) + special.entr(1.0 - p) + 0.0 * loc
