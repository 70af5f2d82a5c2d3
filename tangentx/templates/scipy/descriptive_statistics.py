"""Statistics of samples, of all of them or of the part between limits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition

# Statistics of samples: moments, scores, means, spreads, correlation, and the tests that go by means.
#
# What ranks or counts decide is as NumPy's order statistics have it: quantiles by the elements that they lie between.

_NORMAL_QUARTILES = 1.3489795003921634
"""The distance of the quartiles of the standard normal distribution; the median absolute deviation is half of it."""


class Description(NamedTuple):
    """What `scipy.stats.describe` tells."""

    nobs: Any
    minmax: Any
    mean: Any
    variance: Any
    skewness: Any
    kurtosis: Any


class Tested(NamedTuple):
    """A statistic with its probability."""

    statistic: Any
    pvalue: Any


class Line(NamedTuple):
    """What `scipy.stats.linregress` has found."""

    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


def _demand(nan_policy: Any) -> None:
    if nan_policy != "propagate":
        raise NotDifferentiable("`nan_policy` of scipy.stats has no derivative rule", hint="take the numbers before")


def _not_negative(a: Any) -> Any:
    """Numbers that have a harmonic mean: nan where one is negative."""
    return np.where(a < 0, np.nan, a)


def _flat(a: Any, axis: Any) -> Any:
    """The sample, and the axis along which it lies."""
    return (np.ravel(a), 0) if axis is None else (np.asarray(a), axis)


@composition(stats.zmap, domain=("A(5), A(4)", "A(2,4), A(2,4), 1, 1"))
def zmap(scores: Any, compare: Any, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any:
    """Scores by the mean and the deviation of a sample."""
    _demand(nan_policy)
    sample = np.asarray(compare)
    middle = np.mean(sample, axis=axis, keepdims=True)
    spread = np.std(sample, axis=axis, ddof=ddof, keepdims=True)
    return (np.asarray(scores) - middle) / spread


@composition(stats.zscore, domain=("A(5)", "A(2,4), 1, 1", "A(2,4), None"))
def zscore(a: Any, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any:
    """Scores of a sample by its own mean and deviation."""
    _demand(nan_policy)
    return stats.zmap(a, a, axis, ddof)


@composition(stats.gzscore, domain=("P(5)",))
def gzscore(a: Any, *, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any:
    """Geometric scores."""
    _demand(nan_policy)
    return stats.zscore(np.log(a), axis, ddof)


@composition(stats.gmean, domain=("P(5)", "P(2,4), 1", "P(4), weights=np.array([1.0, 2.0, 3.0, 1.0])"))
def gmean(
    a: Any,
    axis: Any = 0,
    dtype: Any = None,
    weights: Any = None,
    *,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:
    """Geometric mean."""
    _demand(nan_policy)
    return np.exp(_average(np.log(np.asarray(a, dtype)), axis, weights, keepdims))


def _average(x: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """Mean with weights, if any, which are broadcast; nan where they are 0."""
    if weights is None:
        return np.mean(x, axis=axis, keepdims=keepdims)
    shares = np.broadcast_to(weights, np.shape(x))
    total = np.sum(shares, axis=axis, keepdims=keepdims)
    return np.sum(x * shares, axis=axis, keepdims=keepdims) / np.asarray(total)


@composition(stats.hmean, domain=("P(5)", "P(2,4), 1"))
def hmean(
    a: Any,
    axis: Any = 0,
    dtype: Any = None,
    *,
    weights: Any = None,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:
    """Harmonic mean."""
    _demand(nan_policy)
    return 1.0 / _average(1.0 / _not_negative(np.asarray(a, dtype)), axis, weights, keepdims)


@composition(stats.pmean, domain=("P(5), 3", "P(5), -1"))
def pmean(
    a: Any,
    p: Any,
    *,
    axis: Any = 0,
    dtype: Any = None,
    weights: Any = None,
    nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:
    """Power mean."""
    _demand(nan_policy)
    if p == 0:
        found = stats.gmean(a, axis, dtype, weights, keepdims=keepdims)
        whole = isinstance(p, (int, np.integer))
        return found if whole else found * np.exp(_by_power(a, p, axis, dtype, weights, keepdims))
    powers = _not_negative(np.asarray(a, dtype)) ** p
    return _average(powers, axis, weights, keepdims) ** (1.0 / p)


def _by_power(a: Any, p: Any, axis: Any, dtype: Any, weights: Any, keepdims: Any) -> Any:
    """The logarithm of a power mean over the geometric one, for powers near 0: the cumulants of the logarithms."""
    logs = np.log(np.asarray(a, dtype))
    apart = logs - _average(logs, axis, weights, True)
    second, third = _average(apart**2, axis, weights, keepdims), _average(apart**3, axis, weights, keepdims)
    return p * (second / 2.0 + p * third / 6.0)


def _moment(sample: Any, order: Any, axis: Any, middle: Any = None) -> Any:
    """A moment about the mean, or about `middle`; the axis stays."""
    center = np.mean(sample, axis=axis, keepdims=True) if middle is None else middle
    return np.mean((sample - center) ** order, axis=axis, keepdims=True)


def _without(found: Any, axis: Any, keepdims: Any) -> Any:
    return found if keepdims else np.squeeze(found, axis)[()]


@composition(stats.moment, domain=("A(5), 3", "A(2,4), 2, 1", "A(5), 2, center=0.5"))
def moment(
    a: Any,
    order: Any = 1,
    axis: Any = 0,
    nan_policy: Any = "propagate",
    *,
    center: Any = None,
    keepdims: Any = False,
) -> Any:
    """Moment of a sample about its mean."""
    _demand(nan_policy)
    sample, place = _flat(a, axis)
    return _without(_moment(sample, order, place, center), place, keepdims)


@composition(stats.skew, domain=("A(5)", "A(2,4), 1", "A(5), 0, False"))
def skew(a: Any, axis: Any = 0, bias: Any = True, nan_policy: Any = "propagate", *, keepdims: Any = False) -> Any:
    """Skewness of a sample."""
    _demand(nan_policy)
    sample, place = _flat(a, axis)
    found = _moment(sample, 3, place) / _moment(sample, 2, place) ** 1.5
    n = np.shape(sample)[place]
    if not bias:
        found = found * (((n - 1.0) * n) ** 0.5 / (n - 2.0))
    return _without(found, place, keepdims)


@composition(stats.kurtosis, domain=("A(5)", "A(2,4), 1", "A(5), 0, False", "A(6), 0, True, False"))
def kurtosis(
    a: Any,
    axis: Any = 0,
    fisher: Any = True,
    bias: Any = True,
    nan_policy: Any = "propagate",
    *,
    keepdims: Any = False,
) -> Any:
    """Kurtosis of a sample."""
    _demand(nan_policy)
    sample, place = _flat(a, axis)
    found = _moment(sample, 4, place) / _moment(sample, 2, place) ** 2
    n = np.shape(sample)[place]
    if not bias:
        found = 1.0 / (n - 2) / (n - 3) * ((n**2 - 1.0) * found - 3 * (n - 1) ** 2.0) + 3.0
    return _without(found - 3 if fisher else found, place, keepdims)


@composition(stats.variation, domain=("P(5)", "P(2,4), 1, ddof=1"))
def variation(a: Any, axis: Any = 0, nan_policy: Any = "propagate", ddof: Any = 0, *, keepdims: Any = False) -> Any:
    """Deviation by mean."""
    _demand(nan_policy)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.mean(a, axis=axis, keepdims=keepdims)


@composition(stats.sem, domain=("A(5)", "A(2,4), 1, 0"))
def sem(a: Any, axis: Any = 0, ddof: Any = 1, nan_policy: Any = "propagate", *, keepdims: Any = False) -> Any:
    """Standard error of the mean."""
    _demand(nan_policy)
    n = np.size(a) if axis is None else np.shape(a)[axis]
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / n**0.5


@composition(stats.gstd, domain=("P(5)", "P(2,4), 1, 0"))
def gstd(a: Any, axis: Any = 0, ddof: Any = 1, *, keepdims: Any = False, nan_policy: Any = "propagate") -> Any:
    """Geometric deviation."""
    _demand(nan_policy)
    return np.exp(np.std(np.log(a), axis=axis, ddof=ddof, keepdims=keepdims))


@composition(stats.entropy, domain=("P(5)", "P(4), P(4)", "P(2,4), None, 2.0, 1"))
def entropy(
    pk: Any, qk: Any = None, base: Any = None, axis: Any = 0, *, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any:
    """Entropy of a distribution, or how much one tells beyond another."""
    _demand(nan_policy)
    first = np.asarray(pk)
    first = first / np.sum(first, axis=axis, keepdims=True)
    if qk is None:
        parts = special.entr(first)
    else:
        second = np.asarray(qk)
        parts = special.rel_entr(first, second / np.sum(second, axis=axis, keepdims=True))
    found = np.sum(parts, axis=axis, keepdims=keepdims)
    return found if base is None else found / float(np.log(base))


@composition(stats.iqr, domain=("A(6)", "A(2,6), 1, (20, 70), 'normal'"))
def iqr(
    x: Any,
    axis: Any = None,
    rng: Any = (25, 75),
    scale: Any = 1.0,
    nan_policy: Any = "propagate",
    interpolation: Any = "linear",
    keepdims: Any = False,
) -> Any:
    """Distance of the quartiles."""
    _demand(nan_policy)
    low, high = rng
    below = np.percentile(x, low, axis=axis, method=interpolation, keepdims=keepdims)
    found = np.percentile(x, high, axis=axis, method=interpolation, keepdims=keepdims) - below
    if isinstance(scale, str):
        return found / _NORMAL_QUARTILES
    return found / scale


@composition(stats.median_abs_deviation, domain=("A(5)", "A(2,5), 1, scale='normal'"))
def median_abs_deviation(
    x: Any,
    axis: Any = 0,
    center: Any = np.median,
    scale: Any = 1.0,
    nan_policy: Any = "propagate",
    *,
    keepdims: Any = False,
) -> Any:
    """Median distance from the median."""
    _demand(nan_policy)
    sample, place = _flat(x, axis)
    middle = np.expand_dims(center(sample, axis=place), place)
    found = np.median(np.abs(sample - middle), axis=place, keepdims=keepdims)
    if isinstance(scale, str):
        return found / (_NORMAL_QUARTILES / 2)
    return found / scale


@composition(stats.trim_mean, domain=("A(6), 0.2", "A(2,6), 0.34, 1"))
def trim_mean(
    a: Any, proportiontocut: Any, axis: Any = 0, *, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any:
    """Mean without what is smallest and largest."""
    _demand(nan_policy)
    sample, place = _flat(a, axis)
    n = np.shape(sample)[place]
    cut = int(proportiontocut * n)
    ordered = np.moveaxis(np.sort(sample, axis=place), place, -1)[..., cut : n - cut]
    found = np.moveaxis(np.mean(ordered, axis=-1, keepdims=True), -1, place)
    return _without(found, place, keepdims)


@composition(stats.describe, domain=("A(5)",), always=True)
def describe(a: Any, axis: Any = 0, ddof: Any = 1, bias: Any = True, nan_policy: Any = "propagate") -> Any:
    """Several statistics of a sample at once."""
    _demand(nan_policy)
    sample, place = _flat(a, axis)
    return Description(
        np.shape(sample)[place],
        (np.min(sample, axis=place), np.max(sample, axis=place)),
        np.mean(sample, axis=place),
        np.var(sample, axis=place, ddof=ddof),
        stats.skew(sample, place, bias),
        stats.kurtosis(sample, place, True, bias),
    )


@composition(stats.boxcox_llf, domain=("x, P(5)", "x, P(5,2)"))
def boxcox_llf(lmb: Any, data: Any, *, axis: Any = 0, keepdims: Any = False, nan_policy: Any = "propagate") -> Any:
    """Log-likelihood of the Box-Cox transform."""
    _demand(nan_policy)
    sample = np.asarray(data)
    logs = np.log(sample)
    n = np.shape(sample)[axis]
    if np.any(np.ptp(logs if lmb == 0 else lmb * logs, axis=axis) < 1e-12):
        raise NotDifferentiable(
            "scipy.stats.boxcox_llf of numbers that are equal after the transform has a value of rounding alone",
            hint="leave such a sample, or so small a `lmb`, out",
        )
    moved = special.boxcox(sample, lmb) if lmb == 0 else sample**lmb / lmb
    spread = np.var(moved, axis=axis, keepdims=keepdims)
    return (lmb - 1) * np.sum(logs, axis=axis, keepdims=keepdims) - n / 2 * np.log(spread)


def _both_sides(t: Any, df: Any, alternative: Any) -> Any:
    """The probability of a value of Student's distribution, or of one further out."""
    if alternative == "less":
        return special.stdtr(df, t)
    if alternative == "greater":
        return special.stdtr(df, -t)
    return 2.0 * special.stdtr(df, -np.abs(t))


