"""The first contribution binds a cotangent where nothing else has mentioned it, and results share no memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.derive.made import ALL, reverse_text
from tests.optimise.support import differences

X, Y = np.array([0.3, -0.7, 1.2]), np.array([1.1, 0.4, -0.6])


def chain(x):
    y = np.sin(x)
    return np.sum(y * y * x)


def also_in_a_branch(x):
    y = np.sin(x)
    total = np.sum(y * 3.0)
    if x[0] > 0.0:
        total = total + np.sum(y * x)
    return total


def in_one_of_two_branches(x):
    y = np.sin(x)
    return np.sum(y) if x[0] > 1.0 else np.sum(x * 2.0)


def carried(x):
    last = x
    total = 0.0
    for k in range(3):
        last = x * (k + 1.0)
        total = total + np.sum(last * last)
    return total + np.sum(last)


def written(x):
    y = x + 1.0
    y[1] = 2.0 * x[0]
    z = y * x
    y *= z
    return np.sum(y) + np.sum(z)


def summed_rows(x):
    table = x[:, None] * np.ones((3, 2))
    return np.sum(table + x[:, None])


PROGRAMS = (chain, also_in_a_branch, in_one_of_two_branches, carried, written, summed_rows)


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients_are_those_without_the_proof(f: Callable[..., Any]) -> None:
    found = tx.grad(f)(X)
    assert np.allclose(found, differences(f, (X,)), rtol=1e-6, atol=1e-8)
    second = tx.hessian(f)(X)
    with pipeline.proofs(off="first"):
        assert np.allclose(tx.grad(f)(X), found, rtol=1e-13, atol=1e-15)
        assert np.allclose(tx.hessian(f)(X), second, rtol=1e-12, atol=1e-13)


def test_no_zero_is_made_where_a_contribution_binds() -> None:
    plain, proved = reverse_text(chain, X), reverse_text(chain, X, off=ALL - {"first"})
    assert plain.count("real_zero(") == 4  # of x, y, and the two products
    assert proved.count("real_zero(") == 1  # of x, which is given back
    assert "y_bar = unbroadcast(" in proved or "y_bar = alike(" in proved


@pytest.mark.parametrize("f", [also_in_a_branch, in_one_of_two_branches])
def test_a_cotangent_that_a_branch_adds_to_begins_as_a_zero(f: Callable[..., Any]) -> None:
    assert "y_bar = real_zero(y)" in reverse_text(f, X, off=ALL - {"first"})


def test_results_share_no_memory() -> None:
    def both(x, y):
        return np.sum((x + y) * 2.0)

    def kept(x, y):
        def plus(a, b):
            return a + b

        return np.sum(plus(x, y))

    for f in (both, kept):
        first, second = tx.grad(f, wrt=(0, 1))(X, Y)
        assert not np.shares_memory(first, second)
    seed = np.ones(3)
    _, pullback = tx.vjp(lambda x, y: (x + y) + y, X, Y)
    first, second = pullback(seed)
    assert not any(np.shares_memory(a, b) for a, b in ((first, second), (first, seed), (second, seed)))
