"""Draws of random generators by their parameters: a draw of standard numbers, moved and scaled.

The numbers are those that NumPy would have drawn, and the generator is left as NumPy leaves it. What counts, or
chooses, depends on its parameters in steps: it is a constant of the run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import constant_option, stop_gradient
from tangentx.errors import NotDifferentiable
from tangentx.templates.library_classes import methods_of


def _number(value: Any) -> Any:
    """A parameter as it is calculated with."""
    return np.asarray(value) if isinstance(value, (list, tuple)) else value


def _fixed(value: Any) -> Any:
    """A parameter of which what is drawn depends in steps."""
    return stop_gradient(_number(value))


def _extent(size: Any, parameters: Any) -> Any:
    """How many numbers are drawn: as many as are asked for, else as many as there are parameters."""
    if size is not None:
        return size
    shape = np.shape(parameters)
    return shape if len(shape) > 0 else None


def _demand_positive(value: Any, message: Any) -> Any:
    if np.any(np.asarray(value) < 0.0):
        raise ValueError(message)


def _fitting(found: Any, drawn: Any) -> Any:
    """What was made of a draw, which has to be as large."""
    if np.shape(found) != np.shape(drawn):
        raise ValueError("Output size is not compatible with broadcast dimensions of inputs.")
    return found


def _moved(loc: Any, scale: Any, drawn: Any) -> Any:
    return _fitting(loc + scale * drawn, drawn)


def _taken(a: Any, places: Any, axis: Any) -> Any:
    return np.take(np.asarray(a), places, axis=axis)


def _rows(a: Any, axis: Any) -> Any:
    """Of how many one is chosen."""
    return np.shape(a)[axis]


@methods_of(np.random.Generator, np.random.RandomState)
class Draws:
    """What both kinds of generators draw."""

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Normal numbers."""
        loc, scale = _number(loc), _number(scale)
        _demand_positive(scale, "scale < 0")
        return _moved(loc, scale, self.standard_normal(_extent(size, loc + scale)))  # type: ignore[attr-defined]

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        """Numbers whose logarithms are normal."""
        mean, sigma = _number(mean), _number(sigma)
        _demand_positive(sigma, "sigma < 0")
        drawn = self.standard_normal(_extent(size, mean + sigma))  # type: ignore[attr-defined]
        return np.exp(_moved(mean, sigma, drawn))

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Exponential numbers."""
        scale = _number(scale)
        _demand_positive(scale, "scale < 0")
        drawn = self.standard_exponential(_extent(size, scale))  # type: ignore[attr-defined]
        return _fitting(scale * drawn, drawn)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        """Numbers of a gamma distribution, by its scale."""
        scale, fixed = _number(scale), _number(constant_option(shape, "`shape`"))
        _demand_positive(scale, "scale < 0")
        drawn = self.standard_gamma(fixed, _extent(size, fixed + scale))  # type: ignore[attr-defined]
        return _fitting(scale * drawn, drawn)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Numbers of Laplace's distribution."""
        loc, scale = _number(loc), _number(scale)
        _demand_positive(scale, "scale < 0")
        return _moved(loc, scale, self.laplace(0.0, 1.0, _extent(size, loc + scale)))

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Logistic numbers."""
        loc, scale = _number(loc), _number(scale)
        _demand_positive(scale, "scale < 0")
        return _moved(loc, scale, self.logistic(0.0, 1.0, _extent(size, loc + scale)))

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Numbers of Gumbel's distribution."""
        loc, scale = _number(loc), _number(scale)
        _demand_positive(scale, "scale < 0")
        return _moved(loc, scale, self.gumbel(0.0, 1.0, _extent(size, loc + scale)))

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Numbers of Rayleigh's distribution."""
        scale = _number(scale)
        _demand_positive(scale, "scale < 0")
        drawn = self.rayleigh(1.0, _extent(size, scale))
        return _fitting(scale * drawn, drawn)

    def weibull(self, a: Any, size: Any = None) -> Any:
        """Numbers of Weibull's distribution, by its shape."""
        a = _number(a)
        _demand_positive(a, "a < 0")
        drawn = self.standard_exponential(_extent(size, a))  # type: ignore[attr-defined]
        return _fitting(drawn ** (1.0 / a), drawn)

    def pareto(self, a: Any, size: Any = None) -> Any:
        """Numbers of Pareto's distribution, by its shape."""
        a = _number(a)
        _demand_positive(a, "a <= 0")
        drawn = self.standard_exponential(_extent(size, a))  # type: ignore[attr-defined]
        return _fitting(np.expm1(drawn / a), drawn)

    def power(self, a: Any, size: Any = None) -> Any:
        """Numbers of a power law in [0, 1], by its exponent."""
        a = _number(a)
        _demand_positive(a, "a <= 0")
        drawn = self.standard_exponential(_extent(size, a))  # type: ignore[attr-defined]
        return _fitting((-np.expm1(-drawn)) ** (1.0 / a), drawn)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Uniform numbers."""
        low, high = _number(low), _number(high)
        return _moved(low, high - low, self.uniform(0.0, 1.0, _extent(size, low + high)))

    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
        """Numbers whose density is a triangle, by where it begins, has its top, and ends."""
        left, mode, right = _number(left), _number(mode), _number(right)
        if np.any(np.greater(left, mode)) or np.any(np.greater(mode, right)) or np.any(np.equal(left, right)):
            raise ValueError("left, mode and right have to be in order, and left below right")
        drawn = self.uniform(0.0, 1.0, _extent(size, left + mode + right))
        width = right - left
        first = drawn * width <= mode - left
        rising = left + np.sqrt(np.where(first, drawn * (mode - left) * width, 1.0))
        falling = right - np.sqrt(np.where(first, 1.0, (1.0 - drawn) * (right - mode) * width))
        return _fitting(np.where(first, rising, falling)[()], drawn)

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        """Counts: constants of the run."""
        return self.poisson(_fixed(lam), size)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Counts: constants of the run."""
        return self.binomial(n, _fixed(p), size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        """Counts: constants of the run."""
        return self.geometric(_fixed(p), size)

    def shuffle(self, x: Any) -> Any:
        """The elements of a row, put into an order that is a constant of the run."""
        if np.ndim(x) != 1 or isinstance(x, list):
            raise NotDifferentiable(
                "`shuffle` of what is no array of one axis has no derivative rule",
                hint="write `x = rng.permutation(x)`, for an array",
            )
        x[:] = x[self.permutation(np.shape(x)[0])]  # type: ignore[attr-defined]


@methods_of(np.random.Generator)
class ModernDraws:
    """What `numpy.random.Generator` draws out of an array."""

    def choice(
        self, a: Any, size: Any = None, replace: Any = True, p: Any = None, axis: Any = 0, shuffle: Any = True
    ) -> Any:
        """Some of the elements, chosen by constants of the run."""
        weights = None if p is None else _fixed(p)
        if isinstance(a, (int, np.integer)):
            return self.choice(a, size, replace, weights, 0, shuffle)
        return _taken(a, self.choice(_rows(a, axis), size, replace, weights, 0, shuffle), axis)

    def permutation(self, x: Any, axis: Any = 0) -> Any:
        """The elements in an order that is a constant of the run."""
        return _taken(x, self.permutation(_rows(x, axis)), axis)

    def permuted(self, x: Any, *, axis: Any = None) -> Any:
        """The elements, of each row for itself or all together, in an order that is a constant of the run."""
        given = np.asarray(x)
        places = np.reshape(np.arange(np.size(given)), np.shape(given))
        return np.ravel(given)[self.permuted(places, axis=axis)]

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Any = None,
        check_valid: Any = "warn",
        tol: Any = 1e-8,
        *,
        method: Any = "svd",
    ) -> Any:
        """Normal vectors, by their mean; by their covariance too where its factor is Cholesky's."""
        if method != "cholesky":
            fixed = constant_option(cov, "`cov`, of which a factor is not unique (write `method='cholesky'`)")
            drawn = self.multivariate_normal(np.zeros(np.shape(mean)), fixed, size, check_valid, tol, method=method)
            return mean + drawn
        count = np.shape(mean)[0]
        extent = () if size is None else (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        drawn = self.standard_normal((*extent, count))  # type: ignore[attr-defined]
        return mean + drawn @ np.transpose(np.linalg.cholesky(cov))


@methods_of(np.random.RandomState)
class LegacyDraws:
    """What `numpy.random.RandomState`, and the functions of `numpy.random`, draw out of an array."""

    def choice(self, a: Any, size: Any = None, replace: Any = True, p: Any = None) -> Any:
        """Some of the elements, chosen by constants of the run."""
        weights = None if p is None else _fixed(p)
        if isinstance(a, (int, np.integer)):
            return self.choice(a, size, replace, weights)
        return _taken(a, self.choice(_rows(a, 0), size, replace, weights), 0)

    def permutation(self, x: Any) -> Any:
        """The elements in an order that is a constant of the run."""
        return _taken(x, self.permutation(_rows(x, 0)), 0)

    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: Any = "warn", tol: Any = 1e-8
    ) -> Any:
        """Normal vectors, by their mean."""
        fixed = constant_option(cov, "`cov`, of which a factor is not unique,")
        return mean + self.multivariate_normal(np.zeros(np.shape(mean)), fixed, size, check_valid, tol)
