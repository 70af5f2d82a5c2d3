"""Grids and joined rows by index."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx

RNG = np.random.default_rng(0)
X = RNG.random(3)


def square(n, x):
    return np.mgrid[0:n, 1:3] * x


def imaginary(n, x):
    return np.mgrid[-x:1:3j, 0:n]


def one(n, x):
    return np.mgrid[0:1:0.25] * x


def along(n, x):
    down, across = np.ogrid[0:n, 0:2:3j]
    return down * across * x


def joined(n, x):
    return np.r_[0, x, 1:n, X] * 2.0


def padded(n, x):
    return np.r_[[0] * 3, x, [x, 2.0, x * x], (1.0, 2.0), [x] * n]


def columns(n, x):
    return np.c_[X * x, np.c_[X, X], np.arange(n)]


def stacked(n, x):
    return np.r_[np.outer(X, X), x * np.ones((2, n))]


@pytest.mark.parametrize("f", [square, imaginary, one, along, joined, padded, columns, stacked])
def test_values_are_those_of_numpy(f) -> None:
    value, tangent = tx.jvp(lambda x: f(3, x), (0.7,), (1.0,), fallback="error")
    wanted = f(3, 0.7)
    assert value.dtype == wanted.dtype
    np.testing.assert_allclose(value, wanted, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(tangent, (f(3, 0.7 + 1e-6) - f(3, 0.7 - 1e-6)) / 2e-6, atol=1e-8)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.r_[x, np.ones((3, 1))]),
        lambda x: np.sum(np.c_[x, 1.0]),
        lambda x: np.sum(np.r_[x, np.float32(1.0), np.ones(2, "f4")]),
        lambda x: np.sum(np.ogrid[0:3, 1] * x),
    ],
)
def test_what_numpy_joins_in_a_way_of_its_own_is_refused(f) -> None:
    with pytest.raises(tx.UnsupportedSyntax, match="with this index"):
        tx.grad(f, fallback="error")(X)


def test_rows_of_an_open_grid_are_of_one_type() -> None:
    def f(x, n):
        a, b = np.ogrid[-1:1:4j, :3]
        c, d = np.ogrid[0:n, :3]
        e, g = np.ogrid[0.5:n, :3]
        whole = c.dtype == d.dtype == int
        real = a.dtype == b.dtype == e.dtype == g.dtype == float
        return np.sum(x * (a + b)) + np.sum(c // 2 * d + g * e) * x if whole and real else 0.0 * x

    assert tx.grad(f, fallback="error", check=True)(2.0, 4) == pytest.approx(f(3.0, 4) - f(2.0, 4))
