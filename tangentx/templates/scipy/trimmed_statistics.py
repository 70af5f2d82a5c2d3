"""Statistics of the part of a sample that lies between limits, of which the derivatives are those of what is inside."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition


def _demand(nan_policy: Any) -> None:
    if nan_policy != "propagate":
        raise NotDifferentiable("`nan_policy` of scipy.stats has no derivative rule", hint="take the numbers before")


def _inside(sample: Any, limits: Any, inclusive: Any) -> Any:
    """Which elements lie between the limits."""
    inside = np.ones_like(sample, bool)
    if limits is None:
        return inside
    low, high = limits
    if low is not None:
        inside = inside & (sample >= low if inclusive[0] else sample > low)
    if high is not None:
        inside = inside & (sample <= high if inclusive[1] else sample < high)
    if not np.any(inside) and np.size(sample) > 0:
        raise ValueError("No array values within given limits")
    return inside


_SAMPLES = (
    "np.array([0.4, -0.3, 0.8, 1.7, 0.25]), (-0.5, 1.0)",
    "np.array([[0.4, -0.3, 0.8], [1.1, 0.2, 0.6]]), (0.0, None), (False, True), 1, keepdims=True",
    "A(5)",
)


@composition(stats.tmean, domain=_SAMPLES)
def tmean(
    a: Any,
    limits: Any = None,
    inclusive: Any = (True, True),
    axis: Any = None,
    *,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:
    """Mean of the elements between limits."""
    _demand(nan_policy)
    sample = np.asarray(a)
    return np.mean(sample, axis=axis, keepdims=keepdims, where=_inside(sample, limits, inclusive))


@composition(stats.tvar, domain=_SAMPLES)
def tvar(
    a: Any,
    limits: Any = None,
    inclusive: Any = (True, True),
    axis: Any = 0,
    ddof: Any = 1,
    *,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:
    """Variance of the elements between limits."""
    _demand(nan_policy)
    sample = np.asarray(a)
    return np.var(sample, axis=axis, ddof=ddof, keepdims=keepdims, where=_inside(sample, limits, inclusive))


@composition(stats.tstd, domain=_SAMPLES)
def tstd(
    a: Any,
    limits: Any = None,
    inclusive: Any = (True, True),
    axis: Any = 0,
    ddof: Any = 1,
    *,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:
    """Standard deviation of the elements between limits."""
    _demand(nan_policy)
    sample = np.asarray(a)
    return np.std(sample, axis=axis, ddof=ddof, keepdims=keepdims, where=_inside(sample, limits, inclusive))


@composition(stats.tsem, domain=_SAMPLES)
def tsem(
    a: Any,
    limits: Any = None,
    inclusive: Any = (True, True),
    axis: Any = 0,
    ddof: Any = 1,
    *,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:
    """Standard error of the mean of the elements between limits."""
    _demand(nan_policy)
    sample = np.asarray(a)
    inside = _inside(sample, limits, inclusive)
    spread = np.std(sample, axis=axis, ddof=ddof, keepdims=keepdims, where=inside)
    return spread / np.sqrt(np.sum(inside, axis=axis, keepdims=keepdims, dtype=sample.dtype))


_ENDS = (
    "np.array([0.4, -3.0, 0.8, 2.7, 0.25]), -1.2",
    "np.array([[0.4, -3.0, 0.8], [1.1, -2.0, 0.6]]), -1.2, 1, False",
    "A(5)",
)


@composition(stats.tmin, domain=_ENDS)
def tmin(
    a: Any,
    lowerlimit: Any = None,
    axis: Any = 0,
    inclusive: Any = True,
    nan_policy: Any = "propagate",
    *,
    keepdims: Any = False,
) -> Any:
    """The smallest of the elements above a limit; nan where there is none."""
    _demand(nan_policy)
    sample = np.asarray(a)
    inside = _inside(sample, (lowerlimit, None), (inclusive, True))
    found = np.min(np.where(inside, sample, np.inf), axis=axis, keepdims=keepdims, initial=np.inf)
    return np.where(np.any(inside, axis=axis, keepdims=keepdims), found, np.nan)[()]


@composition(stats.tmax, domain=_ENDS)
def tmax(
    a: Any,
    upperlimit: Any = None,
    axis: Any = 0,
    inclusive: Any = True,
    nan_policy: Any = "propagate",
    *,
    keepdims: Any = False,
) -> Any:
    """The largest of the elements below a limit; nan where there is none."""
    _demand(nan_policy)
    sample = np.asarray(a)
    inside = _inside(sample, (None, upperlimit), (True, inclusive))
    found = np.max(np.where(inside, sample, -np.inf), axis=axis, keepdims=keepdims, initial=-np.inf)
    return np.where(np.any(inside, axis=axis, keepdims=keepdims), found, np.nan)[()]


@composition(stats.trimboth, domain=("A(6), 0.2", "A(2,6), 0.34, 1", "A(2,3), 0.2, None"))
def trimboth(a: Any, proportiontocut: Any, axis: Any = 0) -> Any:
    """The elements without what is smallest and largest, in the order that SciPy leaves them in."""
    sample = np.ravel(a) if axis is None else np.asarray(a)
    place = 0 if axis is None else axis
    if np.size(sample) == 0:
        raise NotDifferentiable("scipy.stats.trimboth has no derivative of no numbers", hint="leave them out")
    cut = int(proportiontocut * np.shape(sample)[place])
    ordered = np.moveaxis(np.partition(sample, (cut, np.shape(sample)[place] - cut - 1), place), place, -1)
    return np.moveaxis(ordered[..., cut : np.shape(sample)[place] - cut], -1, place)
