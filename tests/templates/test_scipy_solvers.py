"""Solvers and integrals of SciPy beyond those of the programs: by what is known of the answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx

pytest.importorskip("scipy")
from scipy import integrate, optimize

POINT = np.array([2.0, 3.0])


def cost(x: Any, p: Any) -> Any:
    return np.sum((x * x - p) ** 2) + 0.1 * np.sum(x)


def slope(x: Any, p: Any) -> Any:
    return 4.0 * x * (x * x - p) + 0.1


MINIMA: dict[str, Any] = {
    "fmin": lambda p: optimize.fmin(cost, np.ones(2), args=(p,), xtol=1e-9, ftol=1e-12, disp=False),
    "fmin_powell": lambda p: optimize.fmin_powell(lambda x: cost(x, p), np.ones(2), xtol=1e-9, ftol=1e-12, disp=0),
    "fmin_bfgs": lambda p: optimize.fmin_bfgs(cost, np.ones(2), slope, args=(p,), gtol=1e-9, disp=0),
    "fmin_cg": lambda p: optimize.fmin_cg(cost, np.ones(2), slope, (p,), gtol=1e-9, disp=0),
    "fmin_ncg": lambda p: optimize.fmin_ncg(cost, np.ones(2), slope, args=(p,), avextol=1e-10, disp=0),
    "fmin_l_bfgs_b": lambda p: optimize.fmin_l_bfgs_b(cost, np.ones(2), slope, args=(p,), factr=1.0, pgtol=1e-9)[0],
    "with the slope": lambda p: optimize.fmin_l_bfgs_b(
        lambda x: (cost(x, p), slope(x, p)), np.ones(2), factr=1.0, pgtol=1e-9
    )[0],
    "dual_annealing": lambda p: optimize.dual_annealing(lambda x: cost(x, p), [(0, 5), (0, 5)], maxiter=30).x,
    "differential_evolution": lambda p: optimize.differential_evolution(cost, [(0, 5), (0, 5)], args=(p,)).x,
    "shgo": lambda p: optimize.shgo(lambda x: cost(x, p), [(0, 5), (0, 5)], options={"f_tol": 1e-14}).x,
    "basinhopping": lambda p: optimize.basinhopping(lambda x: cost(x, p), np.ones(2), niter=2).x,
}


@pytest.mark.share(2)
@pytest.mark.parametrize("name", MINIMA)
def test_minima_of_a_row(name: str) -> None:
    x = np.abs(MINIMA[name](POINT))
    found = tx.grad(lambda p: np.sum(MINIMA[name](p) ** 2), fallback="error")(POINT)
    np.testing.assert_allclose(found, 2.0 * x * 4.0 * x / (12.0 * x * x - 4.0 * POINT), rtol=1e-3)


def parabola(x: Any, p: Any) -> Any:
    return (x * x - p[0]) ** 2 + p[1] * x


LINES: dict[str, Any] = {
    "fminbound": lambda p: optimize.fminbound(lambda x: parabola(x, p), 0.5, 3.0, xtol=1e-9),
    "brent": lambda p: optimize.brent(parabola, args=(p,), brack=(0.5, 1.0, 3.0)),
    "golden": lambda p: optimize.golden(lambda x: parabola(x, p), brack=(0.5, 1.0, 3.0)),
}


@pytest.mark.parametrize("name", LINES)
def test_minima_of_a_number(name: str) -> None:
    x = LINES[name](POINT)
    expected = np.array([4.0 * x, -1.0]) / (12.0 * x * x - 4.0 * POINT[0])
    np.testing.assert_allclose(tx.grad(LINES[name], fallback="error")(POINT), expected, rtol=1e-5)


@pytest.mark.parametrize("solver", [optimize.newton_krylov, optimize.broyden1, optimize.anderson])
def test_roots(solver: Any) -> None:
    def f(p: Any) -> Any:
        return np.sum(solver(lambda x: x**3 + x - p, np.ones(2), f_tol=1e-10) ** 2)

    x = solver(lambda x: x**3 + x - POINT, np.ones(2), f_tol=1e-10)
    np.testing.assert_allclose(tx.grad(f, fallback="error")(POINT), 2.0 * x / (3.0 * x * x + 1.0), rtol=1e-7)


TABLE = np.random.default_rng(0).normal(size=(5, 3))
RIGHT = TABLE @ np.array([1.0, 2.0, -1.0])


def leastsq(p):
    def residual(x, q):
        return np.array([x[0] - q[0], x[1] * x[0] - q[1], x[0] + x[1]])

    def slopes(x, q):
        return np.array([[1.0, 0.0], [x[1], x[0]], [1.0, 1.0]])

    return np.sum(optimize.leastsq(residual, np.ones(2), args=(p,), Dfun=slopes, ftol=1e-15, xtol=1e-15)[0] ** 3)


def nnls(p):
    x, left = optimize.nnls(p[0] * TABLE + np.outer(np.arange(5.0), [0.01, 0.005, 0.002]) * p[1], RIGHT * p[1])
    return np.sum(x**2) + left


def triple(p):
    return integrate.tplquad(
        lambda z, y, x: p[0] * x * y * z + np.exp(-z * p[1]), 0.0, 1.0, 0.0, lambda x: x * p[0], 0.0, lambda x, y: x + y
    )[0]


def nested(p):
    line = integrate.nquad(lambda x: np.exp(-x * p[0]), [(0.0, p[1])])[0]
    return line + integrate.nquad(lambda x, y, a: np.exp(-x * a) * y, [(0.0, p[1]), (0.0, 1.0)], args=(p[0],))[0]


def in_a_box(p):
    return integrate.nquad(lambda x, y, z: np.exp(-x * p[0]) * y * z, [[0.0, p[1]], [0.0, 1.0], [1.0, 2.0]])[0]


def of_an_array(p):
    number = integrate.quad_vec(lambda x: np.exp(-x * p[0]), 0.0, 1.0)[0]
    table = integrate.quad_vec(lambda x: np.outer(p, p) * x**2, 0.0, 1.0)[0]
    row = integrate.quad_vec(lambda x, a: np.array([np.exp(-x * a), x * p[1]]), 0.0, p[1], args=(p[0],))[0]
    return number + np.sum(table) + np.sum(row**2)


@pytest.mark.share(2)
@pytest.mark.parametrize("f", [leastsq, nnls, triple, nested, in_a_box, of_an_array], ids=lambda f: f.__name__)
def test_against_differences(f: Any) -> None:
    value, found = tx.value_and_grad(f, fallback="error")(POINT)
    assert value == pytest.approx(f(POINT), rel=1e-10)
    moves = 1e-4 * np.eye(2)
    differences = [(f(POINT + m) - f(POINT - m)) / 2e-4 for m in moves]
    np.testing.assert_allclose(found, differences, rtol=1e-4, atol=1e-6)
    assert tx.jvp(f, (POINT,), (np.ones(2),), fallback="error")[1] == pytest.approx(np.sum(found), rel=1e-6)


CONSTRAINT = {"type": "eq", "fun": np.sum}
REFUSED: dict[str, Any] = {
    "one to three ranges": lambda p: integrate.nquad(lambda x, y, z, t: p[0] * x, [(0.0, 1.0)] * 4)[0],
    "range with ends": lambda p: np.sum(integrate.quad_vec(lambda x: np.exp(-x * p), 0.0, np.inf)[0]),
    "`full_output` or `retall`": lambda p: optimize.fmin_bfgs(cost, np.ones(2), args=(p,), full_output=1)[1],
    "with `constraints`": lambda p: optimize.shgo(cost, [(0, 5)] * 2, args=(p,), constraints=CONSTRAINT).fun,
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused_at_the_call(message: str) -> None:
    with pytest.raises(tx.TangentxError, match=f"(?s)test_scipy_solvers.*{message}"):
        tx.grad(REFUSED[message], fallback="error")(POINT)


def test_an_assignment_is_a_constant_on_tensors_too() -> None:
    def f(x):
        class Unknown: ...

        return np.sum(x[optimize.linear_sum_assignment(x)] ** 2)

    costs = np.array([[1.0, 2.0], [0.5, 4.0]])
    with pytest.warns(tx.FallbackWarning):
        found = tx.grad(f)(costs)
    np.testing.assert_allclose(found, [[0.0, 4.0], [1.0, 0.0]])
