"""Loops of which only sums come out, there and back trip by trip; and those that have to stay two."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.optimise.support import differences

W, X = np.linspace(0.2, 0.6, 3), np.linspace(-0.5, 1.5, 12).reshape(4, 3)


def squares(w, x):
    total = 0.0
    for row in x:
        total += np.tanh(row @ w) ** 2
    return total


def of_its_own_array(w, x):
    total = 0.0
    for k in range(len(x)):
        u = np.zeros(3)
        for j in range(3):
            u[j] = np.sin(x[k, j] * w[j])
        u[1:] += u[:-1] ** 2
        total += np.sum(u * u)
    return total


def branching(w, x):
    total = 0.0
    for row in x:
        z = row @ w
        if z > 0.3:
            total += np.sqrt(z)
        else:
            total -= np.exp(z) * w[0]
    return total


def two_sums(w, x):
    one = two = 0.0
    for row in x:
        one += np.sin(row @ w)
    for row in x:
        two += np.cos(row @ w)
    return one + 2.0 * two


def pairs(w, x):
    total = 0.0
    for a in x:
        for b in x:
            total += np.exp(-np.sum((a - b) ** 2 * w))
    return total


JOINED = (squares, of_its_own_array, branching, two_sums, pairs)


def of_the_sum(w, x):
    total = 0.0
    for row in x:
        total += np.sin(row @ w)
    return total * total


def carried(w, x):
    h = 0.0
    for row in x:
        h = np.tanh(row @ w + h)
    return h


def written_outside(w, x):
    y = np.zeros(len(x))
    for k in range(len(x)):
        y[k] = np.sin(x[k] @ w)
    return np.sum(y * y)


def in_place(w, x):
    total = 0.0
    for k in range(1, len(x)):
        x[k] = x[k] * w + x[k - 1]
        total += np.sum(np.sin(x[k]))
    return total


def decaying(w, x):
    total = 0.0
    for row in x:
        total = 0.9 * total + np.sin(row @ w)
    return total


def from_a_list(w, x):
    weights, total = [w, 2.0 * w], 0.0
    for k in range(len(x)):
        total += np.sum(np.sin(weights[k % 2] * x[k]))
        weights[k % 2] = weights[k % 2] * 0.9
    return total


def bound_anew_in_some_trips(w, x):
    h, total = w[1] * 1.5, 0.0
    for k in range(len(x)):
        if k < 2:
            total += np.exp(h) * x[k, 1]
            h = 0.25
    return total


def exchanged(w, x):
    a, b, total = w[0], w[1], 0.0
    for k in range(len(x)):
        total += k * a + np.tanh(x[k] @ w) ** 2
        a, b = b, a
    return total


def exchanged_once(w, x):
    a, b, total = w[0], w[1], 0.0
    for k in range(len(x)):
        total += k * a + np.tanh(x[k] @ w) ** 2
        if k == 1:
            a, b = b, a
    return total


def exchanged_further_in(w, x):
    a, b, total = w[0], w[1], 0.0
    for k in range(len(x)):
        for j in range(3):
            total += k * j * a + np.tanh(x[k, j] * w[j]) ** 2
            a, b = b, a
    return total


EXCHANGED = (exchanged, exchanged_once, exchanged_further_in)
APART = (of_the_sum, carried, written_outside, in_place, decaying, from_a_list, bound_anew_in_some_trips, *EXCHANGED)


@pytest.mark.share(1)
@pytest.mark.parametrize("f", [*JOINED, *APART])
def test_gradients_agree_with_those_of_two_loops_and_with_differences(f: Any) -> None:
    args = W.copy(), X.copy()
    value, found = tx.value_and_grad(f, wrt=("w", "x"))(*args)
    assert np.array_equal(args[0], W) and np.array_equal(args[1], X)
    assert value == f(W.copy(), X.copy())
    text = tx.grad(f, wrt=("w", "x")).source_for(*args)
    assert ("# -- reverse" in text) is (f in JOINED)
    with pipeline.proofs(off="fusion"):
        wanted = tx.grad(f, wrt=("w", "x"))(*args)
        assert "# -- reverse" not in tx.grad(f, wrt=("w", "x")).source_for(*args)
    for a, b in zip(found, wanted, strict=True):
        assert np.allclose(a, b, rtol=1e-12, atol=1e-15)
    assert np.allclose(found[0], differences(lambda w: f(w, X.copy()), (W,)), rtol=1e-6, atol=1e-8)
    with tx.checked():
        assert np.allclose(tx.grad(f, wrt="w")(*args), found[0], rtol=1e-12, atol=1e-15)


def test_nothing_is_recorded() -> None:
    def peak(count: int) -> int:
        x = np.ones((count, 3))
        for _ in range(3):
            gradient(W, x)
        tracemalloc.start()
        gradient(W, x)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    gradient = tx.grad(of_its_own_array, wrt="w")
    assert peak(400) < peak(20) + 2000


def test_a_pullback_has_two_functions_and_may_be_called_again() -> None:
    value, pullback = tx.vjp(squares, W, X)
    assert value == squares(W, X)
    first, second = pullback(1.0), pullback(1.0)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_no_trip_and_second_derivatives() -> None:
    assert np.array_equal(tx.grad(squares)(W, X[:0]), np.zeros(3))
    assert np.allclose(tx.hessian(squares)(W, X), tx.hessian(lambda w, x: np.sum(np.tanh(x @ w) ** 2))(W, X))


def test_what_a_program_does_to_others_is_done_in_its_order() -> None:
    seen: list[int] = []

    def told(w, x):
        total = 0.0
        for k in range(len(x)):
            seen.append(k)
            total += np.sin(x[k] @ w)
        return total

    assert np.allclose(tx.grad(told)(W, X), tx.grad(lambda w, x: np.sum(np.sin(x @ w)))(W, X))
    assert seen == [0, 1, 2, 3]
