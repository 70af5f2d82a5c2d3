"""Constants stand in the tuples that a function with several exits saves."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline


def norm_or_sum(x):
    """Two exits, each with names of its own."""
    square = x @ x
    if square < 1.0:
        total = x[0] + x[1]
        return total * total
    length = math.sqrt(square)
    scale = 1.0 / length
    return scale * x[0] * length * scale


def twice(x):
    return norm_or_sum(x) + norm_or_sum(3.0 * x)


def wandering(x, n):
    """What is saved at the end is unbound on one way alone, and a number of the loop's on the other."""
    turn = 0
    for k in range(n):
        if x[k] < 0.0:
            turn = k
            low = x[k] * x[k]
    if n > 1:
        return x[turn] * x[0]
    return low * x[turn]


def saved(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip().startswith(("saved = ", "return "))]


def test_the_places_of_names_without_a_value() -> None:
    text = tx.grad(twice).source_for(np.ones(2))
    assert " = None" not in text and "exit_code = " not in text
    assert any("None" in line and "1" in line for line in saved(text))
    with pipeline.proofs(off="constants"):
        assert " = None" in tx.grad(twice).source_for(np.ones(2))


@pytest.mark.parametrize("x", [np.array([0.1, 0.2]), np.array([0.5, 0.6]), np.array([2.0, 1.0])])
def test_both_exits_are_right(x: np.ndarray) -> None:
    steps = 1e-6 * np.eye(2)
    wanted = [(twice(x + s) - twice(x - s)) / 2e-6 for s in steps]
    assert np.allclose(tx.grad(twice)(x), wanted, rtol=1e-6)


def calling(x, n):
    return wandering(x, n) * 2.0


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("x", [np.array([-1.5, 2.0, -0.5]), np.array([-1.5, -2.0, 0.5])])
def test_a_name_that_is_bound_on_one_way_is_no_constant(x: np.ndarray, n: int) -> None:
    steps = 1e-6 * np.eye(3)
    wanted = [(calling(x + s, n) - calling(x - s, n)) / 2e-6 for s in steps]
    assert np.allclose(tx.grad(calling)(x, n), wanted, rtol=1e-6)
