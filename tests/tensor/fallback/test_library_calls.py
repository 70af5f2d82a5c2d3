"""Calls in a program that runs on Tensors: `tx.checkpoint`, what writes into its argument, second derivatives."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import tangentx as tx
from tests.tensor.fallback.test_introspection import _on_tensors  # noqa: F401

X = np.array([0.3, 0.7, 1.2])
pytestmark = pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")

# ---- what is checkpointed has the derivative that it has without, or is refused ----
BLOCKS: list[Callable[[Any], Any]] = [
    lambda a: a[1],
    lambda a: a[1] * 2.0,
    lambda a: float(a[1] * 2.0),
    lambda a: a[1].item(),
    lambda a: min(a[0], a[1]),
    lambda a: max(a),
    lambda a: sum(v * v for v in a),
    lambda a: math.sin(a[1]) * math.hypot(*a),
    lambda a: special.gammaln(a[1]),
    lambda a: np.where(a > 0.0, a, 0.0)[1],
    lambda a: np.interp(a[1], [0.0, 1.0, 2.0], [1.0, 3.0, 0.0]),
    lambda a: operator.add(a[0], a[1]),
    lambda a: {"x": a[1], "y": (a[0] * a[1],)}["y"][0],
    lambda a: np.array([a[0], a[1]])[1] + 0.25,
    lambda a: np.float64(a[1]) ** 2,
]


@pytest.mark.parametrize("block", BLOCKS)
def test_elements_and_numbers_made_of_them(block: Callable[[Any], Any]) -> None:
    wanted = [(block(X + e) - block(X - e)) / 2e-6 for e in np.eye(3) * 1e-6]
    found = tx.grad(lambda a: tx.checkpoint(block, a) * 1.5)(X)
    np.testing.assert_allclose(found, 1.5 * np.array(wanted), rtol=1e-6, atol=1e-9)


def test_several_results_of_which_one_is_a_constant() -> None:
    def block(a):
        return 3.0, [a[1] * a[0], np.ones(2)]

    def f(a):
        k, (product, ones) = tx.checkpoint(block, a)
        return k * product + np.sum(ones)

    np.testing.assert_allclose(tx.grad(f)(X), [2.1, 0.9, 0.0])


def test_a_value_that_loses_its_derivative_inside_is_refused() -> None:
    def block(a):
        return np.vectorize(lambda v: v * v)(a)[1]

    with pytest.raises(tx.NoTemplate, match="`np.vectorize` has no derivative rule") as caught:
        tx.grad(lambda a: tx.checkpoint(block, a))(X)
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


# ---- NumPy ----
def test_numbers_in_the_place_of_nan_are_written_where_they_stand() -> None:
    """By a function that is a composition too, which knows nothing of `copy`."""

    def f(a):
        total = np.sum(a)
        a[1] = np.nan
        np.nan_to_num(a, copy=False, nan=1.25)
        row = np.array([np.nan, 2.0])
        np.nan_to_num(row, copy=False)
        return total * np.sum(a) + row[0] + np.sum(np.nan_to_num([a[0], np.nan]))

    x = np.array([0.5, 0.75, 1.5])
    value, found = tx.value_and_grad(f)(x)
    assert value == f(x.copy())
    np.testing.assert_allclose(found, [3.25 + 2.75 + 1.0, 3.25, 3.25 + 2.75])


def test_a_diagonal_that_goes_on_in_a_tall_matrix() -> None:
    def f(a):
        b = np.zeros((5, 2)) * a[0]
        np.fill_diagonal(b, a[1], wrap=True)
        return np.sum(b * np.arange(1.0, 11.0).reshape(5, 2))

    np.testing.assert_allclose(tx.grad(f)(np.array([0.5, 0.75])), [0.0, 1.0 + 4.0 + 7.0 + 10.0])


def test_a_sum_of_products_of_one_operand_in_forward_mode() -> None:
    def f(a):
        return np.einsum("ii", np.einsum("ij,ik->jk", a, a))

    x = np.arange(6.0).reshape(3, 2)
    assert tx.jvp(f, (x,), (np.ones((3, 2)),)) == (55.0, 30.0)


def test_the_rank_of_a_system_is_of_the_type_that_numpy_gives() -> None:
    def f(a):
        _, _, rank, _ = np.linalg.lstsq(a, np.ones(3), rcond=None)
        return (a[0, 0] if rank.dtype == np.int32 else 0.0) * rank

    x = np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(tx.grad(f)(x), [[2.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
