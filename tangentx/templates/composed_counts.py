"""Sets of numbers and histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import beside_unique, bin_of, cells_of, firsts, ordered_by_bins
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import constant

# Histograms: sums of weights over bins, and the edges of the bins.

constant(bin_of, cells_of, ordered_by_bins)

_EDGES = "np.array([0.0, 0.5, 1.0, 2.0])"


@composition(
    np.histogram_bin_edges, domain=("P(4), 3", "P(4), 2, (x, y)", f"P(4), bins={_EDGES}", "A(4), 4, weights=None")
)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """Where the bins begin and end: between the least and the largest element, or as they are given."""
    if isinstance(bins, str):
        raise NotDifferentiable(
            "the number of bins depends on the elements", hint="give the number, or the edges of the bins"
        )
    if np.ndim(bins) > 0:
        return np.asarray(bins)
    low, high = _ends(a) if range is None else (range[0], range[1])
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, bins + 1)
    return edges.astype(np.float32) if np.result_type(a) == np.float32 else edges


def _ends(a: Any) -> Any:
    """The least and the largest element; of none, 0 and 1."""
    return (np.min(a), np.max(a)) if np.size(a) > 0 else (0.0, 1.0)


@composition(
    np.histogram,
    domain=(
        f"P(4), {_EDGES}, weights=P(4)",
        "P(5), 3, None, None, P(5)",
        "P(5), 3, (0.1, 1.9), True, A(5)",
        "P(4), bins=3, density=True",
    ),
)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """Sums of the weights of the elements in each bin: the counts have no derivative."""
    edges = np.histogram_bin_edges(a, bins, range)
    if weights is None:
        counts = np.bincount(bin_of(a, edges), minlength=len(edges))[:-1]
    elif np.ndim(bins) == 0:
        counts = _sums(bin_of(a, edges), len(edges) - 1, weights).astype(np.result_type(weights))
    else:
        order, ends = ordered_by_bins(a, edges)
        running = np.cumsum(np.ravel(weights)[order])
        counts = np.diff(np.concatenate([np.zeros_like(running, shape=1), running])[ends])
    return (counts / np.diff(edges).astype(np.float64) / np.sum(counts) if density else counts), edges


def _sums(places: Any, count: Any, weights: Any) -> Any:
    """Sums of weights by places, behind the last of which stands what is left out."""
    if np.size(weights) == 0:  # of which NumPy would count in integers
        return np.zeros(count, np.asarray(weights).dtype)
    return np.bincount(places, np.ravel(weights), count + 1)[:count]


@composition(
    np.histogram2d,
    domain=(
        "P(5), P(5), 2, None, None, A(5)",
        f"P(4), P(4), [{_EDGES}, np.array([0.0, 2.0])], weights=A(4), density=True",
    ),
    containers=True,
)
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """Sums of the weights of points in each cell of a table."""
    both = isinstance(bins, (list, tuple))
    down = np.histogram_bin_edges(x, bins[0] if both else bins, None if range is None else range[0])
    across = np.histogram_bin_edges(y, bins[1] if both else bins, None if range is None else range[1])
    shape = len(down) - 1, len(across) - 1
    cells, count = cells_of(x, y, down, across), shape[0] * shape[1]
    found = np.bincount(cells, minlength=count + 1)[:count] if weights is None else _sums(cells, count, weights)
    sums = np.reshape(found, shape) + 0.0
    if density:
        sums = sums / np.expand_dims(np.diff(down), 1) / np.diff(across) / np.sum(sums)
    return sums, down, across


# Sets of numbers: sorted, without repeats; equal elements share the derivative of the one that stays.

constant(beside_unique, firsts)

_COUNTS: Any = type(np.unique_counts(np.ones(1)))
_INVERSE: Any = type(np.unique_inverse(np.ones(1)))
_ALL: Any = type(np.unique_all(np.ones(1)))


@composition(
    np.unique,
    domain=(
        "A(4)",
        "A(3), True",
        "A(3), return_inverse=True, return_counts=True",
    ),
)
def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
) -> Any:
    """The different elements in order, and where they are."""
    if axis is not None:
        raise NotDifferentiable("np.unique of rows has no derivative", hint="index the rows: `a[np.unique(k)]`")
    ordered = np.sort(np.ravel(ar))
    values = ordered[firsts(ordered, equal_nan)]
    if not (return_index or return_inverse or return_counts):
        return values
    return (values, *beside_unique(ar, return_index, return_inverse, return_counts, equal_nan))


@composition(np.unique_counts, domain=("A(3)",))
def unique_counts(x: Any) -> Any:
    """The different elements, and how many there are of each."""
    return _COUNTS(np.unique(x, equal_nan=False), beside_unique(x, False, False, True, False)[0])


@composition(np.unique_inverse, domain=("A(3)",))
def unique_inverse(x: Any) -> Any:
    """The different elements, and which of them stands at each place."""
    return _INVERSE(np.unique(x, equal_nan=False), beside_unique(x, False, True, False, False)[0])


@composition(np.unique_all, domain=("A(3)",))
def unique_all(x: Any) -> Any:
    """The different elements, and all about where they are."""
    rest = beside_unique(x, True, True, True, False)
    return _ALL(np.unique(x, equal_nan=False), rest[0], rest[1], rest[2])


@composition(np.union1d, domain=("A(3), A(2)",))
def union1d(ar1: Any, ar2: Any) -> Any:
    """The elements of either."""
    return np.unique(np.concatenate([np.ravel(ar1), np.ravel(ar2)]))


@composition(np.intersect1d, domain=("np.array([1.0, 2.0, 3.0]), np.array([2.5])",))
def intersect1d(ar1: Any, ar2: Any) -> Any:
    """The elements of both."""
    joined = np.sort(np.concatenate([np.unique(ar1), np.unique(ar2)]))
    return joined[:-1][joined[1:] == joined[:-1]]


@composition(np.setdiff1d, domain=("A(3), A(2)",))
def setdiff1d(ar1: Any, ar2: Any) -> Any:
    """The elements of the first that are not in the second."""
    found = np.unique(ar1)
    return found[np.isin(found, ar2, invert=True)]


@composition(np.setxor1d, domain=("A(3), A(2)",))
def setxor1d(ar1: Any, ar2: Any) -> Any:
    """The elements of one of the two alone."""
    one, other = np.unique(ar1), np.unique(ar2)
    kept = one[np.isin(one, other, invert=True)], other[np.isin(other, one, invert=True)]
    return np.sort(np.concatenate(kept))
