"""Solvers of SciPy's inside differentiated functions, against differences, in both modes, at orders 1 and 2."""

import functools

import numpy as np
import pytest
from scipy import optimize
from scipy.integrate import quad
from scipy.optimize import brentq, fsolve

import tangentx as tx

RATES = {"growth": 0.3}


def cubic(t, a, b):
    return t**3 + b * t - a


class Well:
    def __init__(self, depth):
        self.depth = depth
        self.shape = {"power": np.array([1.0, depth])}

    def level(self, t):
        return t * t - self.depth + 0.1 * np.sum(self.shape["power"]) * t

    def __call__(self, t):
        return self.level(t) - 0.5


def by_position(x):
    return brentq(cubic, 0.0, 9.0, (x, 2.0)) * x


def by_name(x):
    return brentq(cubic, 0.0, 9.0, args=(x, x * x), xtol=1e-13)


def by_closure(x):
    shift = x * x

    def residual(t):
        return cubic(t, x, 1.0) - shift

    return optimize.brenth(residual, 0.0, 9.0) ** 2


def by_lambda_of_lambda(x):
    scale = lambda t: x * t
    return optimize.ridder(lambda t: np.exp(scale(t)) - 3.0, 0.0, 9.0)


def by_method(x):
    return optimize.bisect(Well(x).level, 0.0, 9.0, xtol=1e-13, rtol=1e-14)


def by_partial(x):
    return optimize.toms748(functools.partial(cubic, a=x, b=1.0), 0.0, 9.0)


def by_object(x):
    return brentq(Well(x), 0.0, 9.0) + optimize.fixed_point(np.cos, 0.5) * x


def by_global(x):
    RATES["growth"] = x * x * x
    return brentq(lambda t: t * t - RATES["growth"], 0.0, 9.0)


def solved(function, guess):
    return optimize.newton(function, guess, tol=1e-13)


def in_a_helper_in_a_loop(x):
    total = 0.0
    for i in range(3):
        total += solved(lambda t: t**3 - x * (i + 1.0), 1.0)
    return total


def of_a_row(x):
    def residual(p, c):
        u, v = p
        return u + v**2 - 4.0 * x, np.exp(u) + c["k"] * u * v - 3.0

    u, v = fsolve(residual, (1.0, 1.0), args={"k": x})
    return u * v * x


def with_full_output(x):
    u, info, flag, message = fsolve(lambda p: np.cos(p) - p * x, np.array([0.5, 0.6]), full_output=True)
    if flag != 1:
        raise RuntimeError(message)
    root, how = brentq(cubic, 0.0, 9.0, args=(x, 2.0), full_output=True)
    return u[0] * u[1] + root if how.converged else 0.0


def of_a_result(x):
    def residual(p):
        return np.array([p[0] + p[1] ** 2 - 4.0 * x, np.exp(p[0]) + p[0] * p[1] - 3.0])

    found = optimize.root(residual, np.array([1.0, 1.0]), tol=1e-12)
    if not found.success:
        raise RuntimeError(found.message)
    return found["x"][0] * found.x[1] + np.sum(found.fun)


def of_a_root(x):
    found = optimize.root_scalar(lambda t: (t * t - x, 2.0 * t), x0=1.0, fprime=True, method="newton")
    return found.root * x if found.converged else 0.0


def of_a_fixed_point(x):
    row = optimize.fixed_point(lambda t, c: np.cos(t * c * x), np.array([0.5, 0.6]), args=(np.array([0.3, 0.4]),))
    return np.sum(row) * optimize.fixed_point(lambda t: np.cos(t * x), 0.5)


def by_recursion_and_lists(x):
    def power(n, y):
        return 1.0 if n == 0 else y * power(n - 1, y)

    def residual(t):
        terms = [c * t**k for k, c in enumerate([-x, 1.0, x])]
        total = 0.0
        for term in terms:
            total += power(1, term)
        return total

    return brentq(residual, 0.0, 9.0)


