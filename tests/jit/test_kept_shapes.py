"""Lengths that loop-carried arrays and tapes keep, and those that change from trip to trip."""

import numpy as np
import pytest

import tangentx as tx
from tests.jit.test_entry import ROW, WAYS, compiled, demand_equal, own_cache  # noqa: F401


def relaxed(b, n):
    u = np.zeros_like(b)
    for _ in range(n):
        v = u.copy()
        v[1:-1] = 0.5 * (u[2:] + u[:-2] - b[1:-1])
        u = v
    return np.sum(u * u)


def attracted(q, n):
    v = np.zeros_like(q)
    for _ in range(n):
        d = q[None, :] - q[:, None]
        w = 1.0 / (d * d + 0.1)
        v = v + 0.1 * np.sum(w * d, axis=1)
        q = q + 0.1 * v
    return np.sum(q * q)


def shorter(x, n):
    y = x * 1.0
    for _ in range(n):
        y = y[1:] * y[:-1]
    return np.sum(y * y)


def broadcast_once(x, n):
    y = x[:1] * 1.0
    for _ in range(n):
        y = y * x + 0.5
    return np.sum(y * y)


def exchanged(x, n):
    y, z = x * 2.0, x[:3] * 1.0
    for _ in range(n):
        y, z = z * z, y * 0.5
    return np.sum(y * y) + np.sum(z * z * z)


def last_of_trips(x, n):
    t = x[:n]
    for i in range(n):
        t = x[i : i + 2] * x[i]
    return np.sum(t * t)


def by_branch(x, n):
    y = x[1:] * 2.0 if n > 2 else x * 3.0
    for _ in range(n):
        y = y * y
    return np.sum(y)


def first_part(x, n):
    u = x * 1.0
    for i in range(n):
        k = len(u) - i
        u[:k] = u[:k] * u[:k] * 0.5
    return np.sum(u * u)


def read_before(x, n):
    y, total = x, 0.0
    for i in range(n):
        if i > 0:
            total = total + np.sum(y * z)  # noqa: F821
        z = y * 0.5
        y = z + x
    return total


def turned(a, n):
    for _ in range(n):
        a = (a * a).T
    return np.sum(a * a)


TABLE = np.outer(ROW[1:5], ROW[2:5])
CASES = [
    *((relaxed, (x, n)) for x in (ROW, ROW[:2]) for n in (0, 3)),
    *((attracted, (ROW, n)) for n in (0, 2)),
    *((shorter, (ROW, n)) for n in (0, 1, 4)),
    *((broadcast_once, (x, n)) for x in (ROW, ROW[1:2]) for n in (0, 1, 3)),
    *((exchanged, (x, n)) for x in (ROW, ROW[:3]) for n in (0, 1, 2)),
    *((f, (ROW, n)) for f in (last_of_trips, by_branch, first_part, read_before) for n in (0, 1, 4)),
    *((turned, (x, n)) for x in (TABLE, TABLE[:3]) for n in (1, 2)),
]


@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize("f", dict.fromkeys(f for f, _ in CASES))
def test_shapes_that_stay_and_shapes_that_change(f, jit):
    derivative, plain = tx.value_and_grad(f, jit=jit), tx.value_and_grad(f, guarded=True)
    for args in (args for g, args in CASES if g is f):
        demand_equal(derivative(*args), plain(*args), jit == "python")
    compiled(derivative)


def test_what_is_recorded_has_the_lengths_that_it_was_given():
    def steepened(u, n):
        for _ in range(n):
            u[1:-1] -= 0.1 * u[1:-1] * (u[2:] - u[:-2])
        return np.sum(u * u)

    text = tx.grad(steepened, jit="python").source_for(ROW, 3)
    back = text[text.index("reverse sweep") :]
    assert "u_tape.pop()" in back
    assert "t50.shape" not in back and ".shape[0] == " not in back
