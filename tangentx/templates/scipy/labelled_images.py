"""Sums, means, extremes of the elements of an image that have a label."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage

from tangentx.templates.compositions import composition


def _of_labels(measure: Callable[[Any], Any], input: Any, labels: Any, index: Any) -> Any:
    """A measure of the elements with each label of `index`; of all with a label where there is no index."""
    image = np.asarray(input)
    if labels is None:
        return measure(np.ravel(image))
    known = np.broadcast_to(labels, np.shape(image))
    if index is None:
        return measure(image[known > 0])
    if np.ndim(index) == 0:
        return measure(image[known == index])
    found = []
    for label in np.ravel(index):
        found.append(measure(image[known == label]))
    return np.array(found)


_LABELS = ("A(6)", "A(6), np.array([1, 0, 2, 1, 2, 2])", "A(2,3), np.array([[1, 0, 2], [1, 2, 2]]), [1, 2]")


@composition(ndimage.sum_labels, ndimage.sum, domain=_LABELS)
def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Sums."""
    return _of_labels(np.sum, input, labels, index)


@composition(ndimage.mean, domain=_LABELS)
def mean(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Means."""
    return _of_labels(np.mean, input, labels, index)


@composition(ndimage.variance, domain=_LABELS)
def variance(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Variances."""
    return _of_labels(np.var, input, labels, index)


@composition(ndimage.standard_deviation, domain=_LABELS)
def standard_deviation(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Standard deviations."""
    return _of_labels(np.std, input, labels, index)


@composition(ndimage.minimum, domain=_LABELS)
def minimum(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Least elements."""
    return _of_labels(np.min, input, labels, index)


@composition(ndimage.maximum, domain=_LABELS)
def maximum(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Largest elements."""
    return _of_labels(np.max, input, labels, index)


@composition(ndimage.median, domain=_LABELS)
def median(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Medians."""
    return _of_labels(np.median, input, labels, index)
