"""Objects of libraries in programs that run on Tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx

interpolate = pytest.importorskip("scipy.interpolate")

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
