"""Densities of samples by Gaussian kernels: `gaussian_kde`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from tangentx.arrays import made_of
from tangentx.errors import NotDifferentiable
from tangentx.templates.library_classes import constructor_of, methods_of


@constructor_of(stats.gaussian_kde)
def gaussian_kde(dataset: Any, bw_method: Any = None, weights: Any = None) -> Any:
    """A sample with the weights of its points, and the width of a kernel by the spread of the sample."""
    data = np.atleast_2d(np.asarray(dataset)) * 1.0
    d, n = np.shape(data)
    given = np.full(n, 1.0 / n) if weights is None else np.asarray(weights) / np.sum(weights)
    return made_of(stats.gaussian_kde, dataset=data, weights=given, factor=_factor(bw_method, given, d))


def _factor(method: Any, weights: Any, d: Any) -> Any:
    """The width of a kernel by that of the sample."""
    many = 1.0 / np.sum(weights * weights)
    if method is None or (isinstance(method, str) and method == "scott"):
        return many ** (-1.0 / (d + 4))
    if isinstance(method, str):
        return (many * (d + 2.0) / 4.0) ** (-1.0 / (d + 4))
    if callable(method):
        raise NotDifferentiable("`bw_method` of gaussian_kde as a function has no rule", hint="pass the number")
    return method * 1.0


@methods_of(stats.gaussian_kde)
class Kernels:
    """One kernel at each point of a sample."""

    dataset: Any
    weights: Any
    factor: Any

    def evaluate(self, points: Any) -> Any:
        """The density at `points`, one in each column."""
        energy, size = _distances(self, points)
        return np.exp(-energy) @ self.weights / size

    def __call__(self, points: Any) -> Any:
        """The density at `points`."""
        energy, size = _distances(self, points)
        return np.exp(-energy) @ self.weights / size

    def pdf(self, x: Any) -> Any:
        """The density at points."""
        energy, size = _distances(self, x)
        return np.exp(-energy) @ self.weights / size

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density."""
        energy, size = _distances(self, x)
        return special.logsumexp(-energy, axis=1, b=self.weights) - np.log(size)

    def integrate_box_1d(self, low: Any, high: Any) -> Any:
        """The probability between two numbers."""
        width = np.sqrt(_covariance(self)[0, 0])
        sample = self.dataset[0]
        return np.sum(self.weights * (special.ndtr((high - sample) / width) - special.ndtr((low - sample) / width)))


def _covariance(kernels: Any) -> Any:
    """The covariance of a kernel."""
    data, weights = kernels.dataset, kernels.weights
    apart = data - (data @ weights)[:, None]
    return (apart * weights) @ apart.T / (1.0 - np.sum(weights * weights)) * kernels.factor**2


def _distances(kernels: Any, points: Any) -> Any:
    """Half the squared distances of points and kernels, by the width of these, and the volume of a kernel."""
    data = kernels.dataset
    at = np.atleast_2d(np.asarray(points)) * 1.0
    d = np.shape(data)[0]
    if np.shape(at)[0] != d:
        at = np.reshape(at, (d, 1))
    root = np.linalg.cholesky(_covariance(kernels))
    a, b = np.linalg.solve(root, data), np.linalg.solve(root, at)
    apart = b[:, :, None] - a[:, None, :]
    return np.sum(apart * apart, axis=0) / 2.0, np.prod(np.diagonal(root)) * (2.0 * np.pi) ** (d / 2.0)
