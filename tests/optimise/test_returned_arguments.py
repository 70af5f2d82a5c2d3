"""An argument stands for what a callee gives back only where the callee always gives back that argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.testing import check_grads

x = np.array([0.4, 1.3, 0.8])
y = np.array([1.1, 0.2, 0.5])


def step(u, c):
    u[1:] -= c[1:] * u[:-1]
    return u


def scaled(rows, c):
    rows["a"] = rows["a"] * c
    return rows


def into_itself(u, c):
    u = u.copy()
    for _ in range(3):
        u = step(u, c)
    return np.sum(u * u)


def into_another(u, c):
    first = u * c
    second = step(first, c)
    second[0] = c[1]
    return np.sum(first * second)


def in_turns(u, c):
    a, b = u * 1.0, c * 1.0
    for _ in range(3):
        a, b = step(b, c), a
    return np.sum(a * np.sin(b))


def of_a_container(u, c):
    rows = {"a": u * 1.0}
    for _ in range(2):
        rows = scaled(rows, c)
    return np.sum(rows["a"] ** 2)


def in_an_expression(u, c):
    w = u * 1.0
    return np.sum(step(w, c) * c) + np.sum(np.sin(w))


ALWAYS = [into_itself, into_another, in_turns, of_a_container, in_an_expression]


def on_one_way(u, c):
    if c[0] > 5.0:
        return u * c
    u[0] = c[1]
    return u


def one_of_two(u, c):
    u[0] = c[0] * 2.0
    return u if c[1] > 0.1 else c


def bound_anew(u, c):
    u[0] = c[2]
    u = u * c
    return u


def a_view(u, c):
    u[0] = c[0]
    return u[:]


def by(helper: Any) -> Any:
    def f(u, c):
        w = u * 1.0
        total = 0.0
        for _ in range(2):
            w = helper(w, c)
            total = total + np.sum(np.sin(w) * c)
        return total

    f.__name__ = f.__qualname__ = f"by_{helper.__name__}"
    return f


SOMETIMES = [by(on_one_way), by(one_of_two), by(bound_anew), by(a_view)]


@pytest.mark.share(1)
@pytest.mark.parametrize("f", [*ALWAYS, *SOMETIMES], ids=lambda f: f.__name__)
@pytest.mark.parametrize("off", [(), "given"], ids=["on", "off"])
def test_derivatives_are_right(f: Any, off: Any) -> None:
    with pipeline.proofs(off):
        check_grads(f, (x, y), order=2)


def test_nothing_is_recorded_of_an_array_that_comes_back() -> None:
    assert "u__bar_tape" not in tx.grad(into_itself).source_for(x, y)
    with pipeline.proofs("given"):
        assert "u__bar_tape" in tx.grad(into_itself).source_for(x, y)
