"""Cotangents of what keeps the shape of an operand are taken as they are; all others are brought to its shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.optimise.support import WAYS, differences, gradient

A = np.array([0.4, 1.3, 0.7])


def rising(x, n):
    for _ in range(n):
        x = np.tanh(0.5 * x) + x * x
    return np.sum(x)


def with_a_row(x, n):
    x = x[x > 0.0]  # of one element, perhaps
    m = np.ones(6).reshape(2, -1)
    for _ in range(n):
        m = np.tanh(m) * np.sin(x) / 2.0
    return np.sum(m * m)


def gated(x, n):
    gate = lambda z: 1.0 / (1.0 + np.exp(-z))
    h = x
    for _ in range(n):
        h = gate(h) * np.tanh(2.0 * h) + gate(2.0 * h)
    return np.sum(h)


def in_a_helper(x, n):
    total = 0.0
    for k in range(n):
        total += np.sum(spread(x * k, n))
        x = spread(x, k)
    return total


def spread(x, k):
    y = np.exp(-x)
    if k > 1:
        y = 3.0 - y
    return y / 2.0


@pytest.mark.share(3)
@pytest.mark.parametrize("off", WAYS, ids=str)
@pytest.mark.parametrize("f", [rising, with_a_row, gated, in_a_helper])
def test_gradients_are_the_same(f: Any, off: Any) -> None:
    assert np.allclose(gradient(f, (A, 3), off), differences(f, (A, 3)), rtol=1e-6)


@pytest.mark.parametrize(("f", "needed"), [(with_a_row, True), (in_a_helper, False)])
def test_only_what_is_broadcast_is_summed_up(f: Any, needed: bool) -> None:
    with pipeline.proofs(off="fits"):
        general = tx.grad(f).source_for(A, 3)
    text = tx.grad(f).source_for(A, 3)
    assert text.count("unbroadcast(") < general.count("unbroadcast(")
    assert ("unbroadcast(" in text) == needed and "alike(" not in text


def mixed(x, y, n):
    for _ in range(n):
        x = np.tanh(0.5 * x)
        y = y * 2.0
    return np.sum(x) + np.sum(y)


def test_nothing_is_known_where_dtypes_may_differ() -> None:
    y = A.astype(np.float32)
    by_x, by_y = tx.grad(mixed, wrt=("x", "y"), fallback="error")(A, y, 2)
    assert (by_x.dtype, by_y.dtype) == (np.float64, np.float32)
    wanted = differences(mixed, (A, y, 2))
    assert np.allclose(by_x, wanted, rtol=1e-6)


def test_what_is_recorded_twice_is_recorded_once() -> None:
    text = tx.grad(gated).source_for(A, 3)
    records = [line.split("((")[1].rstrip(")").split(", ") for line in text.splitlines() if "tape.append((" in line]
    assert records and all(len(set(names)) == len(names) for names in records)
