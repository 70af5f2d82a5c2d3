"""Arrays that a loop binds anew: lengths that they keep or change, and what shares memory with them."""

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


def another_name(x, n):
    u = x * 1.0
    for _ in range(n):
        v = x.copy()
        u = v
        v[1:] = u[:-1] * 2.0 + v[1:]
    return np.sum(u * u)


def another_name_by_branch(x, n):
    u = x * 1.0
    for i in range(n):
        v = x * 0.5
        if i > 0:
            u = v
        v[1:] += u[:-1]
        v[:-1] *= u[1:]
    return np.sum(u * v)


def another_name_by_a_trip(x, n):
    u = x * 1.0
    for _ in range(2):
        v = x * 0.5
        for _ in range(n):
            v[1:] += u[:-1]
            v[:-1] = v[:-1] * u[1:]
            u = v
    return np.sum(u * v)


def another_name_of_a_part(x, n):
    u = x * 1.0
    for _ in range(n):
        v = x * 0.5
        w = u[1:]
        u = v[::-1]
        v[1:] = w * 2.0 + v[:-1]
        v[:-1] += u[1:]
    return np.sum(u * u)


def parts_of_two_in_turn(x, n):
    u, w = x * 1.0, x * 2.0
    for _ in range(n):
        a = u[1:]
        u, w = w, u
        b = u[1:]
        b[:] = a * a
        a[:] = b + 1.0
    return np.sum(u * w)


def while_it_lasts(x, n):
    u = x * 1.0
    while True:
        v = u.copy()
        v[1:] = 0.5 * u[:-1]
        u = v
        n -= 1
        if n < 1:
            break
    return np.sum(u * u)


TABLE = np.outer(ROW[1:5], ROW[2:5])
CASES = [
    *((relaxed, (x, n)) for x in (ROW, ROW[:2]) for n in (0, 3)),
    *((attracted, (ROW, n)) for n in (0, 2)),
    *((shorter, (ROW, n)) for n in (0, 1, 4)),
    *((broadcast_once, (x, n)) for x in (ROW, ROW[1:2]) for n in (0, 1, 3)),
    *((exchanged, (x, n)) for x in (ROW, ROW[:3]) for n in (0, 1, 2)),
    *((f, (ROW, n)) for f in (last_of_trips, by_branch, first_part, read_before) for n in (0, 1, 4)),
    *((f, (ROW, n)) for f in (another_name, another_name_of_a_part, parts_of_two_in_turn) for n in (0, 1, 3)),
    *((f, (ROW, n)) for f in (another_name_by_branch, another_name_by_a_trip, while_it_lasts) for n in (1, 2, 3)),
    *((turned, (x, n)) for x in (TABLE, TABLE[:3]) for n in (1, 2)),
]


@pytest.mark.share(1)
@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize("f", dict.fromkeys(f for f, _ in CASES))
def test_arrays_that_a_loop_binds_anew(f, jit):
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
