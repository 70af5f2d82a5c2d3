"""Filters of images by order: maxima, minima, medians and other ranks of the neighbours. Ties share, as in NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import ndimage

from tangentx.templates.compositions import composition
from tangentx.templates.scipy.images import along_axis, beyond, demand_no_output


def _neighbours(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """The neighbours of each element, in a row behind it."""
    demand_no_output(output)
    wide = np.asarray(input) * 1.0
    count = np.ndim(wide)
    for axis in range(count):
        width = np.shape(footprint)[axis] if footprint is not None else along_axis(size, axis)
        before = width // 2 + along_axis(origin, axis)
        wide = beyond(wide, before, width - 1 - before, axis, mode, cval)
    if footprint is None:
        widths = tuple([along_axis(size, axis) for axis in range(count)])
        found = sliding_window_view(wide, widths)
        return np.reshape(found, (*np.shape(found)[:count], -1))
    return sliding_window_view(wide, np.shape(footprint))[..., np.asarray(footprint, bool)]


@composition(
    ndimage.maximum_filter,
    domain=("A(4,5), 3", "A(6), 2, mode='nearest'", "A(4,5), None, np.array([[0, 1], [1, 1]]), mode='wrap'"),
)
def maximum_filter(input: Any, *given: Any, **options: Any) -> Any:
    """Largest of the neighbours."""
    return np.max(_neighbours(input, *given, **options), axis=-1)


@composition(ndimage.minimum_filter, domain=("A(4,5), (2, 3)", "A(6), 2, mode='constant', cval=0.3"))
def minimum_filter(input: Any, *given: Any, **options: Any) -> Any:
    """Least of the neighbours."""
    return np.min(_neighbours(input, *given, **options), axis=-1)


@composition(ndimage.rank_filter, domain=("A(4,5), 2, 3", "A(6), -1, 2"))
def rank_filter(input: Any, rank: Any, *given: Any, **options: Any) -> Any:
    """The neighbour of a rank."""
    return np.sort(_neighbours(input, *given, **options), axis=-1)[..., rank]


@composition(ndimage.median_filter, domain=("A(4,5), 3", "A(6), 2"))
def median_filter(input: Any, *given: Any, **options: Any) -> Any:
    """The neighbour in the middle."""
    ranked = np.sort(_neighbours(input, *given, **options), axis=-1)
    return ranked[..., np.shape(ranked)[-1] // 2]


@composition(ndimage.percentile_filter, domain=("A(4,5), 30.0, 3", "A(6), 100, 2"))
def percentile_filter(input: Any, percentile: Any, *given: Any, **options: Any) -> Any:
    """The neighbour below which are so many in a hundred."""
    ranked = np.sort(_neighbours(input, *given, **options), axis=-1)
    count = np.shape(ranked)[-1]
    share = percentile + 100.0 if percentile < 0.0 else 1.0 * percentile
    return ranked[..., min(int(count * share / 100.0), count - 1)]
