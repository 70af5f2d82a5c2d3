"""Sums over trips, added up in place where the array is the function's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.optimise.support import differences

W, X = np.linspace(0.1, 0.6, 6).reshape(2, 3), np.linspace(0.5, 1.5, 6).reshape(2, 3)


def recurrent(w, x):
    h = x
    for _ in range(3):
        h = np.tanh(h * w + w)
    return np.sum(h * h)


def by_rows(b, x):
    total = 0.0
    for k in range(3):
        total = total + np.sum(np.exp(x * b - k * b))
    return total


def now_and_then(w, x):
    total = 0.0
    for k in range(4):
        if k % 2:
            total = total + np.sum(np.sin(w) * x * k)
        else:
            total = total - np.sum(w * w)
    return total


def products(w, x):
    y = x
    for _ in range(3):
        y = np.tanh(np.concatenate([y, x], axis=0)[:2] @ w.T @ w)
    return np.sum(y)


IN_PLACE = [(recurrent, W), (by_rows, np.ones(3)), (now_and_then, W)]


@pytest.mark.parametrize(("f", "w"), [*IN_PLACE, (products, W)])
def test_gradients_agree_with_differences(f: Any, w: Any) -> None:
    before = w.copy()
    for off in ((), "totals"):
        with pipeline.proofs(off=off):
            gradient = tx.grad(f)
            assert np.allclose(gradient(w, X), differences(lambda w: f(w, X), (w,)), rtol=1e-6)
            assert ("bar += " in gradient.source) is (off == () and f is not products)
    first, second = gradient(w, X), gradient(w, X)
    assert np.array_equal(first, second) and not np.shares_memory(first, second) and np.array_equal(w, before)


def test_what_is_given_back_is_no_argument() -> None:
    w = W.copy()
    found = tx.grad(recurrent, wrt=(0, 1))(w, X)
    found[0][...] = 9.0
    assert np.array_equal(w, W)


def test_a_sum_that_grows_in_shape_is_made_anew() -> None:
    def f(b, x):
        y = b
        for k in range(2):
            y = y * x[k : k + 1]
        return np.sum(y)

    for b in (np.ones(3), np.ones((1, 3)), np.ones((2, 1))):
        assert np.allclose(tx.grad(f)(b, X), differences(lambda b: f(b, X), (b,)), rtol=1e-6)


def test_arrays_of_length_one_come_after_others() -> None:
    """What a store shows of lengths rests on axes that are not of length one, too."""

    def f(u, w):
        v = u.copy()
        for i in range(1, len(u) - 1):
            v[i - 1 : len(u) - i] = u[: len(w)] * 0.5
        return np.sum(v * v)

    gradient = tx.grad(f)
    for n, m in ((0, 0), (3, 2), (3, 1), (4, 1), (2, 0)):
        u = np.linspace(0.1, 0.9, n)
        assert np.allclose(gradient(u, np.ones(m)), differences(lambda u, m=m: f(u, np.ones(m)), (u,)), rtol=1e-6)
