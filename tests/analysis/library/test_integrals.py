"""Integrals and trajectories of SciPy's inside differentiated functions, against closed forms and differences."""

import numpy as np
import pytest
from scipy import integrate
from scipy.integrate import odeint, quad, solve_ivp

import tangentx as tx


class Wave:
    def __init__(self, pace):
        self.pace = pace

    def height(self, t, scale):
        return scale * np.sin(self.pace * t)


def of_a_line(x):
    return quad(lambda t: x * t, 0, 1)[0]


def with_limits(x):
    value, error = quad(Wave(x).height, -x, 2.0 * x * x, args=(x,))
    return value * x if error < 1.0 else 0.0


def without_end(x):
    total = quad(lambda t: np.exp(-x * t * t - t * x), -np.inf, np.inf)[0]
    total += quad(lambda t: np.exp(x * t), -np.inf, x)[0]
    return total + quad(lambda t: np.exp(-x * t), np.inf, x)[0]


def of_an_integral(x):
    return quad(lambda t: quad(lambda s: np.sin(s * t * x), 0.0, t)[0], 0.0, x)[0]


def of_a_region(x):
    return integrate.dblquad(lambda y, t: y * t * x, 0, x, lambda t: 0.1 * t, lambda t: t * x)[0]


def by_fixed_nodes(x):
    return integrate.fixed_quad(lambda t: np.exp(t * x), 0.0, x, n=7)[0]


def epidemic(t, y, beta, gamma):
    s, i, r = y
    return [-beta * s * i, beta * s * i - gamma * i, gamma * i]


def at_moments(x):
    start, moments = [0.99, 0.01 * x, 0.0], np.linspace(0.0, 10.0, 5)
    found = solve_ivp(epidemic, [0, 10], start, t_eval=moments, args=(2.0 * x, 0.5), rtol=1e-9, atol=1e-12)
    if not found.success:
        raise RuntimeError(found.message)
    return np.sum(found.y[1] ** 2) + found.y[:, -1] @ np.array([1.0, 2.0, 3.0])


def with_a_span(x):
    def pendulum(t, y):
        return np.array([y[1] * x, -np.sin(y[0]) * t])

    found = solve_ivp(pendulum, (x, 3.0 * x), np.array([1.0, 0.0]), "DOP853", rtol=1e-11, atol=1e-13)
    return found.y[0, -1] * found.t[-1]


def of_an_oscillator(x):
    moments = np.array([0.0, 0.7, 2.0 * x, 4.0])
    y = odeint(lambda y, t: [y[1], -x * y[0] - 0.1 * y[1]], [1.0, x], moments)
    return np.sum(y[:, 0] ** 2) + y[-1, 1] + odeint(lambda t, y, k: -k * y, x, moments, (x,), tfirst=True)[-1, 0]


class Tank:
    def __init__(self, leak):
        self.rates = np.array([[-leak, 0.1], [0.2, -leak * leak]])

    def change(self, t, y):
        return self.rates @ y

    def run(self):
        return odeint(self.change, np.array([1.0, 2.0]), np.linspace(0.0, 2.0, 4), tfirst=True)


def restarted(x):
    y = Tank(x).run()[-1]
    for k in range(2):
        moments = [k + 0.5, k + x]
        found = solve_ivp(lambda t, y: [y[1], -x * y[0]], (k, k + 1.0), y, t_eval=moments, rtol=1e-10, atol=1e-12)
        y = found["y"][:, -1]
        y[1] += 0.1 * found.t[-1]
    return y @ y


def with_kinks_and_jumps(x):
    """Where they move, the points are given, in any order; what is outside of the range is left out."""
    kink = quad(lambda t: abs(t - x) * t, 3, 0, points=[x])[0]
    jump = quad(lambda t: t * t if t < x * x else -t * x, -x, 3.0 * x, points=(1.0, x * x, 7.0))[0]
    return kink * jump + quad(lambda t: x if t < 0.5 else x * x, 0.0, 2.0 * x, points=np.array([0.5]))[0]


PROGRAMS = (
    with_kinks_and_jumps,
    *(of_a_line, with_limits, without_end, of_an_integral, of_a_region, by_fixed_nodes),
    *(at_moments, with_a_span, of_an_oscillator, restarted),
)


