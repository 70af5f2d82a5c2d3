"""Derivatives that a program takes where it runs on Tensors, of functions that have captured what is differentiated."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tests.tensor.fallback.test_introspection import _on_tensors  # noqa: F401

pytestmark = pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
POINT = np.array([0.3, 0.7, 1.9])
KEPT: dict[str, Any] = {}


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, y):
        return math.sin(self.w) * y * y

    @tx.differentiate
    def decorated(self, y):
        return self.w * y * y


class Scaled:
    def __init__(self, w):
        self.w = w

    def energy(self, y):
        return np.sum(self.w * y**3)


def by_argument(v):
    x = v[0]
    return tx.grad(lambda y: x * y * y)(v[1])


def by_constant(v):
    x = v[0]
    return tx.grad(lambda y: x * y * y)(2.0) + x


def with_value(v):
    x = v[0]
    value, slope = tx.value_and_grad(lambda y: math.sin(x) * y**3)(2.0)
    return value * slope


def by_a_global(v):
    KEPT["x"] = v[0]
    return tx.grad(lambda y: KEPT["x"] * y * y)(2.0) * v[1]


def by_a_method(v):
    return tx.grad(Model(v[0]).loss)(2.0) * v[1]


def by_a_method_of_what_holds_an_array(v):
    return np.sum(tx.grad(Scaled(v * v).energy)(v))


def by_a_default(v):
    def g(y, x=v[0]):
        return x * x * y * y

    return tx.grad(g)(v[1])


def twice(v):
    x = v[0]
    return tx.grad(tx.grad(lambda y: x * x * y**3))(2.0)


def within(v):
    x = v[0]
    return tx.grad(lambda y: y * tx.grad(lambda z: x * z * y)(1.5))(v[1])


def confusing(v):
    x = v[0]
    return x * tx.grad(lambda y: x + y)(1.0) * v[1]


def decorated(v):
    x = v[0]
    f = tx.differentiate(lambda y: x * y * y)
    return f(3.0) * f.grad(3.0)


def by_a_decorated_method(v):
    model = Model(v[0])
    return model.decorated(v[1]) + model.decorated.grad(2.0)


def of_an_array(v):
    return np.sum(tx.grad(lambda y: np.sum(v * y * y))(np.array([1.0, 2.0, 3.0])))


def by_pullback(v):
    x = v[0]
    value, pullback = tx.vjp(lambda y, z: y * z * x * v, v * v, v)
    a, b = pullback(v * 2.0)
    c, d = pullback(np.ones(3))
    return np.sum(a * b * value) + np.sum(c * d)


def by_tangent(v):
    x = v[0]
    value, dot = tx.jvp(lambda y, z: np.sin(y * z) * x, (v * v, v), (v, None))
    _, other = tx.jvp(lambda y: np.sum(np.tanh(y) * x), (v,), (np.ones(3),))
    return np.sum(value * dot) * other


def by_what_does_not_matter(v):
    x = v[0]
    value, dot = tx.jvp(lambda y: x * 2.0, (v[1],), (1.0,))
    return value * v[1] + dot + tx.vjp(lambda y: x * 3.0, v[1])[1](1.0)


def by_jacobian(v):
    x = v[0]
    rows = tx.jacobian(lambda y: x * np.outer(y, y) @ v)(v * v)
    return np.sum(rows * rows) + np.sum(tx.jacfwd(lambda y: x * v * y)(2.0))


def by_jacobians_of_several(v):
    first, second = tx.jacrev(lambda y, z: v[0] * y * z[::-1], wrt=(0, 1))(v * v, v)
    values, count = tx.jacobian(lambda y: (y[:0] * 2.0, 3), has_aux=True)(v)
    return np.sum(first * second) * count + np.sum(values)


def by_hessian(v):
    x = v[0]
    return v @ tx.hessian(lambda y: np.sum(x * y**3 * y[::-1]))(v) @ v + tx.hessian(lambda y: x * y**3)(v[1])


def by_a_decorated_jacobian(v):
    f = tx.differentiate(lambda y: y * y * v[0])
    return np.sum(f.jacobian(v) * v)


def by_a_jacobian_of_structures(v):
    x = v[0]
    rows = tx.jacobian(lambda y: {"u": y * v, "w": [np.sum(x * y**3), 2.0]})(v)
    parts = tx.jacobian(lambda d: d["a"] * d["b"] * v)({"a": v * 2.0, "b": x})
    return np.sum(rows["u"]) + np.sum(rows["w"][0] * v) + np.sum(parts["a"] ** 2) + np.sum(parts["b"] * v)


def by_a_complex_jacobian(v):
    x = v[0]
    rows = tx.jacobian(lambda y: y * v * (1.0 + 2.0j))(v)
    return np.sum(np.abs(rows) ** 2) + np.sum(np.imag(tx.jacobian(lambda y: np.sum(y) * 1j * x)(v)) * v)


PROGRAMS = (
    *(
        by_argument,
        by_constant,
        with_value,
        by_a_global,
        by_a_method,
        by_a_method_of_what_holds_an_array,
        by_a_default,
        twice,
        within,
        confusing,
    ),
    *(decorated, by_a_decorated_method, of_an_array, by_pullback, by_tangent, by_what_does_not_matter),
    *(by_jacobian, by_jacobians_of_several, by_hessian, by_a_decorated_jacobian),
    *(by_a_jacobian_of_structures, by_a_complex_jacobian),
)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_captured_is_differentiated(f: Any) -> None:
    steps = 1e-6 * np.eye(3)
    wanted = np.array([(f(POINT + h) - f(POINT - h)) / 2e-6 for h in steps])
    np.testing.assert_allclose(tx.grad(f)(POINT), wanted, rtol=1e-6, atol=1e-9)
    dot = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(tx.jvp(f, (POINT,), (dot,))[1], wanted @ dot, rtol=1e-6)
    second = np.array([tx.grad(f)(POINT + h) - tx.grad(f)(POINT - h) for h in steps]) / 2e-6
    np.testing.assert_allclose(tx.vjp(tx.grad(f), POINT)[1](dot), second @ dot, rtol=1e-5, atol=1e-7)


def test_a_cotangent_that_does_not_fit_is_refused() -> None:
    with pytest.raises(tx.NotDifferentiable, match=r"a cotangent has shape \(2,\)"):
        tx.grad(lambda v: tx.vjp(lambda y: y * v[0], v)[1](np.ones(2))[0])(POINT)


REFUSED = {
    "tx.jvp": lambda v, g: tx.jvp(lambda y: (g(y), y), (2.0,), (1.0,))[1][0],
    "tx.vjp": lambda v, g: tx.vjp(lambda y: [g(y)], 2.0)[1]([1.0]),
    "tx.hvp": lambda v, g: tx.hvp(g, (2.0,), (1.0,)),
    "tx.linearize": lambda v, g: tx.linearize(g, 2.0)[1](1.0),
    "batch": lambda v, g: np.sum(tx.vmap(g)(np.arange(3.0))),
    "differentiable": lambda v, g: tx.differentiate(g).jvp((2.0,), (1.0,))[1],
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_derivatives_of_what_has_captured_something_are_refused(name: str) -> None:
    def f(v: Any) -> Any:
        x = v[0]
        return REFUSED[name](v, lambda y: x * y * y)

    def caught(v: Any) -> Any:
        try:
            return f(v)
        except tx.TangentxError:
            return v[0]

    def constant(v: Any) -> Any:
        return REFUSED[name](v, lambda y: 3.0 * y * y) * v[0]

    for run in (f, caught):
        with pytest.raises(tx.NotDifferentiable, match=r"(?s)test_inner_derivatives\.py:\d+.*captures.*tx\.grad"):
            tx.grad(run)(POINT)
    assert tx.grad(constant)(POINT)[0] == pytest.approx(constant(POINT) / POINT[0])