@composition(stats.ttest_1samp, domain=(), always=True)
def ttest_1samp(
    a: Any,
    popmean: Any,
    axis: Any = 0,
    nan_policy: Any = "propagate",
    alternative: Any = "two-sided",
    *,
    keepdims: Any = False,
) -> Any:
    """Student's test of a mean."""
    _demand(nan_policy)
    sample, place = _flat(a, axis)
    n = np.shape(sample)[place]
    error = np.sqrt(np.var(sample, axis=place, ddof=1, keepdims=keepdims) / n)
    t = (np.mean(sample, axis=place, keepdims=keepdims) - popmean) / error
    return Tested(t, _both_sides(t, n - 1, alternative))


@composition(stats.ttest_rel, domain=(), always=True)
def ttest_rel(a: Any, b: Any, axis: Any = 0, nan_policy: Any = "propagate", alternative: Any = "two-sided") -> Any:
    """Student's test of pairs."""
    _demand(nan_policy)
    return stats.ttest_1samp(np.asarray(a) - np.asarray(b), 0.0, axis, alternative=alternative)


@composition(stats.ttest_ind, domain=(), always=True)
def ttest_ind(
    a: Any,
    b: Any,
    axis: Any = 0,
    equal_var: Any = True,
    nan_policy: Any = "propagate",
    alternative: Any = "two-sided",
) -> Any:
    """Student's or Welch's test of two means."""
    _demand(nan_policy)
    first, place = _flat(a, axis)
    second, _ = _flat(b, axis)
    n, m = np.shape(first)[place], np.shape(second)[place]
    v, w = np.var(first, axis=place, ddof=1), np.var(second, axis=place, ddof=1)
    if equal_var:
        df = n + m - 2.0
        spread = np.sqrt(((n - 1) * v + (m - 1) * w) / df * (1.0 / n + 1.0 / m))
    else:
        df = (v / n + w / m) ** 2 / ((v / n) ** 2 / (n - 1) + (w / m) ** 2 / (m - 1))
        spread = np.sqrt(v / n + w / m)
    t = (np.mean(first, axis=place) - np.mean(second, axis=place)) / spread
    return Tested(t, _both_sides(t, df, alternative))


