"""Distributions, and how one that is frozen holds its parameters."""

from __future__ import annotations

from typing import Any

from scipy import stats

from tangentx.templates.distributions import distribution, frozen

distribution(
    *(each for each in vars(stats).values() if isinstance(each, stats.rv_continuous | stats.rv_discrete)),
    *(stats.multivariate_normal, stats.dirichlet),
)


@frozen(type(stats.norm()))
@frozen(type(stats.poisson(1.0)))
def of_numbers(held: Any) -> Any:
    """The arguments as they were given; the distribution is a copy of the public one."""
    public = getattr(stats, held.dist.name, None)
    return public if type(public) is type(held.dist) else held.dist, held.args, held.kwds


@frozen(type(stats.multivariate_normal()))
def of_normal_vectors(held: Any) -> Any:
    """Mean and covariance."""
    return stats.multivariate_normal, (held.mean, held.cov), {}


@frozen(type(stats.dirichlet([1.0, 1.0])))
def of_shares(held: Any) -> Any:
    """The one parameter."""
    return stats.dirichlet, (held.alpha,), {}
