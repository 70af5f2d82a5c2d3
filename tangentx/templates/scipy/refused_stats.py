"""Classes and functions of `scipy.stats` that nothing can be differentiated through, with the reason."""

from __future__ import annotations

from typing import Any

from scipy import stats

from tangentx.templates.refusals import refused


def _there(*names: str) -> tuple[Any, ...]:
    """Those of the names that this version of SciPy has, and how objects of the classes are made."""
    found = [getattr(stats, name) for name in names if hasattr(stats, name)]
    return (*found, *{getattr(each, "__init__", None): None for each in found if isinstance(each, type)})


refused(
    *_there("Normal"),
    reason="objects of SciPy's newer distributions choose their formulas while they run",
    hint="use `scipy.stats.norm`: `norm.logpdf(x, loc=mu, scale=sigma)`, or `norm(mu, sigma)`",
)
refused(
    *_there("Uniform", "Logistic", "Binomial", "Mixture", "make_distribution", "truncate", "order_statistic"),
    *_there("abs", "exp", "log"),
    reason="objects of SciPy's newer distributions choose their formulas while they run",
    hint="use the distribution of the old name: `scipy.stats.uniform`, `logistic`, `binom`; a mixture is "
    "`scipy.special.logsumexp` of their `logpdf`",
)
