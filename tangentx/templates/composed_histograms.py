"""Histograms: sums of weights over bins, and the edges of the bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import bin_of, cells_of, ordered_by_bins
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import constant

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
