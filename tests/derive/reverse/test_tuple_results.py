"""Results that are tuples of numbers or arrays: taken apart where every caller does, and shared otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.derive.reverse.tuple_results import find
from tests.analysis.made import analysed
from tests.optimise.support import differences


def turn(x, y):
    u = 0.6 * x - 0.8 * y
    v = 0.8 * x + 0.6 * y * y
    return u, v


def unpacked(x, n):
    y = 1.0
    for _ in range(n):
        x, y = turn(x, y)
    return x * y


def kept(x, n):
    pairs = []
    for k in range(n):
        pairs.append(turn(x, k * 0.1))
    return pairs[0][0] * pairs[n - 1][1]


def either(x, y):
    if x > y:
        return x * y, x
    return x - y, y * y


def in_two_ways(x, n):
    a, b = either(x, 0.5)
    c, d = either(b, a)
    return a * b + c * d


def same_twice(x):
    return x, x


def doubled(x, n):
    a, b = same_twice(x * x)
    return a * b


def passed_on(x, n):
    return turn(x, 1.0)


def through(x, n):
    a, b = passed_on(x, n)
    return a * b


ALL = (unpacked, kept, in_two_ways, doubled, through)


def cell(w, h, c):
    c = c * w + np.tanh(h)
    return np.sin(c) * h, c


def steps(x, n):
    h, c = np.ones(3) * x, np.arange(3.0)
    for _ in range(n):
        h, c = cell(x, h, c)
    return np.sum(h * c)


def one_alone(x, n):
    h, _ = cell(x, np.ones(3) * x, np.arange(3.0))
    return np.sum(h**n)


def in_branches(x, n):
    h = c = np.ones(2) * x
    for k in range(n):
        if k == 1:
            h, c = cell(x, c, h)
        else:
            c = h * x
    return np.sum(h * c)


def formed(x, n):
    a, b = swapped(x * np.ones(2), np.arange(2.0))
    return np.sum(a * a * b) * n


def swapped(u, v):
    u, v = v * 2.0, u
    return v, u


def read_twice(x, n):
    r = cell(x, np.ones(3) * x, np.arange(3.0))
    return np.sum(r[0] * n) + np.sum(r[0] * r[1])


def read_late(x, n):
    r = cell(x, np.ones(3) * x, np.arange(3.0))
    total = 0.0
    for _ in range(n):
        total = total + np.sum(r[1])
    return total


def written_later(x, n):
    h, c = cell(x, np.ones(3) * x, np.arange(3.0))
    h[0] = c[1] * n
    return np.sum(h * c)


OF_ARRAYS = (steps, one_alone, in_branches, formed)
SHARED = (read_twice, read_late, written_later)


def taken_apart(f: Any) -> set[str]:
    program, _ = analysed(f, 0.7, 3)
    return {link.name for link in find(program).modes}


def test_which_results_are_taken_apart() -> None:
    assert taken_apart(unpacked) == {"turn"}
    assert taken_apart(in_two_ways) == {"either"}
    assert taken_apart(doubled) == {"same_twice"}
    assert taken_apart(kept) == set()
    assert taken_apart(through) == set()


@pytest.mark.parametrize("f", OF_ARRAYS)
def test_arrays_that_are_read_at_once_are_taken_apart(f: Any) -> None:
    assert taken_apart(f) == {"swapped" if f is formed else "cell"}


@pytest.mark.parametrize("f", SHARED)
def test_arrays_that_are_read_otherwise_are_not(f: Any) -> None:
    assert taken_apart(f) == set()


def test_cotangents_are_parameters_of_their_own() -> None:
    text = tx.grad(unpacked).source_for(0.7, 3)
    assert "def turn_backward(y, u_bar, v_bar)" in text
    with pipeline.proofs(off="results"):
        assert "u_bar, v_bar)" not in tx.grad(unpacked).source_for(0.7, 3)


@pytest.mark.share(5)
@pytest.mark.parametrize("off", [(), "results", "all"])
@pytest.mark.parametrize("f", [*ALL, *OF_ARRAYS, *SHARED])
def test_gradients_agree_with_differences(f: Any, off: Any) -> None:
    with pipeline.proofs(off=off):
        assert np.isclose(tx.grad(f)(0.7, 3), differences(f, (0.7, 3)), rtol=1e-6)
        second = tx.grad(tx.grad(f))(0.7, 3)
    assert np.isclose(second, differences(lambda x, n: tx.grad(f)(x, n), (0.7, 3)), rtol=1e-5)
