"""Densities by Gaussian kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import tangentx as tx
from tangentx.testing import check_grads

X = np.array([0.4, -0.3, 0.8, 1.1, 0.25, -0.7])
ROWS = np.stack([X, X[::-1] ** 2])
OUTSIDE = stats.gaussian_kde(X)


def of_points(x: Any, p: Any) -> Any:
    kernels = stats.gaussian_kde(x)
    return np.sum(np.log(kernels(p))) + kernels.evaluate(p)[0] + kernels.integrate_box_1d(p[0], p[1])


def of_rows(rows: Any, w: Any) -> Any:
    kernels = stats.gaussian_kde(rows, "silverman", weights=w)
    return np.sum(kernels.logpdf(rows[:, :2] * 0.5)) + kernels.pdf(w[:2])[0]


def of_a_width(p: Any, width: Any) -> Any:
    return stats.gaussian_kde(X, width)(p)[0] * OUTSIDE(p)[1]


@pytest.mark.share(1)
@pytest.mark.parametrize(
    ("f", "args"),
    [(of_points, (X, X[:3] + 0.1)), (of_rows, (ROWS, np.abs(X) + 0.2)), (of_a_width, (X[:2], 0.3))],
)
def test_derivatives_and_values(f: Any, args: Any) -> None:
    check_grads(f, args, wrt=(0, 1), order=1, rtol=1e-5)
    value, _ = tx.value_and_grad(f, wrt=(0, 1), fallback="error")(*args)
    assert value == pytest.approx(f(*args), rel=1e-12)


def test_a_function_for_the_width_is_refused() -> None:
    with pytest.raises(tx.TangentxError):
        tx.grad(lambda x: stats.gaussian_kde(x, lambda k: 0.3)(0.1)[0], fallback="error")(X)