def by_defaults(x):
    total = 0.0
    for c in (1.0, 2.0):

        def residual(t, c=c, *, k=x * x, n=3.0):
            return t**3 - k * n * c

        total += brentq(residual, 0.0, 9.0)
    return total


PROGRAMS = (
    *(by_recursion_and_lists, by_defaults),
    *(by_position, by_name, by_closure, by_lambda_of_lambda, by_method, by_partial, by_object, by_global),
    *(in_a_helper_in_a_loop, of_a_row, with_full_output, of_a_result, of_a_root, of_a_fixed_point),
)


def slope(function, x, step=1e-5):
    return (function(x + step) - function(x - step)) / (2.0 * step)


@pytest.mark.share(5)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_derivatives_of_answers(program):
    x = 0.9
    gradient = tx.grad(program, fallback="error")
    value, first = tx.value_and_grad(program, fallback="error")(x)
    assert value == program(x)
    np.testing.assert_allclose(first, slope(program, x), rtol=1e-6)
    np.testing.assert_allclose(tx.jvp(program, (x,), (1.0,), fallback="error")[1], first, rtol=1e-9)
    np.testing.assert_allclose(tx.grad(gradient, fallback="error")(x), slope(gradient, x), rtol=1e-6)


def test_the_text_has_the_call_as_it_is_written_and_the_theorem():
    gradient = tx.grad(by_name, fallback="error")
    gradient(0.9)
    text = gradient.source
    assert ".cubic, 0.0, 9.0, args=(x, x_squared), xtol=1e-13)" in text
    assert "-ans_bar / saved" in text
    assert text.count("brentq(") == 2  # the call, and its line in a comment


def test_third_order():
    third = tx.grad(tx.grad(tx.grad(lambda x: brentq(lambda t: t * t - x, 0.0, 9.0))), fallback="error")
    np.testing.assert_allclose(third(2.0), 0.375 * 2.0**-2.5, rtol=1e-9)


def test_gradients_by_arrays_and_objects():
    def f(c):
        return np.sum(fsolve(lambda p: p**3 + c * p - c**2, np.ones(3), xtol=1e-13) * c)

    c = np.array([0.5, 1.0, 2.0])
    wanted = [slope(lambda t, i=i: f(c + t * np.eye(3)[i]), 0.0) for i in range(3)]
    np.testing.assert_allclose(tx.grad(f, fallback="error")(c), wanted, rtol=1e-6)


def test_the_program_runs_once(capsys):
    def f(x):
        def residual(t):
            print("at", t)
            return t * t - x

        return brentq(residual, 0.0, 2.0)

    f(1.5)
    printed = capsys.readouterr().out
    tx.grad(f, fallback="error")(1.5)
    assert capsys.readouterr().out == printed


def test_failures_are_those_of_the_program():
    with pytest.raises(ValueError, match="different signs"):
        tx.grad(lambda x: brentq(lambda t: t * t + x, 0.0, 2.0))(1.0)
    with pytest.raises(RuntimeError, match="Failed to converge"):
        tx.grad(lambda x: brentq(lambda t: t**3 - x, 0.0, 2.0, maxiter=2))(1.0)


def test_what_changes_as_it_runs_is_refused():
    count = [0]

    def f(x):
        def residual(t):
            count[0] += 1
            return t * t - x

        return brentq(residual, 0.0, 2.0)

    with pytest.raises(tx.TangentxError, match="the function that is solved changes `count`"):
        tx.grad(f, fallback="error")(1.5)


def test_a_call_that_the_rule_does_not_know_is_refused_by_its_public_name():
    with pytest.raises(tx.TangentxError, match="`scipy.optimize.brentq` has no derivative for this call"):
        tx.grad(lambda x: brentq(lambda t: t - x, 0.0, 2.0, unknown=1), fallback="error")(1.5)


