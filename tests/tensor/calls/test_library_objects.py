"""Objects of libraries in programs that run on Tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.errors import NoTemplate

interpolate = pytest.importorskip("scipy.interpolate")
sparse = pytest.importorskip("scipy.sparse")

X = np.array([0.0, 1.0, 1.7, 3.0, 4.2, 5.0, 5.5])
Y, T = np.sin(X), np.array([0.2, 1.1, 2.5, 4.4, -0.3])
SPLINE = interpolate.CubicSpline(X, Y)


@pytest.mark.filterwarnings("ignore::tangentx.errors.FallbackWarning")
def test_objects_on_tensors() -> None:
    def tried(f: Any) -> Any:
        def run(y: Any, t: Any) -> Any:
            total = f(y, t)
            for more in (v for v in {1.0}):  # a generator over a set is not compiled
                total = total * more
            return total

        return run

    for f in (
        lambda y, t: np.sum(interpolate.CubicSpline(X, y)(t)) + interpolate.CubicSpline(X, y).integrate(0.0, t[0]),
        lambda y, t: np.sum(SPLINE(t)) + np.sum(SPLINE.derivative()(t)) + np.sum(interpolate.interp1d(X, y)(t[:2])),
    ):
        found = tx.grad(tried(f), wrt=(0, 1))(Y, T)
        for a, b in zip(found, tx.grad(f, wrt=(0, 1), fallback="error")(Y, T), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def shortest(matrix: Any) -> Any:
    return sparse.csgraph.shortest_path(matrix).sum()


def largest(matrix: Any) -> Any:
    return sparse.linalg.onenormest(matrix)


def by_operator(matrix: Any) -> Any:
    return (sparse.linalg.aslinearoperator(matrix) @ np.ones(2)).sum()


def in_a_list(matrix: Any) -> Any:
    return sparse.csgraph.construct_dist_matrix([matrix], [matrix]).sum()


@pytest.mark.filterwarnings("ignore::tangentx.errors.FallbackWarning")
@pytest.mark.parametrize("use", [shortest, largest, by_operator, in_a_list])
def test_unknown_code_is_not_given_one_that_holds_what_varies(use: Any) -> None:
    """It was given one with plain values, and the derivative was lost in silence."""
    gradient = tx.grad(lambda d: use(sparse.csr_matrix((d, ([0, 1, 1, 0], [0, 0, 1, 1])), shape=(2, 2))))
    with pytest.raises(NoTemplate, match="has no derivative rule, and is given a value that is being differentiated"):
        gradient(np.array([1.0, 2.0, 3.0, 4.0]))
