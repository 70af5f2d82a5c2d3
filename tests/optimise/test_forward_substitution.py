"""Bindings stand beside their one reader, where nothing in between matters to them."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.optimise import forward_substitution
from tests.optimise.support import WAYS, differences, every, gradient, unit_of


def sums(x, A):
    t = A[0] * 2.0
    A[0] = x
    y = x * x
    return t + y


def apart(x, A):
    t = A[0] * 2.0
    y = x * x
    B = A * y
    return t + B[1]


def in_a_trip(x, n):
    v = x
    for k in range(n):
        old = v * v
        v = v + 0.1 * old
        v = v - 0.01 * old * k
    return v


def targets(f, *values):
    program, unit = unit_of(f, *values, reverse=True)
    forward_substitution.run(program, [unit])
    return [getattr(s, "target", type(s).__name__) for s in every(unit)]


def test_a_read_of_memory_stays_before_the_write() -> None:
    found = targets(sums, 1.0, np.ones(2))
    assert found.index("Store") > min(i for i, name in enumerate(found) if name not in ("Store", "y"))
    assert found[found.index("Store") - 1].strip("%:") in ("t", "1")


def test_a_read_of_memory_that_nobody_writes_moves_to_its_reader() -> None:
    found = targets(apart, 1.0, np.ones(2))
    assert found.index("%:t") > found.index("%:y") or "%:B" in found[: found.index("%:t")]


@pytest.mark.parametrize("off", WAYS)
@pytest.mark.parametrize("f", [sums, apart])
def test_gradients_by_an_array_that_is_written(f, off) -> None:
    found = gradient(f, (0.7, np.array([0.3, 0.4])), off)
    assert np.isclose(found, differences(lambda x, A: f(x, A.copy()), (0.7, np.array([0.3, 0.4]))), rtol=1e-6)


@pytest.mark.parametrize("off", WAYS)
def test_gradients_of_a_loop(off) -> None:
    assert np.isclose(gradient(in_a_trip, (0.7, 3), off), differences(in_a_trip, (0.7, 3)), rtol=1e-6)


def edges(x, A):
    for _ in range(2):
        A[1:-1] += x * (A[2:] - A[:-2])
    return np.sum(A * A)


def opposite(x, y):
    n = y * x
    return x * -n + y * -n


def test_a_view_that_is_added_to_has_no_name() -> None:
    text = tx.grad(edges, wrt="A").source_for(0.7, np.ones(3))
    assert "A_bar[2:] += " in text


def windows(x, k, width):
    out = np.zeros(len(x) - width + 1)
    for i in range(len(out)):
        out[i] = np.sum(x[i : i + width] * k)
    return np.sum(out * out)


def quarters(x, n):
    return np.sum(np.sin(x[:n]) * x[n : 2 * n]) * np.sum(x[2 * n : 3 * n] ** 2 * np.cos(x[3 * n :]))


def in_place(x, c):
    y = [0.0] * (2 * len(x))
    for i in range(len(x)):
        for j in range(2):
            y[i + j] += x[i] * c
            c = c * x[j]
    return sum(v * v for v in y)


def test_sums_of_whole_numbers_are_said_where_they_are_read() -> None:
    text = tx.grad(windows, wrt=("x", "k")).source_for(np.arange(5.0), np.ones(3), 3)
    assert "x_bar[i:i + width] += " in text and "plus" not in text
    text = tx.grad(quarters).source_for(np.arange(8.0), 2)
    assert "x_bar[2 * n:3 * n]" in text and "two_n" not in text


def test_a_place_that_is_added_to_is_said_once() -> None:
    text = tx.grad(in_place).source_for(np.arange(1.0, 4.0), 0.5)
    assert "y[i + j] += x[i] * c" in text


@pytest.mark.parametrize("off", WAYS)
def test_gradients_by_places_that_are_said_again(off) -> None:
    for f, args in ((quarters, (np.linspace(0.1, 0.8, 8), 2)), (in_place, (np.array([0.5, 0.7, 1.1]), 0.5))):
        assert np.allclose(gradient(f, args, off), differences(f, args), rtol=1e-6)
    args = np.linspace(0.2, 0.7, 5), np.array([0.3, 0.1, 0.6]), 3
    assert np.allclose(gradient(windows, args, off), differences(windows, args), rtol=1e-6)


def test_the_sign_of_a_number_is_said_again() -> None:
    text = tx.grad(lambda x, y: np.sin(x) * -y + np.cos(x) * -y, wrt=("x", "y")).source_for(0.3, 0.4)
    assert "= -y\n" not in text


@pytest.mark.parametrize("off", WAYS)
def test_gradients_through_views(off) -> None:
    found = gradient(edges, (0.7, np.array([0.3, 0.4, 0.5])), off)
    assert np.isclose(found, differences(lambda x, A: edges(x, A.copy()), (0.7, np.array([0.3, 0.4, 0.5]))), rtol=1e-6)
    assert np.isclose(gradient(opposite, (0.7, 0.3), off), differences(opposite, (0.7, 0.3)), rtol=1e-6)
