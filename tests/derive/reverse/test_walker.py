"""The two sweeps of one function."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tests.analysis.made import in_order
from tests.derive.made import reverse_text, sweeps


def renamed(x):
    y = x * x
    return y


def several(x):
    if x > 0.0:
        return x * x
    return -x


def test_the_seed_is_named_after_the_returned_number() -> None:
    assert reverse_text(renamed, 2.0).startswith("function renamed_grad(x, y_bar=1.0):")


def test_statements_are_reversed_last_first_with_a_comment_each() -> None:
    def f(x):
        a = np.sin(x)
        b = np.exp(a)
        return b

    reverse = reverse_text(f, 2.0).partition("reverse sweep")[2]
    assert in_order(reverse, "b = np.exp(a)", "a_bar = add(a_bar", "a = np.sin(x)", "x_bar = add(x_bar")


def test_several_returns_are_numbered() -> None:
    assert sweeps(renamed, 2.0).code is None
    r = sweeps(several, 2.0)
    forward, reverse = r.sweeps()
    assert r.code == "exit_code" and r.exits == 2 and reverse
    with pipeline.proofs("all"):
        assert tx.grad(several)(3.0) == 6.0 and tx.grad(several)(-3.0) == -1.0


@pytest.mark.parametrize("x", [0.5, 2.0])
def test_a_name_bound_twice_in_a_loop_is_restored(x) -> None:
    def f(x, n):
        for _ in range(n):
            x = np.sin(x) * x
        return x

    step = 1e-6
    with pipeline.proofs("all"):
        assert tx.grad(f)(x, 3) == pytest.approx((f(x + step, 3) - f(x - step, 3)) / (2 * step), rel=1e-6)