@composition(stats.pearsonr, domain=(), always=True)
def pearsonr(x: Any, y: Any, *, alternative: Any = "two-sided", method: Any = None, axis: Any = 0) -> Any:
    """Correlation of two samples."""
    if method is not None or alternative != "two-sided":
        raise NotDifferentiable(
            "pearsonr has a derivative for both sides and by its own distribution", hint="leave the options out"
        )
    first, place = _flat(x, axis)
    second, _ = _flat(y, axis)
    dx = first - np.mean(first, axis=place, keepdims=True)
    dy = second - np.mean(second, axis=place, keepdims=True)
    r = np.sum(dx * dy, axis=place) / np.sqrt(np.sum(dx * dx, axis=place) * np.sum(dy * dy, axis=place))
    half = np.shape(first)[place] / 2.0 - 1.0
    return Tested(r, 2.0 * special.betainc(half, half, (1.0 - np.abs(r)) / 2.0))


@composition(stats.linregress, domain=(), always=True)
def linregress(x: Any, y: Any, alternative: Any = "two-sided") -> Any:
    """Line through points by least squares."""
    first, second = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    n = np.size(first)
    dx, dy = first - np.mean(first), second - np.mean(second)
    xx, xy, yy = np.mean(dx * dx), np.mean(dx * dy), np.mean(dy * dy)
    slope, r = xy / xx, xy / np.sqrt(xx * yy)
    df = n - 2
    tiny = 1e-20  # as SciPy has it, for points that lie on a line
    t = r * np.sqrt(df / ((1.0 - r + tiny) * (1.0 + r + tiny)))
    error = np.sqrt((1.0 - r**2) * yy / xx / df)
    return Line(slope, np.mean(second) - slope * np.mean(first), r, _both_sides(t, df, alternative), error)


# Statistics of the part of a sample that lies between limits, of which the derivatives are those of what is inside.


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
