"""What was computed is used again, unless something it was computed from has changed."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import tangentx as tx
from tangentx import arrays
from tangentx.optimise import cse
from tests.optimise.support import WAYS, differences, gradient, operations, unit_of


def decay(x, sigma):
    return np.sum(x * np.exp(sigma * x) * np.cos(sigma * x))


def stepped(x, n):
    v = x
    for _ in range(n):
        v = v + 0.1 * np.sin(v) * np.cos(v)
    return v


def twins(x, y):
    a = x * y
    b = x * y
    return a, b


def written(x, n):
    A = np.zeros(3)
    A[0] = x
    first = np.sum(np.exp(A))
    A[1] = x * x
    return first * np.sum(np.exp(A))


def test_two_results_that_are_equal_are_two_arrays() -> None:
    program, unit = unit_of(twins, np.ones(3), np.ones(3), reverse=True)
    cse.run(program, [unit])
    assert operations(unit) == [operator.mul, arrays.clone]


def test_a_product_of_the_forward_sweep_is_used_again() -> None:
    text = "\n".join(line for line in tx.grad(decay).source_for(np.ones(3), 0.2).splitlines() if "#" not in line)
    assert text.count("np.exp(") == 1
    assert text.count("np.cos(") == 1


@pytest.mark.parametrize("off", WAYS)
def test_gradients_agree_with_differences(off) -> None:
    x = np.array([0.3, 0.4])
    assert np.allclose(gradient(decay, (x, 0.2), off), differences(decay, (x, 0.2)), rtol=1e-6)
    for f in (stepped, written):
        assert np.isclose(gradient(f, (0.3, 2), off), differences(f, (0.3, 2)), rtol=1e-6)


def test_an_expression_of_a_name_that_is_bound_anew_is_computed_again() -> None:
    text = tx.grad(stepped).source_for(0.3, 2)
    assert "np.sin(v)" in text[text.index("reverse sweep") :]
