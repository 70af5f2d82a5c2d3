"""Distances of Minkowski's: `scipy.spatial.minkowski_distance` and `distance_matrix`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import spatial

from tangentx.errors import NotDifferentiable
from tangentx.templates.composed_norms import power_of_some
from tangentx.templates.compositions import composition


@composition(
    spatial.minkowski_distance_p,
    double=True,
    domain=("A(4,3), A(3)", "A(3), A(3), 1.0", "A(2,3), A(2,3), np.inf", "A(3), A(3), 3.0"),
)
def minkowski_distance_p(x: Any, y: Any, p: Any = 2.0) -> Any:
    """The `p`-th power of the distance along the last axis."""
    apart = np.abs(np.asarray(y) - np.asarray(x))
    if p == np.inf:
        return np.max(apart, axis=-1)
    return np.sum(power_of_some(apart, p) if p > 0 else apart**p, axis=-1)


@composition(
    spatial.minkowski_distance,
    double=True,
    domain=("A(4,3), A(3)", "A(3), A(3), 1", "A(2,3), A(3), np.inf", "A(3), A(3), 3.0"),
)
def minkowski_distance(x: Any, y: Any, p: Any = 2) -> Any:
    """The distance along the last axis."""
    apart = np.asarray(y) - np.asarray(x)
    if not p >= 1:
        raise NotDifferentiable("distances of orders below 1 have no rule", hint="give a `p` of at least 1")
    return np.linalg.norm(apart, p, axis=-1)


@composition(spatial.distance_matrix, double=True, domain=("A(2,3), A(4,3)", "A(2,3), A(4,3), 1"))
def distance_matrix(x: Any, y: Any, p: Any = 2, threshold: Any = 1000000) -> Any:
    """The distances of all pairs of rows of two tables."""
    return spatial.minkowski_distance(np.expand_dims(x, 1), np.expand_dims(y, 0), p)
