"""Derivatives that a differentiated program takes itself: of known functions, of closures, of methods; products."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline

X = np.array([0.3, 1.1, -0.7])


@pytest.fixture(params=["proofs on", "proofs off"], autouse=True)
def proofs(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "proofs on":
        yield
        return
    with pipeline.proofs(off="all"):
        yield


def cubes(x):
    return np.sum(x**3)


def each(u, v):
    return u * v * u


def confusion(x):
    return x * tx.grad(lambda y: x + y)(1.0)


def confused_products(x):
    value, slope = tx.jvp(lambda y: x * y, (x,), (x,))
    return value * slope


def of_closures(x):
    def f(u):
        return np.sum(u * u * x)

    second = tx.grad(lambda u: np.sum(tx.grad(f)(u) * x))
    return np.sum(second(x))


def of_known(x):
    value, slope = tx.jvp(cubes, (x,), (2.0 * x,))
    return value + slope


def pulled_back(x):
    value, pull = tx.vjp(each, x, x * x)
    first, second = pull(np.cos(x))
    again, _ = pull(x)
    return np.sum(first * second * again) + np.sum(value)


def pulled_structures(x):
    value, pull = tx.vjp(lambda p: {"a": p[0] * x, "b": p[1]}, (x, np.sum(x)))
    first, second = pull({"a": x, "b": 2.0})
    return np.sum(first) * second + np.sum(value["a"])


def curved(x):
    return np.sum(tx.hvp(cubes, (x,), (x,)) * x)


def curved_pairs(x):
    first, none, second = tx.hvp(lambda a, n, b: np.sum(a**n * b), (x, 2, x * x), (x, None, None))
    return np.sum(first * second) + (none is None)


def with_jacobian(x):
    rows = tx.jacobian(lambda u: np.outer(u, x) @ u)(x)
    short = tx.jacrev(steps)(x)
    return np.sum(rows @ x) * np.sum(short)


def steps(u):
    v = np.zeros(2)
    for i in range(2):
        v[i] = u[i] * u[i + 1] + v[i - 1]
    return v


def with_curvature(x):
    return np.trace(tx.hessian(lambda u: np.sum(u**3 * x))(x))


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        slope = tx.grad(lambda u, k=k: np.sum(u * u) * x[k])
        total = total + np.sum(slope(x) ** 2)
    return total


class Model:
    def __init__(self, weights):
        self.weights = weights

    def energy(self, u):
        return np.sum(self.weights * u**3)

    def force(self, u):
        return tx.grad(self.energy)(u)


def by_method(x):
    model = Model(x * x)
    return np.sum(model.force(x) * x)


PROGRAMS = [
    of_closures,
    of_known,
    pulled_back,
    pulled_structures,
    curved,
    curved_pairs,
    with_jacobian,
    with_curvature,
    in_a_loop,
    by_method,
]


def slopes(f: Any, x: Any, h: float = 1e-6) -> Any:
    return np.array([(f(x + h * e) - f(x - h * e)) / (2.0 * h) for e in np.eye(len(x))])


@pytest.mark.share(4)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_that_take_derivatives(f: Any) -> None:
    gradient = tx.grad(f)(X)
    np.testing.assert_allclose(gradient, slopes(f, X), rtol=1e-6, atol=1e-8)
    value, tangent = tx.jvp(f, (X,), (np.ones(3),))
    assert value == pytest.approx(f(X)) and tangent == pytest.approx(np.sum(gradient))
    if pipeline.switched_off():
        return
    second = tx.jvp(tx.grad(f), (X,), (np.ones(3),))[1]
    np.testing.assert_allclose(second, slopes(lambda x: np.sum(tx.grad(f)(x)), X), rtol=1e-6, atol=1e-7)


def test_perturbations_are_not_confused() -> None:
    """d/dx of ``x * d/dy (x + y)`` is 1."""
    assert tx.grad(confusion)(3.0) == 1.0
    assert tx.jvp(confusion, (3.0,), (1.0,)) == (3.0, 1.0)
    assert tx.grad(tx.grad(confusion))(3.0) == 0.0
    assert tx.grad(confused_products)(2.0) == 32.0  # x * x * x * x
    assert tx.jvp(confused_products, (2.0,), (1.0,))[1] == 32.0


def too_few_tangents(x):
    return tx.jvp(each, (x, x), (x,))[1]


def no_tuple(x):
    return tx.jvp(cubes, x, x)[1]


def wrong_shape(x):
    return tx.jvp(cubes, (x,), (np.ones(5),))[1]


def wrong_cotangent(x):
    return np.sum(tx.vjp(each, x, x)[1](np.ones(2))[0])


def of_integers(x):
    return tx.hvp(lambda n: n * n, (2,), (1.0,)) * np.sum(x)


def of_partial(x):
    import functools

    return np.sum(tx.grad(functools.partial(each, x))(1.0))


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (too_few_tangents, "2 primals, but the number of tangents is 1"),
        (no_tuple, "must be a tuple"),
        (wrong_shape, r"shape \(5,\), but its value has shape \(3,\)"),
        (wrong_cotangent, r"shape \(2,\), but its value has shape \(3,\)"),
        (of_integers, "none of the primals holds a real or complex number"),
        (of_partial, "the derivative of the function `partial`"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_products_that_do_not_fit(f: Any, text: str) -> None:
    with pytest.raises(tx.TangentxError, match=text):
        tx.grad(f)(X)


TABLE = {"c": 3.0}


def scaled(x, y=2.0, table=TABLE, pair=(0.5, 1.5), *, last=2.0):
    return np.sum(x**3) * y * table["c"] * pair[0] * last


def tangents_with_defaults(x):
    return tx.jvp(scaled, (x,), (np.ones(3),))[1] + tx.jvp(scaled, (x, x[0]), (np.ones(3), 1.0))[1]


def pullbacks_with_defaults(x):
    return tx.vjp(scaled, x)[1](1.0)[0] + tx.vjp(scaled, x, x[0])[1](1.0)[1]


def curvature_with_defaults(x):
    return np.sum(tx.hvp(scaled, (x,), (np.ones(3),))) * tx.hvp(lambda y, k=2.0: y * y * k * x[1], (x[0],), (1.0,))


class Scale:
    def __init__(self, c):
        self.c = c

    def of(self, x, power=3):
        return np.sum(x**power) * self.c


SCALE = Scale(2.0)


def tangents_of_a_method(x):
    return tx.jvp(SCALE.of, (x,), (np.ones(3),))[1] + tx.jvp(lambda y, k=2.0: y[1] * k * x[0], (x,), (x,))[1]


@pytest.mark.share(1)
@pytest.mark.parametrize(
    "f", [tangents_with_defaults, pullbacks_with_defaults, curvature_with_defaults, tangents_of_a_method]
)
def test_parameters_that_are_left_to_their_defaults_are_no_tangents(f: Any) -> None:
    x = np.array([0.7, -1.3, 2.1])
    wanted = [(f(x + e) - f(x - e)) / 2e-5 for e in np.eye(3) * 1e-5]
    np.testing.assert_allclose(tx.grad(f, fallback="error")(x), wanted, rtol=1e-6)
    np.testing.assert_allclose(tx.jvp(f, (x,), (np.ones(3),))[1], np.sum(wanted), rtol=1e-6)


def rest(x, *more):
    return np.sum(x**2) * more[0]


def test_arguments_without_a_parameter_of_their_own_are_refused() -> None:
    for f in (lambda x: tx.jvp(rest, (x, x[0]), (x, 1.0))[1], lambda x: tx.vjp(rest, x, x[0])[1](1.0)[1]):
        with pytest.raises(tx.NotDifferentiable, match=r"parameter|\*args"):
            tx.grad(f)(np.ones(3))
