"""Jacobians and Hessians: layouts, both modes, structures, effects, and derivatives taken inside programs."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.harness.guard import assert_fresh

Pair = collections.namedtuple("Pair", "first second")
X = np.array([0.3, 1.1, -0.7])
W = np.array([[1.0, 0.5, -0.2], [0.3, -0.8, 0.9]])
log: list[float] = []
WEIGHTS = np.array([1.0, 2.0, 3.0])


@pytest.fixture(params=["proofs on", "proofs off"], autouse=True)
def proofs(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "proofs on":
        yield
        return
    with pipeline.proofs(off="all"):
        yield


def layer(x, w):
    h = w @ x
    return np.tanh(h) * np.sum(x)


def written(x, w):
    y = np.zeros(4)
    for i in range(3):
        y[i] = x[i] * y[i - 1] + w[0, i]
        y[3] += y[i] ** 2
    return y


def branchy(x, w):
    if x[0] > x[1]:
        return x * x
    return np.outer(x, w[0])


def curve(t):
    return np.array([t * t, np.sin(t)])


def number(t):
    return t * t * t


def noted(x):
    log.append(float(x[0]))
    return x * x[0]


def with_extras(x):
    return x * x, {"norm": np.sum(x)}


def weighted(t):
    return t * WEIGHTS


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def by_items(ws):
    total = 0.0
    for w in ws:
        total = total + np.sum(w**3)
    return total


def structure(p):
    return {"a": Pair(p["x"] * p["k"], [np.sum(p["x"]), 3]), "b": p["k"] * 2.0}


@dataclasses.dataclass
class State:
    u: Any
    v: Any


def moved_state(s):
    return State(s.u * s.v, (s.v,))


def differences(f: Any, args: tuple[Any, ...], place: int, h: float = 1e-6) -> Any:
    """The Jacobian of an array by an array, by central differences."""
    x, parts = np.asarray(args[place]), []
    for spot in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[spot] = h
        there = [f(*args[:place], x + sign * step, *args[place + 1 :]) for sign in (1.0, -1.0)]
        parts.append((np.asarray(there[0]) - np.asarray(there[1])) / (2.0 * h))
    return np.stack(parts, -1).reshape(np.shape(parts[0]) + x.shape)


@pytest.mark.share(1)
@pytest.mark.parametrize("f", [layer, written, branchy])
@pytest.mark.parametrize("make", [tx.jacobian, tx.jacfwd, tx.jacrev])
def test_arrays_by_arrays(f: Any, make: Any) -> None:
    for place in (0, 1):
        found = make(f, wrt=place)(X, W)
        np.testing.assert_allclose(found, differences(f, (X, W), place), rtol=1e-6, atol=1e-8)
        assert found.dtype == np.float64 and found.flags.writeable
    both = make(f, wrt=("x", "w"))(X, W)
    np.testing.assert_array_equal(both[0], make(f, wrt="x")(X, W))
    np.testing.assert_array_equal(both[1], make(f, wrt="w")(X, W))


def test_numbers() -> None:
    for make in (tx.jacobian, tx.jacfwd, tx.jacrev):
        assert make(number)(2.0) == 12.0 and type(make(number)(2.0)) is float
        np.testing.assert_allclose(make(curve)(2.0), [4.0, np.cos(2.0)])
        np.testing.assert_allclose(make(rosenbrock)(X), tx.grad(rosenbrock)(X))
        assert make(curve)(np.float32(2.0)).dtype == np.float32
        assert make(lambda x: x * 2.0)(np.ones(2, np.float32)).dtype == np.float32
        assert make(lambda x: np.sum(x))(np.ones((2, 3))).shape == (2, 3)
        assert make(lambda x: np.outer(x, x))(X).shape == (3, 3, 3)
    assert tx.hessian(number)(2.0) == 12.0


@pytest.mark.parametrize("make", [tx.jacobian, tx.jacfwd, tx.jacrev])
def test_structures(make: Any) -> None:
    found = make(structure)({"x": X, "k": 2.0, "n": 3})
    assert list(found) == ["a", "b"] and type(found["a"]) is Pair
    np.testing.assert_array_equal(found["a"].first["x"], 2.0 * np.eye(3))
    np.testing.assert_array_equal(found["a"].first["k"], X)
    np.testing.assert_array_equal(found["a"].second[0]["x"], np.ones(3))
    assert found["a"].second[0]["k"] == 0.0 and found["a"].second[1] is None
    assert found["b"]["k"] == 2.0 and found["b"]["n"] is None
    np.testing.assert_array_equal(found["b"]["x"], np.zeros(3))
    state = make(moved_state)(State(X, 2.0))
    assert type(state) is State and type(state.u) is State and type(state.v[0]) is State
    np.testing.assert_array_equal(state.u.u, 2.0 * np.eye(3))
    np.testing.assert_array_equal(state.u.v, X)
    assert state.v[0].v == 1.0
    pair = make(lambda ws: [ws[0] * 2.0, ws[1]])([X, X])
    np.testing.assert_array_equal(pair[0][0], 2.0 * np.eye(3))
    np.testing.assert_array_equal(pair[1][0], np.zeros((3, 3)))


def test_nothing_is_shared() -> None:
    args = (X.copy(), W.copy())
    assert_fresh(tx.jacobian(layer, wrt=(0, 1))(*args), args)
    assert_fresh(tx.jacobian(weighted)(2.0), (WEIGHTS,))
    assert_fresh(tx.jacobian(lambda x: (x, x))(X), (X,))
    assert_fresh(tx.hessian(rosenbrock)(X), (X,))


def test_programs_that_act_run_once() -> None:
    for make in (tx.jacobian, tx.jacfwd, tx.jacrev):
        del log[:]
        np.testing.assert_allclose(make(noted)(X), differences(lambda x: x * x[0], (X,), 0), atol=1e-8)
        assert log == [0.3]
        del log[:]
        make(noted)(X)
        assert log == [0.3]


def test_the_shorter_mode() -> None:
    wide, tall = tx.jacobian(lambda x: x[:2] * x[1]), tx.jacobian(lambda x: np.outer(x, x))
    for _ in range(2):
        assert wide(np.ones(9)).shape == (2, 9) and "rows(" in wide.source
        assert tall(np.ones(9)).shape == (9, 9, 9) and "columns(" in tall.source
    assert "columns(" in tx.jacobian(lambda x: x[:2] * x[1], mode="forward").source_for(np.ones(9))


def test_extras() -> None:
    for make in (tx.jacobian, tx.jacfwd, tx.jacrev):
        found, extras = make(with_extras, has_aux=True)(X)
        np.testing.assert_array_equal(found, np.diag(2.0 * X))
        assert extras == {"norm": np.sum(X)}
    found, extras = tx.hessian(lambda x: (np.sum(x**3), x), has_aux=True)(X)
    np.testing.assert_allclose(found, np.diag(6.0 * X))
    assert_fresh(extras, (X,))


@pytest.mark.parametrize("n", [10, 1000])
def test_hessian_of_rosenbrock(n: int) -> None:
    x = np.linspace(-1.0, 2.0, n)
    wanted = np.diag(np.concatenate([1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0, [0.0]]))
    wanted += np.diag([0.0] + [200.0] * (n - 1)) - np.diag(400.0 * x[:-1], 1) - np.diag(400.0 * x[:-1], -1)
    np.testing.assert_allclose(tx.hessian(rosenbrock)(x), wanted, rtol=1e-12, atol=1e-12)
    v = np.cos(np.arange(n))
    np.testing.assert_allclose(tx.hvp(rosenbrock, (x,), (v,)), wanted @ v, rtol=1e-12, atol=1e-9)


def test_hessians() -> None:
    blocks = tx.hessian(by_items)([X, X[:2]])
    np.testing.assert_allclose(blocks[1][1], np.diag(6.0 * X[:2]))
    np.testing.assert_array_equal(blocks[0][1], np.zeros((3, 2)))
    rows = tx.hessian(lambda x, w: np.sum(w @ x) ** 2, wrt=(0, 1))(X, W)
    assert rows[0][1].shape == (3, 2, 3) and rows[1][1].shape == (2, 3, 2, 3)
    np.testing.assert_allclose(rows[0][1], np.moveaxis(rows[1][0], -1, 0))


def test_products_with_hessians() -> None:
    def f(a, n, b):
        return np.sum(a**n * b)

    a_part, n_part, b_part = tx.hvp(f, (X, 2, X), (None, None, np.ones(3)))
    np.testing.assert_allclose(a_part, 2.0 * X)
    np.testing.assert_array_equal(b_part, np.zeros(3))
    assert n_part is None
    assert tx.hvp(number, (2.0,), (1.0,)) == 12.0
    square = tx.differentiate(lambda x, y: x * x * y)
    assert square.hvp((2.0, 3.0), (1.0, None)) == 6.0 and square.hessian(2.0, 3.0) == 6.0
    assert square.jacobian(2.0, 3.0) == 12.0


def test_elementwise_gradients() -> None:
    np.testing.assert_allclose(tx.elementwise_grad(lambda x: np.sin(x) * x)(X), np.sin(X) + X * np.cos(X))
    np.testing.assert_allclose(tx.elementwise_grad(tx.elementwise_grad(np_cube))(X), 6.0 * X)
    assert tx.elementwise_grad(number)(2.0) == 12.0


def np_cube(x):
    return x**3


def squares_of_slopes(x):
    return np.sum(tx.jacobian(np_cube)(x) ** 2) + np.sum(tx.hessian(rosenbrock)(x))


def test_jacobians_inside_programs() -> None:
    gradient = tx.grad(squares_of_slopes)(X)
    np.testing.assert_allclose(gradient, differences(squares_of_slopes, (X,), 0), rtol=1e-5)
    value, tangent = tx.jvp(squares_of_slopes, (X,), (np.ones(3),))
    np.testing.assert_allclose(tangent, np.sum(gradient))


def test_complex_numbers() -> None:
    spiral = tx.jacobian(lambda t: np.exp(1j * t) * t)
    assert spiral(2.0) == pytest.approx(np.exp(2j) * (1.0 + 2j))
    assert spiral(np.ones(2)).dtype == np.complex128
    z = np.array([1.0 + 2.0j, 0.5j])
    np.testing.assert_allclose(tx.jacobian(lambda z: np.abs(z) ** 2)(z), np.diag(2.0 * np.conj(z)))


def test_empty_arrays() -> None:
    assert tx.jacfwd(lambda x: x * 2.0)(np.zeros(0)).shape == (0, 0)
    assert tx.jacrev(lambda x: x * 2.0)(np.zeros(0)).shape == (0, 0)
    assert tx.jacfwd(lambda x: np.sum(x) + X)(np.zeros(0)).shape == (3, 0)


def test_tangents_have_the_shapes_of_their_primals() -> None:
    if pipeline.switched_off():
        return
    found = tx.jacfwd(lambda x: np.sin(x) * x + x * W[0])
    np.testing.assert_allclose(found(X), np.diag(np.cos(X) * X + np.sin(X) + W[0]))
    assert "unbroadcast" not in found.source


@pytest.mark.parametrize("jacobian", [tx.jacfwd, tx.jacrev, tx.jacobian])
@pytest.mark.parametrize(
    ("f", "x", "shape"),
    [
        (lambda x: x * x, np.zeros(0), (0, 0)),
        (lambda x: np.sort(x), np.zeros(0), (0, 0)),
        (lambda x: np.cumprod(x), np.zeros(0), (0, 0)),
        (lambda x: np.stack([x, x * x, WEIGHTS[:0]]), np.zeros(0), (3, 0, 0)),
        (lambda x: np.sum(np.sort(x, axis=1), axis=0), np.zeros((0, 3)), (3, 0, 3)),
        (lambda x: np.sort(x)[1:1], np.ones(3), (0, 3)),
        (lambda x: np.sum(x * x), np.zeros(0), (0,)),
    ],
)
def test_jacobians_of_nothing(jacobian: Any, f: Any, x: Any, shape: tuple[int, ...]) -> None:
    found = jacobian(f, fallback="error")(x)
    assert found.shape == shape
    assert not found.any()


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("join", [np.stack, np.vstack, np.concatenate, np.hstack, np.dstack, np.column_stack])
@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0)])
def test_nothing_is_joined_to_nothing(join: Any, shape: tuple[int, ...]) -> None:
    """Compiled and on Tensors, where forward mode is the adjoint of the adjoint."""

    def f(x: Any) -> Any:
        return join([x, x * 2.0])

    def beyond(x: Any) -> Any:
        vars(np)  # is not compiled
        return f(x)

    x = np.zeros(shape)
    for g in (f, beyond):
        value, dot = tx.jvp(g, (x,), (x,))
        assert np.shape(value) == np.shape(dot) == f(x).shape
        assert tx.jacrev(g)(x).shape == tx.jacfwd(g)(x).shape == f(x).shape + shape


def test_jacobians_of_an_empty_part() -> None:
    found = tx.jacfwd(lambda p: np.sort(np.concatenate([p["a"], p["b"]])))({"a": np.zeros(0), "b": np.ones(1)})
    assert found["a"].shape == (1, 0)
    np.testing.assert_array_equal(found["b"], [[1.0]])
