"""Distributions, and how one that is frozen holds its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from tangentx.templates.distributions import distribution, frozen

_OF_VECTORS: Any = type(stats.multivariate_normal).__base__

distribution(
    *(each for each in vars(stats).values() if isinstance(each, stats.rv_continuous | stats.rv_discrete)),
    *(each for each in vars(stats).values() if isinstance(each, _OF_VECTORS)),
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


@frozen(type(stats.wishart(2, np.eye(2))))
def of_matrices(held: Any) -> Any:
    """Degrees of freedom and scale."""
    return stats.wishart, (held.df, held.scale), {}


@frozen(type(stats.invwishart(2, np.eye(2))))
def of_inverse_matrices(held: Any) -> Any:
    """Degrees of freedom and scale."""
    return stats.invwishart, (held.df, held.scale), {}
