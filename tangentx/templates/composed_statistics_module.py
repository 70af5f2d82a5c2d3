"""Python's module `statistics`, for data that vary."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from tangentx.arrays import length_of
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition

_LINE: Any = type(statistics.linear_regression([0.0, 1.0], [0.0, 1.0]))


@composition(statistics.mean, domain=("[x, y, 0.1]", "A(4)"))
def mean(data: Any) -> Any:
    """Mean of some numbers."""
    return float(np.mean(data))


@composition(statistics.fmean, domain=("[x, y, 0.1]", "[x, y], [0.3, y]"))
def fmean(data: Any, weights: Any = None) -> Any:
    """Mean, with weights."""
    return float(np.mean(data) if weights is None else np.average(data, weights=np.asarray(weights)))


@composition(statistics.geometric_mean, domain=("[x, y, 0.1]",))
def geometric_mean(data: Any) -> Any:
    """Root of the product, by logarithms."""
    return float(np.exp(np.mean(np.log(np.asarray(data)))))


@composition(statistics.harmonic_mean, domain=("[x, y, 0.1]", "[x, y], [0.3, y]"))
def harmonic_mean(data: Any, weights: Any = None) -> Any:
    """Reciprocal of the mean of reciprocals."""
    parts = 1.0 / np.asarray(data)
    return float(1.0 / (np.mean(parts) if weights is None else np.average(parts, weights=np.asarray(weights))))


@composition(statistics.median, domain=("[x, y, 0.1]", "A(4)"))
def median(data: Any) -> Any:
    """Mean of the one or two numbers in the middle."""
    return float(np.median(data))


@composition(statistics.median_low, domain=("[x, y, 0.1, 0.4]",))
def median_low(data: Any) -> Any:
    """The lower of the two in the middle."""
    return float(np.sort(np.stack(data))[(len(data) - 1) // 2])


@composition(statistics.median_high, domain=("[x, y, 0.1, 0.4]",))
def median_high(data: Any) -> Any:
    """The higher of the two in the middle."""
    return float(np.sort(np.stack(data))[len(data) // 2])


@composition(statistics.quantiles, domain=("[x, y, 0.1, 0.4]", "[x, y, 0.1], n=3, method='inclusive'"))
def quantiles(data: Any, *, n: Any = 4, method: Any = "exclusive") -> Any:
    """The points that cut the data into groups of one size."""
    parts = np.arange(1, n) / n
    found = np.quantile(data, parts, method="weibull" if method == "exclusive" else "linear")
    return [float(found[k]) for k in range(n - 1)]


def _spread(data: Any, center: Any, less: Any) -> Any:
    """Sum of the squares of the deviations, over the number of data less some."""
    if len(data) <= less:
        raise statistics.StatisticsError("more data points are needed")
    deviation = np.asarray(data) - (np.mean(data) if center is None else center)
    return np.sum(deviation * deviation) / (len(data) - less)


@composition(statistics.variance, domain=("[x, y, 0.1]", "A(4), x"))
def variance(data: Any, xbar: Any = None) -> Any:
    """Variance of a sample."""
    return float(_spread(data, xbar, 1))


@composition(statistics.pvariance, domain=("[x, y, 0.1]", "A(4), x"))
def pvariance(data: Any, mu: Any = None) -> Any:
    """Variance of all there are."""
    return float(_spread(data, mu, 0))


@composition(statistics.stdev, domain=("[x, y, 0.1]", "[x, y, 0.3], x"))
def stdev(data: Any, xbar: Any = None) -> Any:
    """Standard deviation of a sample."""
    return float(length_of(_spread(data, xbar, 1)))


@composition(statistics.pstdev, domain=("[x, y, 0.1]", "[x, y, 0.3], x"))
def pstdev(data: Any, mu: Any = None) -> Any:
    """Standard deviation of all there are."""
    return float(length_of(_spread(data, mu, 0)))


@composition(statistics.covariance, domain=("[x, y, 0.1], [y, 0.3, x]", "A(4), A(4)"))
def covariance(x: Any, y: Any) -> Any:
    """How two samples vary together."""
    return float(np.sum((np.asarray(x) - np.mean(x)) * (np.asarray(y) - np.mean(y))) / (len(x) - 1))


@composition(statistics.correlation, domain=("[x, y, 0.1], [y, 0.3, x]",))
def correlation(x: Any, y: Any, *, method: Any = "linear") -> Any:
    """Covariance over both standard deviations; of ranks, which do not vary, for ``method="ranked"``."""
    if method != "linear":
        raise NotDifferentiable("ranks change in steps", hint="leave `method` out")
    a, b = np.asarray(x) - np.mean(x), np.asarray(y) - np.mean(y)
    return float(np.sum(a * b) / np.sqrt(np.sum(a * a) * np.sum(b * b)))


@composition(statistics.linear_regression, domain=("[x, y, 0.1], [y, 0.3, x]", "[x, y], [y, 0.3], proportional=True"))
def linear_regression(x: Any, y: Any, *, proportional: Any = False) -> Any:
    """Slope and intercept of the line with the least squares."""
    if proportional:
        return _LINE(float(np.sum(np.asarray(x) * np.asarray(y)) / np.sum(np.asarray(x) ** 2)), 0.0)
    a = np.asarray(x) - np.mean(x)
    slope = np.sum(a * (np.asarray(y) - np.mean(y))) / np.sum(a * a)
    return _LINE(float(slope), float(np.mean(y) - slope * np.mean(x)))
