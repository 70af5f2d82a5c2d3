"""One derivative for calls with arguments of other lengths, first with axes of length one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tangentx as tx


def of_products(x, y):
    m = x[:, None] * y
    m[1:] = m[1:] + m[:-1] * x[1:, None]
    return np.sum(m * m)


def of_a_place(x, y):
    u = x.copy()
    for _ in range(3):
        t = u * y
        u[...] = t + np.sin(t)
    return np.sum(u)


def of_some_trips(x, y):
    u, s = x.copy(), 0.0
    for k in range(4):
        w = y * u[:1] * k
        s = s + np.sum(w * w)
        if k == 2:
            break
        u[...] = w + u
    return s + np.sum(u * y[:1])


def of_one_branch(x, y):
    u, s = x.copy(), 0.0
    for k in range(4):
        t = u * 1.0
        w = np.cos(y) * t[:1]
        if k % 2 == 0:
            u[...] = w + t
        else:
            s = s + np.sum(w * w)
    return s + np.sum(u)


def of_what_grows(x, y):
    total = np.zeros(1)
    for k in range(3):
        total = total * x[:1] + np.sin(total)
        total = total + y * k
    return np.sum(total * total)


def of_two_that_take_turns(x, y):
    for _ in range(3):
        x, y = y * x[:1], x * 1.0
    return np.sum(x * x) + np.sum(y)


PROGRAMS = [of_products, of_a_place, of_some_trips, of_one_branch, of_what_grows, of_two_that_take_turns]


def _slope(f: Any, x: Any, y: Any, x_dot: Any, y_dot: Any) -> Any:
    h = 1e-6
    return (f(x + h * x_dot, y + h * y_dot) - f(x - h * x_dot, y - h * y_dot)) / (2 * h)


@pytest.mark.parametrize("f", PROGRAMS)
def test_of_all_lengths(f: Any) -> None:
    """The caches are those of earlier calls with other lengths: what was proved of those may not be used for these."""
    draw = np.random.default_rng(0)
    for n, m in itertools.product((1, 2, 3, 0), repeat=2):
        x, y, x_dot, y_dot = (draw.uniform(0.5, 1.5, size=k) for k in (n, m, n, m))
        try:
            f(x, y)
        except ValueError:
            continue  # these cannot be broadcast
        wanted = _slope(f, x, y, x_dot, y_dot)
        x_bar, y_bar = tx.grad(f, wrt=("x", "y"))(x, y)
        assert x_bar.shape == x.shape and y_bar.shape == y.shape
        assert np.isclose(np.sum(x_bar * x_dot) + np.sum(y_bar * y_dot), wanted, rtol=1e-5, atol=1e-7)
        assert np.isclose(tx.jvp(f, (x, y), (x_dot, y_dot))[1], wanted, rtol=1e-5, atol=1e-7)