@tx.differentiate
def root_of(x):
    return brentq(cubic, 0.0, 9.0, args=(x, 2.0))


def test_on_tensors():
    x = tx.tensor(0.9, requires_grad=True)
    (first,) = tx.autograd.grad(root_of(x), x, create_graph=True)
    (second,) = tx.autograd.grad(first, x)
    np.testing.assert_allclose(first.item(), slope(root_of, 0.9), rtol=1e-6)
    np.testing.assert_allclose(second.item(), slope(root_of.grad, 0.9), rtol=1e-6)
    with pytest.raises(tx.NotDifferentiable, match="SciPy, which knows plain numbers alone, makes a plain value"):
        quad(lambda t: t * x, 0.0, 1.0)


def test_in_programs_that_run_on_tensors():
    def by_a_function_of_its_own(x):
        class Local:
            factor = 2.0

        return root_of(x) * Local.factor * x

    with pytest.warns(tx.FallbackWarning):
        found = tx.grad(by_a_function_of_its_own)(0.9)
    np.testing.assert_allclose(found, slope(by_a_function_of_its_own, 0.9), rtol=1e-6)

    def as_it_is(x):
        class Local:
            factor = 2.0

        return brentq(cubic, 0.0, 9.0, args=(x, 2.0)) * Local.factor

    with pytest.warns(tx.FallbackWarning):
        found = tx.grad(as_it_is)(0.9)
    np.testing.assert_allclose(found, slope(as_it_is, 0.9), rtol=1e-6)


def test_where_the_program_handles_its_failure():
    def f(x):
        try:
            root = brentq(cubic, 0.0, 9.0, args=(x, 2.0))
        except ValueError:
            root = 3.0 * x
        return root * x

    gradient = tx.grad(f, fallback="error")
    np.testing.assert_allclose(gradient(0.9), slope(f, 0.9), rtol=1e-6)
    assert gradient(-2.0) == -12.0


def test_solvers_within_solvers():
    def f(x):
        def residual(p):
            inner = brentq(lambda t: t**3 + t - p[0] * x, -9.0, 9.0)
            return np.array([inner - p[1], p[0] ** 2 + p[1] - 2.0 * x])

        u, v = fsolve(residual, np.ones(2), xtol=1e-13)
        return u * v

    gradient = tx.grad(f, fallback="error")
    np.testing.assert_allclose(gradient(0.9), slope(f, 0.9), rtol=1e-6)
    with tx.checked():
        np.testing.assert_allclose(tx.grad(by_closure)(0.9), slope(by_closure, 0.9), rtol=1e-6)


def test_answers_that_are_constants():
    np.testing.assert_allclose(tx.grad(lambda x: brentq(np.cos, 0.0, 3.0) * x, fallback="error")(0.9), 0.5 * np.pi)


def no_data(t):
    return t**3 - 2.0


def test_what_has_no_rule_is_called_as_it_is_where_nothing_varies():
    """And a function that captures something goes by the rules, for a library could not be given it."""

    def f(x):
        found = optimize.root_scalar(no_data, bracket=(0.0, 5.0))
        scale = found.root if found.method == "brentq" else 0.0
        shift = np.array([2.0])
        return x * scale * brentq(lambda t: t**3 - shift[0], 0.0, 5.0)

    assert tx.grad(f, fallback="error")(1.3) == pytest.approx(2.0 ** (2.0 / 3.0))


def test_newton_with_full_output():
    def f(x):
        root, how = optimize.newton(lambda t: t**3 - x, 1.0, full_output=True)
        return root * x if how.converged else 0.0

    assert tx.grad(f, fallback="error")(1.3) == pytest.approx(4.0 / 3.0 * 1.3 ** (1.0 / 3.0))
    with pytest.raises(tx.NotDifferentiable, match="of an array has no derivative with `full_output`"):
        tx.grad(lambda x: optimize.newton(lambda t: t**3 - x, np.ones(2), full_output=True)[0][0])(1.3)
