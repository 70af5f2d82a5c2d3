"""Minimisers and fits of SciPy's inside differentiated functions, against closed forms and differences."""

import numpy as np
import pytest
from scipy import optimize

import tangentx as tx

TIMES = np.linspace(0.0, 1.0, 7)
SEEN = 2.0 * np.exp(-1.3 * TIMES) + 0.1 * np.sin(9.0 * TIMES)
TIGHT = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}


def decay(t, a, b):
    return a * np.exp(-b * t)


def decay_slopes(t, a, b):
    return np.stack([np.exp(-b * t), -a * t * np.exp(-b * t)], axis=1)


def of_a_row(x):
    def cost(z, k):
        return (z[0] - k) ** 2 + np.exp(z[1] * k) - z[1] + 0.1 * z[0] ** 4

    def slope(z, k):
        return np.array([2.0 * (z[0] - k) + 0.4 * z[0] ** 3, k * np.exp(z[1] * k) - 1.0])

    found = optimize.minimize(cost, [1.0, 1.0], args=(x,), jac=slope, tol=1e-12)
    return found.x[0] * found.x[1] * x + found.fun


def with_gradient(x):
    def cost(z):
        return np.sum((z - x) ** 4 + z**2), 4.0 * (z - x) ** 3 + 2.0 * z

    found = optimize.minimize(cost, np.ones(3), jac=True, method="L-BFGS-B", options={"gtol": 1e-13, "ftol": 1e-16})
    return np.sum(found.x * np.arange(3.0)) if found.success else 0.0


def at_bounds(x):
    def cost(z):
        return np.sum((z - x * np.array([1.0, 2.0, 3.0])) ** 2) + x * z[0] * z[1]

    bounds = [(None, 0.5), (-1.0, None), (1.0, 2.0)]
    found = optimize.minimize(cost, np.ones(3), bounds=bounds, tol=1e-14)
    return found.x @ np.array([1.0, 2.0, 3.0]) + found.fun


def of_a_number(x):
    found = optimize.minimize_scalar(lambda t, k: (t - k) ** 2 + t**4, args=(x,), bounds=(0, 5), method="bounded")
    return found.x * x + found.fun


def of_squares(x):
    def jac(p):
        return x * decay_slopes(TIMES, *p)

    found = optimize.least_squares(lambda p: x * decay(TIMES, *p) - SEEN, [1.0, 1.0], jac=jac, **TIGHT)
    return found.x[0] * found.x[1] + found.cost + np.sum(found.fun) * x


def of_losses_at_a_bound(x):
    def residuals(p, k, scale=1.0):
        return scale * decay(TIMES, p[0], p[1] * k) - SEEN

    box = ([0.0, 0.0], [1.5, 9.0])
    options = {"loss": "soft_l1", "f_scale": 0.3, **TIGHT}
    found = optimize.least_squares(residuals, np.ones(2), bounds=box, args=(x,), kwargs={"scale": x}, **options)
    return found.x[0] * found.x[1] + found.cost


def of_a_curve(x):
    popt, pcov = optimize.curve_fit(decay, TIMES, SEEN * x + x * x * TIMES, jac=decay_slopes, **TIGHT)
    return popt[0] * popt[1] + np.sqrt(pcov[1, 1])


def with_errors(x):
    sigma = 0.1 + TIMES * x
    popt, pcov = optimize.curve_fit(decay, TIMES, SEEN, (2.0, 1.0), sigma, True, jac=decay_slopes, **TIGHT)
    return popt @ np.sqrt(np.diag(pcov))


def quartic(z, k):
    return np.sum((z - k) ** 4 + z**2)


def by_derivatives(x):
    options = {"xtol": 1e-12}
    slope, curvature = tx.grad(quartic), tx.hessian(quartic)
    found = optimize.minimize(quartic, np.ones(2), (x,), "Newton-CG", slope, curvature, options=options)
    return found.x[0] + optimize.root(tx.grad(quartic), np.ones(2), args=(x,), tol=1e-12).x[1]


PROGRAMS = (
    by_derivatives,
    *(of_a_row, with_gradient, at_bounds, of_a_number, of_squares, of_losses_at_a_bound, of_a_curve, with_errors),
)


def slope(function, x, step=1e-3):
    near, far = ((function(x + h) - function(x - h)) / (2.0 * h) for h in (step / 2.0, step))
    return (4.0 * near - far) / 3.0


@pytest.mark.share(6)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_derivatives_of_minima(program):
    x = 0.9
    gradient = tx.grad(program, fallback="error")
    first = gradient(x)
    assert tx.value_and_grad(program, fallback="error")(x)[0] == program(x)
    np.testing.assert_allclose(first, slope(program, x), rtol=1e-4)
    np.testing.assert_allclose(tx.jvp(program, (x,), (1.0,), fallback="error")[1], first, rtol=1e-9)
    np.testing.assert_allclose(tx.grad(gradient, fallback="error")(x), slope(gradient, x), rtol=1e-4)


def test_a_minimum_of_closed_form():
    def f(c):
        a = np.array([[3.0, 0.5], [0.5, 2.0]])
        return np.sum(optimize.minimize(lambda z: 0.5 * z @ a @ z - c @ z, np.zeros(2)).x)

    c = np.array([1.0, -2.0])
    wanted = np.linalg.solve([[3.0, 0.5], [0.5, 2.0]], np.ones(2))
    np.testing.assert_allclose(tx.grad(f, fallback="error")(c), wanted, rtol=1e-9)


def test_a_match_is_a_constant():
    def f(cost):
        rows, columns = optimize.linear_sum_assignment(cost)
        return np.sum(cost[rows, columns] ** 2)

    cost = np.array([[4.0, 1.0], [2.0, 3.0]])
    np.testing.assert_allclose(tx.grad(f, fallback="error")(cost), [[0.0, 2.0], [4.0, 0.0]])


def test_what_is_no_minimum_is_refused():
    def at_the_end(x):
        return optimize.minimize_scalar(lambda t: -t * t * x, bounds=(0.0, 1.0), method="bounded").x

    with pytest.raises(tx.TangentxError, match="the answer is no solution"):
        tx.grad(at_the_end, fallback="error")(2.0)

    def flat(x):
        return optimize.minimize(lambda z: (z[0] - x) ** 2, np.ones(2)).x[0]

    with pytest.raises(tx.TangentxError, match="the equations that it solves are singular there"):
        tx.grad(flat, fallback="error")(2.0)


def test_what_has_no_rule_is_refused():
    def constrained(x):
        rule = {"type": "eq", "fun": lambda z: z[0] - 1.0}
        return optimize.minimize(lambda z: (z[0] - x) ** 2, np.ones(1), constraints=rule).x[0]

    with pytest.raises(tx.TangentxError, match="is given the function"):
        tx.grad(constrained, fallback="error")(2.0)

    def by_bounds(x):
        return optimize.minimize(lambda z: (z[0] - x) ** 2, np.ones(1), bounds=[(0.0, x)]).x[0]

    with pytest.raises(tx.TangentxError, match="`bounds` varies here"):
        tx.grad(by_bounds, fallback="error")(2.0)
