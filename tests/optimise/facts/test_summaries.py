"""Lengths across calls: what all callers give, and what comes back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.testing import check_grads


def product(u, v):
    return u * v


def made(u, n):
    n = n + 1
    return np.ones(n) * u[:1]


def turned(u, v):
    u, v = v, u
    return u * 1.0


def by_sign(u, v):
    return u * v if np.sum(u) > 0 else u * 2.0


def again(u, v, k):
    return u * 1.0 if k == 0 else again(v * u, u, k - 1)


def of_unlike_calls(x, y, n):
    return np.sum(product(x, y) ** 2) + np.sum(product(y[:1], x)) + np.sum(product(x[:1], y[:1]))


def of_a_number(x, y, n):
    z = made(x, n)
    return np.sum(z * y * z)


def of_names_bound_anew(x, y, n):
    c = turned(x, y) * y + turned(y, x) * x
    return np.sum(c * c)


def of_branches(x, y, n):
    return sum(np.sum(by_sign(x - k, y) * x) + np.sum(by_sign(y, y - k) * y) for k in range(n))


def of_itself(x, y, n):
    z = again(x, y, n)
    return np.sum(z * x) + np.sum(z * y)


@pytest.mark.share(2)
@pytest.mark.parametrize("f", [of_unlike_calls, of_a_number, of_names_bound_anew, of_branches, of_itself])
@pytest.mark.parametrize("lengths", [(1, 1), (3, 1), (1, 3), (3, 3)])
def test_functions_called_with_arrays_of_all_lengths(f: Any, lengths: tuple[int, int]) -> None:
    draw = np.random.default_rng(1)
    x, y = (draw.uniform(0.5, 1.5, size=k) for k in lengths)
    check_grads(f, (x, y, 2), wrt=("x", "y"))


def step(u, rate):
    k = product(u, rate)
    return u + 0.5 * k


def stepped(u, rate, n):
    for _ in range(n):
        u = step(u, rate)
    return np.sum(u * u)


def test_what_is_said_of_arguments_holds_in_helpers() -> None:
    """No axis of `u` and `rate` has length one, so the cotangents of the helper's arguments need no sums."""
    gradient = tx.grad(stepped, wrt=("u", "rate"))
    text = gradient.source_for(np.ones(3), np.ones(3), 4)
    assert "rate_bar = u * k_bar" in text and "No axis of these arrays has length one" in text
    assert "rate_bar = np.sum(u * k_bar" in gradient.source_for(np.ones(3), np.ones(1), 4)
