"""Derivatives given to SciPy's optimisers as they are."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx

optimize = pytest.importorskip("scipy.optimize")


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def decay(p, t, y):
    return p[0] * np.exp(-p[1] * t) + p[2] - y


def circle_and_line(z):
    return np.array([z[0] ** 2 + z[1] ** 2 - 4.0, z[0] - z[1] ** 3])


def test_minimize_with_values_gradients_and_products() -> None:
    found = optimize.minimize(
        tx.value_and_grad(rosenbrock),
        np.full(6, -0.5),
        jac=True,
        hessp=lambda x, v: tx.hvp(rosenbrock, (x,), (v,)),
        method="trust-krylov",
        options={"gtol": 1e-10},
    )
    np.testing.assert_allclose(found.x, np.ones(6), atol=1e-7)


def test_minimize_with_a_hessian() -> None:
    start, hessian = np.full(4, -0.5), tx.hessian(rosenbrock)
    found = optimize.minimize(rosenbrock, start, jac=tx.grad(rosenbrock), hess=hessian, method="trust-exact")
    np.testing.assert_allclose(found.x, np.ones(4), atol=1e-5)


def test_least_squares() -> None:
    t = np.linspace(0.0, 3.0, 25)
    y = 2.5 * np.exp(-1.3 * t) + 0.5
    found = optimize.least_squares(decay, [1.0, 1.0, 0.0], jac=tx.jacobian(decay), args=(t, y))
    np.testing.assert_allclose(found.x, [2.5, 1.3, 0.5], atol=1e-6)


def test_root() -> None:
    found = optimize.root(circle_and_line, [1.0, 1.0], jac=tx.jacobian(circle_and_line))
    assert found.success
    np.testing.assert_allclose(circle_and_line(found.x), [0.0, 0.0], atol=1e-10)


def test_the_hessian_of_many_dimensions() -> None:
    n = 1000
    x = np.cos(np.arange(n))
    found = tx.hessian(rosenbrock)(x)
    wanted = np.diag(np.concatenate([1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0, [0.0]]))
    wanted += np.diag([0.0] + [200.0] * (n - 1)) - np.diag(400.0 * x[:-1], 1) - np.diag(400.0 * x[:-1], -1)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-10)
