"""Shares in the larger or smaller of an array and a bound, told by a sign."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline

X = np.array([[1.5, -2.0, 0.0, 0.5], [-0.0, 0.25, -0.5, np.inf]])
FINITE = np.array([[1.5, -2.0, 0.0, 0.5], [-0.0, 0.25, -0.5, 3.0]])


def rectified(x):
    return np.sum(np.maximum(x, 0.0) * x)


def capped(x):
    return np.sum(np.sin(np.minimum(x, 0.5)))


def floored(x):
    return np.sum(np.maximum(x, -1) ** 2)


def in_a_loop(x):
    total = 0.0
    for _ in range(3):
        low = np.maximum(x, 0.25)
        total = total + np.sum(np.sqrt(low) * x)
        x = x - 0.5 * low
    return total


def helper(x, w):
    return np.maximum(x @ w, 0.0)


def network(x):
    return np.sum(helper(helper(x, np.ones((4, 3)) / 3.0), np.ones((3, 2))))


def selected(x):
    low = np.maximum(x, 0.0)
    low[np.isnan(x)] = 1.0
    return np.sum(low * low)


def by_an_array(x):
    return np.sum(np.maximum(x, 0.1 * x))


@pytest.mark.parametrize("f", [rectified, capped, floored, in_a_loop, network])
def test_gradients_with_signs_are_those_without(f: Any) -> None:
    with pipeline.proofs(off="shares"):
        wanted, plain = tx.grad(f)(FINITE), tx.grad(f).source_for(FINITE)
    gradient = tx.grad(f)
    assert np.array_equal(gradient(FINITE), wanted)
    assert "share(" in plain and "share(" not in gradient.source and "np.sign(" in gradient.source


@pytest.mark.parametrize("f", [capped, selected])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_found_by_the_general_rule(f: Any, value: float) -> None:
    x = X.copy()
    x[0, 1] = value
    with np.errstate(invalid="ignore"):  # the program warns of the sine of an infinity
        with pipeline.proofs(off=("shares", "unguarded")):
            wanted = tx.grad(f)(x)
        assert np.array_equal(tx.grad(f)(x), wanted, equal_nan=True)


def test_two_arrays_share_by_the_general_rule() -> None:
    assert "share(" in tx.grad(by_an_array).source_for(FINITE)


def test_derivatives_of_derivatives_are_those_of_the_general_rule() -> None:
    second = tx.grad(lambda x: np.sum(tx.grad(rectified)(x) ** 2))
    with pipeline.proofs(off="shares"):
        wanted = tx.grad(lambda x: np.sum(tx.grad(rectified)(x) ** 2))(FINITE)
    assert np.array_equal(second(FINITE), wanted)
