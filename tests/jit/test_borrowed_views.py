"""Views whose memory their bases keep, and those that outlive what their bases were bound to."""

import numpy as np
import pytest

import tangentx as tx
from tests.jit.test_entry import HAS_C, both, own_cache  # noqa: F401

pytestmark = pytest.mark.skipif(not HAS_C, reason="no C compiler")
RNG = np.random.default_rng(5)


def base_bound_anew(x, n):
    y = x * 2.0
    v = y[1:]
    total = np.sum(v * v)
    for _ in range(n):
        y = y * 1.5 + x  # `v` still refers to what `y` was
        total = total + np.sum(v * y[:-1])
    return total


def bound_anew_in_a_branch(x, n):
    y = x + 1.0
    v = y[::-1]
    if n > 1:
        y = np.sin(y)
    return np.sum(v * y * y)


def from_the_trip_before(x, n):
    y = x * 1.0
    last = y[:2]
    for _ in range(n):
        y = y * x
        y[0] = np.sum(last)
        last = y[:2]
    return np.sum(last * y[-2:])


def view_of_a_view(x, n):
    y = x * 3.0
    for _ in range(n):
        v = y[1:]
        w = v[:-1]
        y = y + 0.5 * x
        z = np.sin(y)
        w[0] = 2.0 * w[0]
        y[1:-1] = w * z[1:-1]
        y += z
    return np.sum(y)


def row_of_rows(x, n):
    m, others, total = np.outer(x, x), [], 0.0
    for k in range(n):
        row = m[k]
        m = m[::-1] * 0.5
        others.append(np.cos(m))  # where the row was, if nobody kept that
        m[0] = row * np.sum(others[k]) + row[::-1]
    for other in others:
        total += np.sum(other)
    return np.sum(m * m) * total


def kept_in_a_list(x, n):
    y, rows = x * 1.0, []
    for _ in range(n):
        rows.append(y[1:])
        y = y * x
    total = 0.0
    for row in rows:
        total += np.sum(row * row)
    return total + np.sum(y)


def rest(y):
    return y[1:]


def given_back(x, n):
    y = x * 1.0
    for _ in range(n):
        v = rest(y)
        y = np.cos(y)
        y[1:] += v * v
    return np.sum(y * x)


def written_through(x, n):
    y = np.zeros_like(x)
    row = y[: len(x) - 1]
    for k in range(n):
        row[k % 2] += np.sum(x[k:] ** 2)
        y[-1] = y[-1] + row[0] * y[1]
    return np.sum(y * y)


def turned(x, n):
    m = np.reshape(x[:4], (2, 2)) * 1.0
    t = m.T
    for _ in range(n):
        m = m @ m * 0.3
        m[0] += t[0]
    return np.sum(t * m)


PROGRAMS = (base_bound_anew, bound_anew_in_a_branch, from_the_trip_before, view_of_a_view, row_of_rows, kept_in_a_list,
            given_back, written_through, turned)  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("n", [0, 1, 4])
def test_a_view_refers_to_what_its_base_was(f, n):
    x = RNG.random(6) + 0.5
    both(f, "c", x, n)
    assert np.allclose(tx.jit(f, jit="c")(x, n), f(x, n), rtol=1e-13, atol=0)  # nothing is recorded, nor kept by that


def test_views_of_a_stencil_are_not_counted():
    def step(u, n):
        for _ in range(n):
            u[1:-1] = 0.5 * (u[2:] + u[:-2])
        return np.sum(u * u)

    text = tx.grad(step, jit="c").source_for(np.ones(5), 2)
    function = text[text.index("static __attribute__((noinline)) int64_t step_grad", text.index("step_grad") + 40) :]
    assert "release(" not in function[: function.index("\nout:")]
