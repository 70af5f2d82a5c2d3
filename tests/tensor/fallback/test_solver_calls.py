"""Solvers in functions that run on Tensors: as in compiled code, or a located refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx

pytest.importorskip("scipy")
from scipy import integrate, optimize

POINT = np.array([2.0, 3.0])
TIGHT = {"rtol": 1e-7, "atol": 1e-7}


def brentq(p):
    return optimize.brentq(lambda x: x * x - p[0] * p[1], 0.0, 5.0) ** 2 * p[1]


def brentq_with_arguments(p):
    return optimize.brentq(lambda x, a, b: x**3 - a * b, 0.0, 5.0, args=(p[0], p[1]))


def newton(p):
    return optimize.newton(lambda x: x * x - p[0] * p[1], 1.0, fprime=lambda x: 2.0 * x)


def root_in_a_try(p):
    try:
        x = optimize.toms748(lambda x: x * x + p[0], 0.0, 5.0)
    except ValueError:
        x = optimize.root_scalar(lambda x: x * x - p[0], bracket=(0.0, 5.0)).root
    return x * p[1]


def fsolve(p):
    return np.sum(optimize.fsolve(lambda x: [x[0] * x[1] - p[0], x[0] - p[1] * x[1]], np.ones(2), xtol=1e-12) ** 3)


def root(p):
    found = optimize.root(lambda x: np.array([x[0] * x[1] - p[0], x[0] - p[1] * x[1]]), np.ones(2), tol=1e-12)
    return np.sum(found["x"] ** 3) + found.fun[0] if found.success else 0.0


def minimize(p):
    def cost(x):
        return np.sum((x * x - p) ** 2) + np.cos(x[0] * x[1])

    found = optimize.minimize(
        cost, np.ones(2), jac=tx.grad(cost), hess=tx.hessian(cost), method="trust-exact", options={"gtol": 1e-12}
    )
    return found.x[0] * found.x[1] ** 2 + found.fun


def minimize_between_bounds(p):
    def cost(x):
        return np.sum((x * x - p) ** 2) + x[0] * p[1] * x[1]

    found = optimize.minimize(cost, np.ones(2), jac=tx.grad(cost), bounds=[(0.0, 1.2), (None, None)], tol=1e-12)
    return found.x[0] * found.x[1] ** 2


def minimize_scalar(p):
    options = {"xatol": 1e-10}
    return optimize.minimize_scalar(
        lambda x: (x * x - p[0]) ** 2 + p[1] * x, bounds=(0.5, 3.0), method="bounded", options=options
    ).x


def least_squares(p):
    return optimize.least_squares(lambda x: np.stack([x[0] - p[0], x[1] * x[0] - p[1], x[0] + x[1]]), np.ones(2)).cost


def quad(p):
    return integrate.quad(lambda x: np.exp(-x * p[0]) * p[1], 0.0, p[1])[0]


def quad_vec(p):
    return np.sum(integrate.quad_vec(lambda x: np.array([np.exp(-x * p[0]), x * p[1]]), 0.0, p[1])[0] ** 2)


def quad_vec_between_constants(p):
    return np.sum(integrate.quad_vec(lambda x: np.array([np.exp(-x * p[0]), x * p[1]]), 0.0, 1.0)[0] ** 2)


def dblquad(p):
    return integrate.dblquad(lambda y, x: p[0] * x * y + y**2, 0.0, p[1], 0.0, lambda x: p[0] * x)[0]


def fixed_quad(p):
    return integrate.fixed_quad(lambda x: np.exp(-x * p[0]), 0.0, p[1])[0]


def nnls(p):
    table = np.array([[2.0, 1.0], [1.0, 3.0], [1.0, 1.0]]) * p[0]
    return np.sum(optimize.nnls(table, np.array([3.0, 4.0, 2.0]) * p[1])[0] ** 2)


def solve_ivp(p):
    def force(t, y):
        return [y[1], -p[0] * y[0] - p[1] * y[1] * y[0]]

    return np.sum(integrate.solve_ivp(force, (0.0, 1.0), [1.0, p[1]], t_eval=[0.5, 1.0], **TIGHT).y ** 2)


def odeint(p):
    return np.sum(integrate.odeint(lambda y, t: -p[0] * y * y + p[1], [1.0], [0.0, 0.5, 1.0]) ** 2)


def curve_fit(p):
    x = np.linspace(0.0, 1.0, 5)
    found, spread = optimize.curve_fit(
        lambda x, a, b: a + b * x**2,
        x,
        p[0] * x + p[1] * np.cos(x),
        jac=lambda x, a, b: np.stack([np.ones_like(x), x**2], 1),
    )
    return found[0] * found[1] + spread[0, 1]


def fixed_point(p):
    return np.sum(optimize.fixed_point(lambda x: np.cos(x) * p / 4.0, np.array([0.5, 0.4]), xtol=1e-12))


def one_inside_another(p):
    def inner(x):
        return optimize.brentq(lambda z: z**3 + z - x * p[0], -5.0, 5.0)

    return optimize.brentq(lambda x: inner(x) + x - p[1], -5.0, 5.0)


def one_after_another(p):
    rates = np.zeros(2)
    for k in range(2):

        def residual(rate, k=k):
            curve = rates.copy()
            curve[k] = rate
            return np.sum(curve) * (1.0 + rate) - p[k]

        rates[k] = optimize.brentq(residual, -0.5, 5.0)
    return rates[0] * rates[1]


PROGRAMS = [
    *(brentq, brentq_with_arguments, newton, root_in_a_try, fsolve, root, minimize, minimize_between_bounds),
    *(
        minimize_scalar,
        least_squares,
        quad,
        quad_vec,
        pytest.param(quad_vec_between_constants, marks=pytest.mark.thorough),
        pytest.param(dblquad, marks=pytest.mark.thorough),
        fixed_quad,
        nnls,
        solve_ivp,
        pytest.param(odeint, marks=pytest.mark.thorough),
        curve_fit,
        fixed_point,
    ),
    *(one_inside_another, one_after_another),
]


def on_tensors(f: Any) -> Any:
    """A function that cannot be compiled, and calls `f`."""

    def g(p: Any) -> Any:
        class Unknown:
            pass

        return f(p) * 1.0

    return g


@pytest.mark.share(1)
@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: getattr(f, "__name__", "odeint"))
def test_right_in_both_modes_and_of_second_order(f: Any) -> None:
    g = on_tensors(f)
    value, found = tx.value_and_grad(g)(POINT)
    assert value == pytest.approx(f(POINT), rel=1e-12)
    moves = 1e-5 * np.eye(2)
    np.testing.assert_allclose(found, [(f(POINT + m) - f(POINT - m)) / 2e-5 for m in moves], rtol=1e-4, atol=1e-6)
    assert tx.jvp(g, (POINT,), (np.array([1.0, 0.5]),))[1] == pytest.approx(found @ [1.0, 0.5])
    slope = tx.grad(g)
    second = [(slope(POINT + m) - slope(POINT - m)) / 2e-5 for m in moves]
    np.testing.assert_allclose(tx.hessian(g)(POINT), second, rtol=1e-3, atol=1e-5)


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_a_later_pullback_goes_by_what_was_then() -> None:
    def f(p: Any) -> Any:
        class Unknown:
            pass

        scale = [p]
        x = optimize.brentq(lambda x: x * x - scale[0], 0.0, 5.0)
        scale[0] = p * p
        return x

    _, pullback = tx.vjp(f, 4.0)
    assert pullback(1.0) == pytest.approx(0.25)


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_of_third_order() -> None:
    g = on_tensors(lambda p: optimize.brentq(lambda x: x**3 - p, 0.0, 5.0))
    third = tx.grad(tx.grad(tx.grad(g)))
    assert third(2.0) == pytest.approx(10.0 / 27.0 * 2.0 ** (-8.0 / 3.0), rel=1e-9)


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_what_a_function_prints_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    def f(p: Any) -> Any:
        def residual(x: Any) -> Any:
            print("asked")
            return x * x - p

        return optimize.brentq(residual, 0.0, 5.0)

    f(2.0)
    once = capsys.readouterr().out
    assert tx.grad(on_tensors(f))(2.0) == pytest.approx(0.5 / np.sqrt(2.0))
    assert capsys.readouterr().out == once


def counting_in_a_list(p):
    calls = []

    def residual(x):
        calls.append(x)
        return x * x - p

    return optimize.brentq(residual, 0.0, 5.0) * len(calls)


def counting_in_a_variable(p):
    count = 0

    def residual(x):
        nonlocal count
        count += 1
        return x * x - p

    return optimize.brentq(residual, 0.0, 5.0) * count


def workspace(p):
    work = np.zeros(2) * p

    def residual(x):
        work[0] = x * p
        return x * x - work[0]

    return optimize.brentq(residual, 0.5, 5.0) * work[0]


KEPT = np.zeros(2)


def memory_outside(p):
    def residual(x):
        if abs(x * x - p) > 1e-3:
            KEPT[0] = x * p
        return x * x - p

    return optimize.brentq(residual, 0.0, 5.0) * KEPT[0]


WRITING = [counting_in_a_list, counting_in_a_variable, workspace, memory_outside]


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("f", WRITING, ids=lambda f: f.__name__)
def test_a_function_that_writes_outside_is_refused(f: Any) -> None:
    with pytest.raises(tx.NotDifferentiable, match=r"(?s)test_solver_calls.*brentq` writes into what it has not made"):
        tx.grad(on_tensors(f))(2.0)


REFUSED: dict[str, Any] = {
    "`jac` of what a solver": lambda p: np.sum(optimize.minimize(lambda x: np.sum((x - p) ** 2), POINT).jac),
    "`sol` of what a solver": lambda p: integrate.solve_ivp(lambda t, y: -p * y, (0.0, 1.0), POINT).sol(0.5)[0],
    "`events` has no derivative": lambda p: integrate.solve_ivp(
        lambda t, y: -p * y, (0.0, 1.0), POINT, events=lambda t, y: y[0] - 1.0
    ).y[0, -1],
    "`bounds` varies": lambda p: optimize.minimize(lambda x: np.sum(x**2), POINT, bounds=[(p[0], 9.0)] * 2).x[0],
    "singular there": lambda p: optimize.brentq(lambda x: (x - p[0]) ** 3, 1.0, 3.0),
}


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("message", REFUSED)
def test_refused_as_in_compiled_code(message: str) -> None:
    for f in (REFUSED[message], on_tensors(REFUSED[message])):
        with pytest.raises(tx.NotDifferentiable, match=f"(?s)test_solver_calls.*{message}"):
            tx.grad(f)(POINT)


EAGER: dict[str, Any] = {
    "brentq": lambda p: optimize.brentq(lambda x: x * x - p[0], 0.0, 5.0),
    "fsolve": lambda p: optimize.fsolve(lambda x: x * x - p, POINT),
    "root": lambda p: optimize.root(lambda x: x * x - p, POINT),
    "minimize": lambda p: optimize.minimize(lambda x: ((x - p) ** 2).sum(), POINT),
    "quad": lambda p: integrate.quad(lambda x: x * p[0], 0.0, 1.0),
    "solve_ivp": lambda p: integrate.solve_ivp(lambda t, y: -p * y, (0.0, 1.0), POINT),
    "odeint": lambda p: integrate.odeint(lambda y, t: -p * y, POINT, [0.0, 1.0]),
}


@pytest.mark.parametrize("name", EAGER)
def test_refused_on_tensors_by_themselves(name: str) -> None:
    with pytest.raises(tx.NotDifferentiable, match=r"(?s)test_solver_calls.*@tx.differentiate"):
        EAGER[name](tx.tensor(POINT, requires_grad=True))
