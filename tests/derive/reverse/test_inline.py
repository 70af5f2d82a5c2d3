"""Callees of one expression are written in the place of their calls; all others stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.optimise.support import differences

SCALE = 0.5


def cdf(x):
    return 1.0 / (1.0 + np.exp(-1.5976 * x - 0.070565 * x * x * x))


def first(A):
    return A[0] * SCALE


def fill(A, x):
    A[0] = x
    return x * x


def choose(x):
    if x > 0.1:
        return x * x
    return x


def twice(x, n):
    return cdf(x) * cdf(2.0 * x)


def often(x, n):
    return cdf(x) + cdf(2.0 * x) + cdf(3.0 * x)


def rebinding(x, n):
    for _ in range(n):
        x = cdf(x) + x
    return x


def of_memory(x, n):
    A = np.zeros(2)
    A[0] = x
    before = first(A)
    A[0] = x * x
    return before * first(A)


def with_effects(x, n):
    A = np.zeros(2)
    y = fill(A, x)
    return choose(y) * A[0]


def functions(f: Any) -> str:
    text = tx.grad(f).source_for(0.3, 2)
    return " ".join(line for line in text.splitlines() if line.startswith("def "))


def test_one_expression_called_in_two_places() -> None:
    assert "cdf" not in functions(twice)
    assert "cdf" not in functions(rebinding)
    assert "first" not in functions(of_memory)


def test_one_that_is_long_and_called_often_stays() -> None:
    assert "cdf_backward" in functions(often)


def test_one_that_writes_or_branches_stays() -> None:
    found = functions(with_effects)
    assert "fill_forward" in found and "choose_backward" in found


@pytest.mark.parametrize("off", [(), "inline", "all"])
@pytest.mark.parametrize("f", [twice, often, rebinding, of_memory, with_effects])
def test_gradients_agree_with_differences(f: Any, off: Any) -> None:
    with pipeline.proofs(off=off):
        assert np.isclose(tx.grad(f)(0.3, 2), differences(f, (0.3, 2)), rtol=1e-6)
        second = tx.grad(tx.grad(f))(0.3, 2)
    assert np.isclose(second, differences(lambda x, n: tx.grad(f)(x, n), (0.3, 2)), rtol=1e-5)
