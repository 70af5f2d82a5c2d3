"""Distances of points, two or all pairs, by the metrics that have a derivative nearly everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special
from scipy.spatial import distance

from tangentx.arrays import stop_gradient, valued
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition


def _length(apart: Any, metric: Any, p: Any) -> Any:
    """The length of differences along the last axis."""
    if metric in ("euclidean", "euclid", "eu", "e"):
        return np.linalg.norm(apart, axis=-1)
    if metric in ("sqeuclidean", "sqe", "sqeuclid"):
        return np.sum(apart * apart, axis=-1)
    if metric in ("cityblock", "cblock", "cb", "c", "manhattan"):
        return np.sum(np.abs(apart), axis=-1)
    if metric in ("chebyshev", "chebychev", "cheby", "cheb", "ch"):
        return np.max(np.abs(apart), axis=-1)
    if metric in ("minkowski", "mi", "m", "pnorm"):
        if not p > 0:
            raise NotDifferentiable(
                "distances of orders that are not positive have no rule", hint="give a positive `p`"
            )
        return np.linalg.norm(apart, p, axis=-1)
    raise NotDifferentiable(
        "scipy.spatial.distance has a derivative for this metric nowhere, or no rule",
        hint="use 'euclidean', 'sqeuclidean', 'cityblock', 'chebyshev', 'minkowski' or 'cosine'",
    )


def _without_mean(x: Any) -> Any:
    return x - np.mean(x, axis=-1, keepdims=True)


def _unit(x: Any) -> Any:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


@composition(
    distance.cdist,
    double=True,
    domain=("A(2,3), A(4,3)", "A(2,3), A(4,3), 'cosine'", "A(2,3), A(4,3), 'minkowski', p=3.0"),
)
def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, p: Any = 2) -> Any:
    """Distances of the points of two tables, one for each pair."""
    if metric in ("cosine", "cos", "correlation", "co"):
        first, second = (XA, XB) if metric in ("cosine", "cos") else (_without_mean(XA), _without_mean(XB))
        return 1.0 - np.matmul(_unit(first), np.transpose(_unit(second)))
    return _length(np.expand_dims(XA, 1) - np.expand_dims(XB, 0), metric, p)


@composition(distance.pdist, double=True, domain=("A(4,3)", "A(4,3), 'sqeuclidean'"))
def pdist(X: Any, metric: Any = "euclidean", *, p: Any = 2) -> Any:
    """Distances of the points of one table, one for each pair, in a row."""
    first, second = np.triu_indices(np.shape(X)[0], 1)
    if metric in ("cosine", "cos", "correlation", "co"):
        rows = _unit(X if metric in ("cosine", "cos") else _without_mean(X))
        return 1.0 - np.sum(rows[first] * rows[second], axis=-1)
    return _length(X[first] - X[second], metric, p)


@composition(distance.squareform, domain=("A(6)",))
def squareform(X: Any, force: Any = "no", checks: Any = True) -> Any:
    """A row of distances of pairs as a table, or a table as a row."""
    if force != "no":
        raise NotDifferentiable("scipy.spatial.distance.squareform has no derivative with `force`", hint="leave it out")
    if np.ndim(X) == 2:
        return X[np.triu_indices(np.shape(X)[0], 1)]
    size = max(int(np.ceil(np.sqrt(2.0 * len(X)))), 1)
    first, second = np.triu_indices(size, 1)
    places = np.full((size, size), len(X))
    places[first, second] = np.arange(len(X))
    return np.concatenate([X, np.zeros(1, np.asarray(X).dtype)])[np.minimum(places, places.T)]


@composition(distance.euclidean, double=True, domain=("A(3), A(3)",))
def euclidean(u: Any, v: Any) -> Any:
    """Distance of two points."""
    return np.linalg.norm(np.asarray(u) - np.asarray(v))


@composition(distance.sqeuclidean, domain=("A(3), A(3)",))
def sqeuclidean(u: Any, v: Any) -> Any:
    """Square of the distance of two points."""
    return np.sum((np.asarray(u) - np.asarray(v)) ** 2)


@composition(distance.cityblock, domain=("A(3), A(3)",))
def cityblock(u: Any, v: Any) -> Any:
    """Sum of the differences of two points."""
    return np.sum(np.abs(np.asarray(u) - np.asarray(v)))


@composition(distance.chebyshev, domain=("A(3), A(3)",))
def chebyshev(u: Any, v: Any) -> Any:
    """Largest difference of two points."""
    return np.max(np.abs(np.asarray(u) - np.asarray(v)))


@composition(distance.minkowski, domain=("A(3), A(3), 3",))
def minkowski(u: Any, v: Any, p: Any = 2) -> Any:
    """Norm of order `p` of a difference."""
    return np.linalg.norm(np.asarray(u) - np.asarray(v), p)


@composition(distance.cosine, domain=("A(3), A(3)",))
def cosine(u: Any, v: Any) -> Any:
    """One less the cosine of the angle between two vectors."""
    return _apart(np.asarray(u), np.asarray(v))


def _apart(u: Any, v: Any) -> Any:
    """One less the cosine of an angle, from 0 to 2 whatever the rounding."""
    found = 1.0 - np.dot(u, v) / np.sqrt(np.dot(u, u) * np.dot(v, v))
    return valued(np.clip(stop_gradient(found), 0.0, 2.0), found)


@composition(distance.correlation, domain=("A(4), A(4)",))
def correlation(u: Any, v: Any) -> Any:
    """One less the correlation of two rows of numbers."""
    return _apart(_without_mean(np.asarray(u)), _without_mean(np.asarray(v)))


def _share(above: Any, below: Any) -> Any:
    """A quotient of sizes, 0 where both are."""
    return above / np.where(below == 0.0, 1.0, below)


@composition(distance.canberra, double=True, domain=("A(3), A(3)", "A(3), A(3), P(3)"))
def canberra(u: Any, v: Any, w: Any = None) -> Any:
    """Sum of the differences of two points, each over the size of both."""
    first, second = np.asarray(u), np.asarray(v)
    parts = _share(np.abs(first - second), np.abs(first) + np.abs(second))
    return np.sum(parts if w is None else w * parts)


@composition(distance.braycurtis, double=True, domain=("A(3), A(3)", "A(3), A(3), P(3)"))
def braycurtis(u: Any, v: Any, w: Any = None) -> Any:
    """Sum of the differences of two points, over that of their sums."""
    first, second = np.asarray(u), np.asarray(v)
    weights = np.ones(np.shape(first)) if w is None else w
    return np.sum(weights * np.abs(first - second)) / np.sum(weights * np.abs(first + second))


@composition(distance.mahalanobis, domain=("A(2), A(2), np.array([[2.0, 0.3], [0.3, 1.0]])",))
def mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    """Length of a difference, measured by a matrix."""
    apart = np.asarray(u) - np.asarray(v)
    return np.sqrt(apart @ np.asarray(VI) @ apart)


@composition(distance.seuclidean, double=True, domain=("A(3), A(3), P(3)",))
def seuclidean(u: Any, v: Any, V: Any) -> Any:
    """Distance of two points in units of spreads, whose squares are given."""
    return np.sqrt(np.sum((np.asarray(u) - np.asarray(v)) ** 2 / np.asarray(V)))


@composition(distance.jensenshannon, domain=("P(3), P(3)", "P(3), P(3), 2.0", "P(2,3), P(2,3), axis=1, keepdims=True"))
def jensenshannon(p: Any, q: Any, base: Any = None, *, axis: Any = 0, keepdims: Any = False) -> Any:
    """Root of the divergence of two distributions from their mean, each summed to one."""
    first, second = np.asarray(p), np.asarray(q)
    first = first / np.sum(first, axis=axis, keepdims=True)
    second = second / np.sum(second, axis=axis, keepdims=True)
    mean = 0.5 * (first + second)
    parts = special.rel_entr(first, mean) + special.rel_entr(second, mean)
    total = 0.5 * np.sum(parts, axis=axis, keepdims=keepdims)
    if base is not None:  # SciPy divides a number by one of double precision, an array in its own
        total = total / (float(np.log(base)) if np.ndim(total) else np.log(base))
    # That of equal ones has a kink, as a norm has at 0, where the slope is 0.
    return np.sqrt(total + (total == 0.0)) * (total != 0.0)