def slope(function, x, step=1e-3):
    near, far = ((function(x + h) - function(x - h)) / (2.0 * h) for h in (step / 2.0, step))
    return (4.0 * near - far) / 3.0


@pytest.mark.share(6)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_derivatives_of_integrals(program):
    x = 0.9
    gradient = tx.grad(program, fallback="error")
    first = gradient(x)
    np.testing.assert_allclose(tx.value_and_grad(program, fallback="error")(x)[0], program(x), rtol=1e-15)
    np.testing.assert_allclose(first, slope(program, x), rtol=1e-5)
    np.testing.assert_allclose(tx.jvp(program, (x,), (1.0,), fallback="error")[1], first, rtol=1e-9)
    if program is not of_a_region:  # which takes half a minute
        np.testing.assert_allclose(tx.grad(gradient, fallback="error")(x), slope(gradient, x), rtol=1e-4, atol=1e-9)


def test_a_decay_by_its_rate_and_its_start():
    def f(rate, start):
        return solve_ivp(lambda t, y: -rate * y, (0.0, 2.0), start, rtol=1e-10, atol=1e-12).y[:, -1].sum()

    rate, start = 0.7, np.array([1.0, 2.0])
    by_rate, by_start = tx.grad(f, wrt=(0, 1), fallback="error")(rate, start)
    np.testing.assert_allclose(by_rate, -2.0 * 3.0 * np.exp(-1.4), rtol=1e-8)
    np.testing.assert_allclose(by_start, np.full(2, np.exp(-1.4)), rtol=1e-8)


def test_what_cannot_be_retraced_is_refused():
    with pytest.raises(tx.TangentxError, match="this integral is found by extrapolation"):
        tx.grad(lambda x: quad(lambda t: x / np.sqrt(t), 0.0, 1.0)[0], fallback="error")(2.0)

    def stiff(x):
        return solve_ivp(lambda t, y: -1e4 * (y - np.cos(t * x)), (0.0, 3.0), [1.0], method="Radau").y[0, -1]

    with np.errstate(over="ignore"), pytest.raises(tx.TangentxError, match="as for a stiff system"):
        tx.grad(stiff, fallback="error")(2.0)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: quad(lambda t: np.where(t < x, t * t, 0.0), 0.0, 3.0)[0],
        lambda x: quad(lambda t: 1.0 if t < 0.9 else 3.0, 0.0, x + 1.0)[0],
        lambda x: quad(lambda t: x * np.floor(t + 0.1), 0.0, 2.0)[0],
    ],
)
def test_jumps_where_no_point_is_given_are_refused(program):
    with pytest.raises(tx.NotDifferentiable, match=r"jumps near 0\.(9|89)(?s:.*)points=\[...\]"):
        tx.grad(program, fallback="error")(0.9)


@pytest.mark.parametrize("width", [1e-2, 1e-3, 1e-4])
def test_what_is_steep_does_not_jump(width):
    gradient = tx.grad(lambda x: quad(lambda t: np.tanh((t - x) / width), 0.0, 3.0, limit=200)[0], fallback="error")
    assert gradient(1.3) == pytest.approx(-2.0, rel=1e-5)


def test_what_has_no_rule_is_refused():
    def with_events(x):
        return solve_ivp(lambda t, y: -x * y, (0.0, 2.0), [1.0], events=lambda t, y: y[0] - 0.5).y[0, -1]

    with pytest.raises(tx.TangentxError, match="solve_ivp with `events` has no derivative"):
        tx.grad(with_events, fallback="error")(2.0)
    with pytest.raises(tx.TangentxError, match="quad has no derivative with `weight`"):
        tx.grad(lambda x: quad(lambda t: t * x, 0.0, 1.0, weight="cos", wvar=2.0)[0], fallback="error")(2.0)


def test_warnings_are_those_of_the_program():
    with pytest.warns(integrate.IntegrationWarning):
        tx.grad(lambda x: quad(lambda t: np.sin(300.0 * t * x), 0.0, 10.0, limit=3)[0] * 0.0 + x, fallback="error")(2.0)
