"""Programs with a batch axis: all directions of a Jacobian at once, and what is run one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tests.harness import leaves
from tests.programs import PROGRAMS
from tests.programs.case import Program
from tests.programs.reference import names

X = np.array([0.3, 1.1, -0.7])
W = np.array([[1.0, 0.5, -0.2], [0.3, -0.8, 0.9], [0.2, 0.1, 0.4]])


def products(x):
    h = np.tanh(W @ x) @ W + x @ W
    return h * (x @ (W @ x)) + np.outer(x, h) @ x + np.dot(x, h)


def both_moving(x):
    a = np.outer(x, x)
    return (a @ x) * (x @ a) + a @ a @ x


def shapes(x):
    a = np.reshape(x * x, (3, 1)) + np.reshape(x, (1, 3))
    b = np.concatenate([a.T, np.stack([x, np.cumsum(x), np.flip(x)])])
    return np.mean(b, axis=0) * np.sum(b, axis=1, keepdims=True)[:3] + np.ravel(a)[2:5] + x[:, None]


def seen_through_a_view(x):
    y = x * x
    column = np.reshape(y, (3, 1))
    y[0] = x[1]
    return column[:, 0] * x


def picked(x):
    index = np.array([2, 0, 2])
    return x[index] * x[1] + x[::-1] + np.where(x > 0.0, x, x * x)


def writing(x):
    y = np.zeros((2, 3))
    y[0] = x
    for i in range(3):
        y[1, i] = y[0, i] * y[1, i - 1] + x[i]
        y[1] += y[0, i]
        y[0, i] = y[1, 2]
    row = y[0]
    row *= 2.0
    return y + np.sum(row)


def swapped(x):
    y = x.copy()
    for i in range(2):
        t = y[i]
        y[i] = y[i + 1] * 2.0
        y[i + 1] = t * t
    return y


def weigh(u, scale):
    return np.exp(-u * scale), np.sum(u)


def helped(x):
    parts = {"a": x, "b": 2.0 * x}
    total = np.zeros(3)
    for key in ("a", "b"):
        heavy, size = weigh(parts[key], 0.5)
        total = total + heavy * size
    return total


def branching(x):
    total = 0.0
    for i in range(3):
        if x[i] > 0.0:
            total = total + x[i] * x
        else:
            total = total - x
    return total


def solved(x):
    return np.linalg.solve(W + np.diag(x), x)


def numbers(x):
    a, b = x[0], x[1]
    c = np.array([a * b, np.sin(a), b])
    return c * a + np.maximum(c, b)


AT_ONCE = [products, both_moving, picked, writing, swapped, helped, solved]
IN_TURN = [shapes, branching, numbers]


def differences(f: Any, x: Any, h: float = 1e-6) -> Any:
    parts = [(f(x + h * e) - f(x - h * e)) / (2.0 * h) for e in np.eye(len(x))]
    return np.moveaxis(np.array(parts), 0, -1)


@pytest.mark.parametrize("make", [tx.jacfwd, tx.jacrev], ids=lambda f: f.__name__)
@pytest.mark.parametrize("f", AT_ONCE, ids=lambda f: f.__name__)
def test_all_directions_at_once(f: Any, make: Any) -> None:
    found = make(f)
    np.testing.assert_allclose(found(X), differences(f, X), rtol=1e-6, atol=1e-7)
    assert "directions(" in found.source, found.source


def test_one_sweep_for_all_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy is called equally often for few directions and for many."""
    jacobian, counts, tanh = tx.jacfwd(chain), [], np.tanh
    jacobian(X)
    for size in (3, 40):
        seen: list[int] = []
        with monkeypatch.context() as patched:
            patched.setattr(np, "tanh", lambda x, seen=seen: (seen.append(0), tanh(x))[1])
            jacobian(np.linspace(0.0, 1.0, size))
        counts.append(len(seen))
    assert counts == [3, 3]


def chain(x):
    for k in range(3):
        x = np.tanh(x) * x
    return x


def with_branch(x):
    return np.array([x[0], x[1]]) if x[0] > 5.0 else x[:2] * x[2]


def diagonal(x):
    total = x
    for u in [x, x * x]:
        total = total * sorted(list(u))[0]
    return total


def test_it_is_said_why_not_at_once() -> None:
    jacobian = tx.jacfwd(seen_through_a_view)
    jacobian(X)
    assert "One direction after the other: `reshape` of a batch (test_walker.py:" in jacobian.explain()
    assert jacobian.source.startswith("# Jacobian of `seen_through_a_view`")
    for at_once in (products, shapes):
        jacobian = tx.jacfwd(at_once)
        jacobian(X)
        assert "One direction" not in jacobian.explain()


@pytest.mark.parametrize("make", [tx.jacfwd, tx.jacrev], ids=lambda f: f.__name__)
@pytest.mark.parametrize("f", [*IN_TURN, with_branch, diagonal], ids=lambda f: f.__name__)
def test_what_may_need_one_direction_after_the_other(f: Any, make: Any) -> None:
    np.testing.assert_allclose(make(f)(X), differences(f, X), rtol=1e-6, atol=1e-8)


SCALARS = [p for p in PROGRAMS if p.name != "of_an_argument"][::7]


@pytest.mark.share(3)
@pytest.mark.parametrize("program", SCALARS, ids=lambda p: p.name)
def test_programs_of_the_corpus(program: Program) -> None:
    gradient = tx.grad(program.fn, wrt=names(program), fallback="error")(*program.args())
    jacobian = tx.jacfwd(program.fn, wrt=names(program))(*program.args())
    pairs = zip(leaves(jacobian), leaves(gradient), strict=True)
    wanted = [np.max(np.abs(leaf.value), initial=0.0) for leaf in leaves(gradient) if leaf.value is not None]
    single = any(np.asarray(leaf.value).dtype in (np.float32, np.float16) for leaf in leaves(gradient))
    for got, want in pairs:
        if want.value is not None:
            bound = (1e-4 if single else 1e-10) * max(wanted)
            np.testing.assert_allclose(np.asarray(got.value), np.asarray(want.value), rtol=0.0, atol=bound)


def test_an_array_of_unknown_rank_is_written_one_direction_after_the_other() -> None:
    def f(a, b):
        u = a.copy()
        u[:] = b if b.shape == a.shape else b[0]
        return np.sum(u * a)

    a, b = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    jacobian = tx.jacfwd(f, wrt=1, fallback="error")
    assert jacobian(a, b).tolist() == [1.0, 2.0]
    assert jacobian(a, b[:1]).tolist() == [3.0]
