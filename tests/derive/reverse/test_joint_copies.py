"""Derivatives of joint copies: what is one object in them, or shares memory, and what has no value yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx import arrays

BUFFER = np.zeros(4)
GRID = np.zeros((2, 2))
VIEWS = [GRID, GRID[0], GRID.T]
W = np.array([0.3, -0.2, 0.5, 0.7])
POINTS = [np.array([0.2, -1.3, 0.96, 0.78]), np.array([1.2, 1.3, 0.96, 0.78])]


def by_elements(a):
    BUFFER[:] = a
    total = a[0]
    for v in BUFFER:
        total = total + np.sin(v) * a[1]
    return total * BUFFER[1]


def in_a_branch(a):
    BUFFER[:] = a
    total = a[0]
    if a[0] > 1:
        for v in BUFFER:
            total = total + np.sin(v) * a[1]
    return total * BUFFER[1]


def in_a_dict(a):
    BUFFER[:] = a
    total = a[1] ** 3
    if a[0] > 1:
        total = sum({k: np.sin(v) * a[1] for k, v in enumerate(BUFFER)}.values())
    return total * BUFFER[1]


def of_views(a):
    VIEWS[1][:] = a[:2]
    VIEWS[2][:, 1] = a[2:] * VIEWS[1][0]
    if a[0] > 1:
        kept = [VIEWS[0] * 2, VIEWS[2], VIEWS[1]]
        total = kept[0][0] @ kept[2] + np.sum(kept[1] ** 3)
        kept[1][0] *= a[1]
    else:
        total = a[0] ** 2
    return total * VIEWS[0][0, 1]


def of_one_array_twice(a):
    u = a * 1.0
    u[1] = a[0] ** 2
    copies = arrays.entry_copy([u, u])
    copies[0][2] = a[1] * a[0]
    return np.sum(copies[0] ** 2 * copies[1])


def differences(f: Callable[..., Any], x: np.ndarray) -> np.ndarray:
    def along(step: np.ndarray) -> Any:
        return (f(x + step) - f(x - step)) / (2e-4)

    return np.array([(4 * 2 * along(d / 2) - along(d)) / 3 for d in np.eye(len(x)) * 1e-4])


def rarely(*values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.thorough)


CASES = [
    *((in_a_branch, POINTS[0]), (of_one_array_twice, POINTS[1])),
    *(rarely(f, point) for f in (by_elements, in_a_dict, of_views) for point in POINTS),
]


@pytest.mark.parametrize(("f", "point"), CASES)
def test_three_orders(f: Callable[..., Any], point: np.ndarray) -> None:
    first = tx.grad(f, fallback="error")
    second = tx.grad(lambda x: np.sum(first(x) * W), fallback="error")
    third = tx.grad(lambda x: np.sum(second(x) * W[::-1]), fallback="error")
    np.testing.assert_allclose(first(point), differences(f, point), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(second(point), differences(lambda x: first(x) @ W, point), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(third(point), differences(lambda x: second(x) @ W[::-1], point), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("f", [rarely(by_elements), rarely(of_views), of_one_array_twice])
def test_a_gradient_of_a_tangent(f: Callable[..., Any]) -> None:
    found = tx.grad(lambda x: tx.jvp(f, (x,), (W,))[1], fallback="error")(POINTS[1])
    slope = tx.grad(f)
    np.testing.assert_allclose(found, differences(lambda x: slope(x) @ W, POINTS[1]), rtol=1e-6, atol=1e-6)


def test_each_number_is_given_back_where_it_stands_first() -> None:
    u = np.arange(4.0)
    bar = [u, u, u[2:], {"n": 2.0, "same": u}, np.ones(2)]
    of_once, of_parts = arrays.once(bar), arrays.own_parts(bar, bar)
    assert str(of_once) == str(of_parts)
    given = [np.full(4, np.inf), np.full(4, np.nan), np.full(2, np.nan), {"n": 5.0, "same": np.full(4, np.nan)}, W[:2]]
    first, second, third, rest, last = arrays.own_parts(given, bar)
    assert np.isinf(first).all() and not second.any() and not third.any() and not rest["same"].any()
    assert rest["n"] == 5.0 and last.tolist() == [0.3, -0.2]
