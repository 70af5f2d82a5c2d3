"""Contributions to one cotangent are one sum, unless something between them matters or the sum grows long."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.optimise.support import WAYS, differences, gradient


def three(x):
    a = np.sin(x)
    b = np.cos(x) * a
    return a * b + np.exp(x)


def written(x, A):
    y = x * A[0]
    A[0] = y * x
    return A[0] * y + x


def turned(x, c):
    y = x * x
    if c:
        y = y * x
    return y * x


def many(x):
    a = x * x
    b = np.sin(x)
    c = np.cos(x)
    d = np.exp(x)
    e = np.tanh(x)
    g = x * 0.5 * a
    h = np.log(x)
    return a * b * c * d * e * g * h


def lines(f, *values, off=()):
    with pipeline.proofs(off=off):
        text = tx.grad(f).source_for(*values)
    return [line.strip() for line in text.splitlines() if line.strip().startswith("x_bar = ")]


def test_contributions_to_a_cotangent_are_one_sum() -> None:
    assert len(lines(three, 0.5)) == 1
    assert len(lines(three, 0.5, off=("nest",))) > 1


def test_a_sum_stays_short() -> None:
    assert len(lines(many, 0.5)) == 2


def test_the_order_of_the_terms_stays() -> None:
    x = 0.8171
    with pipeline.proofs(off=("nest",)):
        apart = tx.grad(many)(x)
    assert tx.grad(many)(x) == apart


@pytest.mark.parametrize("off", WAYS)
@pytest.mark.parametrize(
    ("f", "values"),
    [(three, (0.7,)), (written, (0.7, np.array([0.3, 0.4]))), (turned, (0.7, True)), (many, (0.7,))],
)
def test_gradients_with_each_proof_off(f, values, off) -> None:
    def again(*given):
        return f(*(a.copy() if isinstance(a, np.ndarray) else a for a in given))

    assert np.isclose(gradient(f, values, off), differences(again, values), rtol=1e-6)


def quotient(x, z):
    a = math.sin(x) / (1.0 + z * z)
    return a * math.exp(-x)


def test_a_cotangent_that_is_one_product_stands_in_the_factor_that_others_share() -> None:
    text = tx.grad(quotient, wrt=("x", "z")).source_for(0.5, 0.7)
    assert "a_bar = " not in text and "* ans_bar / " in text
    with pipeline.proofs(off=("nest",)):
        assert "a_bar = " in tx.grad(quotient, wrt=("x", "z")).source_for(0.5, 0.7)
