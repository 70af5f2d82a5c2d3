"""Ufuncs with `where` and `out` on Tensors: what is not asked for is not computed as far as anybody can tell."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx

X = np.array([[0.5, 1.0, 2.0], [3.0, -1.0, 4.0]])
M = np.array([[1, 0, 1], [1, 1, 0]], bool)
HOLES = np.array([0.5, 0.0, 2.0])


def quotient(x):
    out = np.zeros_like(x)
    np.divide(1.0, x, out=out, where=x != 0.0)
    return np.sum(out)


def logarithm(x):
    out = x * 1.0
    np.log(out, out=out, where=out > 0.0)
    return np.sum(out)


def growth(x):
    out = np.zeros_like(x)
    np.exp(x * 1000.0, out=out, where=x < 0.3)
    return np.sum(out)


@pytest.mark.parametrize(
    ("f", "wanted"), [(quotient, [-4.0, 0, -0.25]), (logarithm, [2.0, 1, 0.5]), (growth, [0, 1e3, 0])]
)
@pytest.mark.parametrize("state", ["warn", "raise"])
def test_elements_that_are_not_asked_for_raise_and_warn_of_nothing(f: Any, wanted: Any, state: Any) -> None:
    t = tx.tensor(HOLES, requires_grad=True)
    with warnings.catch_warnings(), np.errstate(all=state):
        warnings.simplefilter("error")
        f(t).backward()
    np.testing.assert_allclose(t.grad.numpy(), wanted)


def root(x):
    out = np.zeros_like(x)
    return np.sum(np.sqrt(-x, out=out, where=x > 0.0))


def test_elements_that_are_asked_for_raise_and_warn() -> None:
    t = tx.tensor(HOLES, requires_grad=True)
    with np.errstate(all="warn"), pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt"):
        root(t)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        root(t)


def sums(x):
    out = np.zeros_like(x[:, 0])
    np.add.reduce(x * x, 1, where=M, out=out)
    return out[0] * 2.0 + out[1]


def products(x):
    out = np.zeros_like(x[0])
    np.multiply.reduce(x, where=M, out=out)
    return np.sum(out * out)


def largest(x):
    out = np.zeros_like(x[0])
    np.maximum.reduce(x, 0, out=out, where=M, initial=0.0)
    return np.sum(out * out)


def both_parts(x):
    a, b = np.zeros_like(x), np.ones_like(x)
    np.divmod(x, 0.7, out=(a, b), where=M)
    return np.sum(a + b * b)


@pytest.mark.parametrize("f", [sums, products, largest, both_parts])
def test_of_a_reduction_it_says_which_elements_count(f: Callable[..., Any]) -> None:
    t = tx.tensor(X, requires_grad=True)
    value = f(t)
    value.backward()
    assert np.isclose(value.item(), f(X))
    wanted = [(f(X + e.reshape(X.shape)) - f(X - e.reshape(X.shape))) / 2e-6 for e in np.eye(X.size) * 1e-6]
    np.testing.assert_allclose(np.ravel(t.grad.numpy()), wanted, rtol=1e-6, atol=1e-6)
