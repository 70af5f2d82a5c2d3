"""Sums, means, extremes of the elements of an image that have a label."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage

from tangentx.templates.compositions import composition


def _of_labels(measure: Callable[[Any], Any], input: Any, labels: Any, index: Any, double: bool = False) -> Any:
    """A measure of the elements with each label of `index`; of all with a label where there is no index.

    SciPy counts by `numpy.bincount` where there are several labels, in double precision.
    """
    image = np.asarray(input)
    if labels is None:
        return measure(np.ravel(image))
    image, known = np.broadcast_arrays(image, np.asarray(labels))
    if index is None:
        return measure(image[known > 0])
    wanted, found = np.asarray(index), []
    if np.ndim(wanted) == 0:
        return measure(image[known == wanted])
    if double:
        image = image.astype(float)
    for label in np.ravel(wanted):
        found.append(measure(image[known == label]))
    return np.reshape(np.array(found), np.shape(wanted))


def _mean(x: Any) -> Any:
    return np.sum(x) / np.float64(np.size(x))


def _variance(x: Any) -> Any:
    away = x - np.mean(x)
    return _mean(away * np.conj(away))


def _least(x: Any) -> Any:
    return np.min(x) if np.size(x) > 0 else 0.0


def _largest(x: Any) -> Any:
    return np.max(x) if np.size(x) > 0 else 0.0


_LABELS = (
    "A(6)",
    "A(6), np.array([1, 0, 2, 1, 2, 2])",
    "A(2,3), np.array([[1, 0, 2], [1, 2, 2]]), [1, 2]",
    "A(2,3), np.array([2, 0, 1]), np.array([[1], [2]])",
    "A(5), [0, 1, 2, 2, 1], [1, 2]",
)


@composition(ndimage.sum_labels, ndimage.sum, domain=_LABELS)
def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Sums."""
    return _of_labels(np.sum, input, labels, index, double=True)


@composition(ndimage.mean, domain=_LABELS)
def mean(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Means."""
    return _of_labels(_mean, input, labels, index, double=True)


@composition(ndimage.variance, domain=_LABELS)
def variance(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Variances."""
    return _of_labels(_variance, input, labels, index, double=True)


@composition(ndimage.standard_deviation, domain=_LABELS)
def standard_deviation(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Standard deviations."""
    return np.sqrt(_of_labels(_variance, input, labels, index, double=True))


@composition(ndimage.minimum, domain=_LABELS)
def minimum(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Least elements."""
    return _of_labels(_least, input, labels, index)


@composition(ndimage.maximum, domain=_LABELS)
def maximum(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Largest elements."""
    return _of_labels(_largest, input, labels, index)


@composition(ndimage.median, domain=_LABELS)
def median(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Medians."""
    return _of_labels(np.median, input, labels, index)
