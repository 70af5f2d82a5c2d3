"""`statistics.NormalDist`: a normal distribution as an object."""

from __future__ import annotations

import math
import statistics
from typing import Any

from tangentx.arrays import made_of, normal_quantile
from tangentx.templates.library_classes import constructor_of, methods_of

_NORMAL: Any = statistics.NormalDist
_BY_TAILS = statistics.NormalDist().cdf(-9.0) > 0.0  # as Python finds it since 3.12


def _made(mu: Any, sigma: Any) -> Any:
    return made_of(statistics.NormalDist, _mu=mu, _sigma=sigma)


@constructor_of(statistics.NormalDist)
def normal(mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    """A distribution by its mean and standard deviation."""
    if sigma < 0.0:
        raise statistics.StatisticsError("sigma must be non-negative")
    return _made(float(mu), float(sigma))


@methods_of(statistics.NormalDist)
class Normal:
    """A mean `_mu` and a standard deviation `_sigma`; `__radd__` and `__rmul__` are those without the r."""

    _mu: Any
    _sigma: Any

    @property
    def mean(self) -> Any:
        """The mean."""
        return self._mu

    @property
    def median(self) -> Any:
        """The median."""
        return self._mu

    @property
    def stdev(self) -> Any:
        """The standard deviation."""
        return self._sigma

    @property
    def variance(self) -> Any:
        """The variance."""
        return self._sigma * self._sigma

    def pdf(self, x: Any) -> Any:
        """The density."""
        variance = self._sigma * self._sigma
        if not variance:
            raise statistics.StatisticsError("pdf() not defined when sigma is zero")
        apart = x - self._mu
        return math.exp(apart * apart / (-2.0 * variance)) / math.sqrt(2.0 * math.pi * variance)

    def cdf(self, x: Any) -> Any:
        """The probability of a number that is not above `x`."""
        if not self._sigma:
            raise statistics.StatisticsError("cdf() not defined when sigma is zero")
        turns = (x - self._mu) / (self._sigma * math.sqrt(2.0))
        return 0.5 * math.erfc(-turns) if _BY_TAILS else 0.5 * (1.0 + math.erf(turns))

    def zscore(self, x: Any) -> Any:
        """By how many standard deviations `x` is above the mean."""
        if not self._sigma:
            raise statistics.StatisticsError("zscore() not defined when sigma is zero")
        return (x - self._mu) / self._sigma

    def inv_cdf(self, p: Any) -> Any:
        """The number that is exceeded with probability ``1 - p``."""
        if p <= 0.0 or p >= 1.0:
            raise statistics.StatisticsError("p must be in the range 0.0 < p < 1.0")
        if self._sigma <= 0.0:
            raise statistics.StatisticsError("cdf() not defined when sigma at or below zero")
        return self._mu + self._sigma * normal_quantile(p)

    def quantiles(self, n: Any = 4) -> Any:
        """The points that cut the numbers into intervals of one probability."""
        return [self.inv_cdf(i / n) for i in range(1, n)]

    def __add__(self, other: Any) -> Any:
        """Moved by a number, or the sum of two independent ones."""
        if isinstance(other, _NORMAL):
            return _made(self._mu + other._mu, math.hypot(self._sigma, other._sigma))
        return _made(self._mu + other, self._sigma)

    def __sub__(self, other: Any) -> Any:
        """Moved by a number, or the difference of two independent ones."""
        if isinstance(other, _NORMAL):
            return _made(self._mu - other._mu, math.hypot(self._sigma, other._sigma))
        return _made(self._mu - other, self._sigma)

    def __rsub__(self, other: Any) -> Any:
        """A number less this one."""
        return _made(other - self._mu, self._sigma)

    def __mul__(self, other: Any) -> Any:
        """Made wider by a number."""
        return _made(self._mu * other, self._sigma * math.fabs(other))

    def __truediv__(self, other: Any) -> Any:
        """Made narrower by a number."""
        return _made(self._mu / other, self._sigma / math.fabs(other))

    def __neg__(self) -> Any:
        """Mirrored at 0."""
        return _made(-self._mu, self._sigma)
