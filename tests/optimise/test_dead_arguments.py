"""Parameters that nobody reads, and those that never differ, leave the signature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.testing import check_grads
from tests.optimise.test_dce import gradient, text

PASSES = ("dead", "slots", "signatures")


def scaled(x, factor, spare):
    y = x * factor
    for _ in range(3):
        y = y * x + spare * 0.0
    return y


def one_factor(x):
    return scaled(x, 2.0, 1.0) + scaled(x * x, 2.0, 1.0)


def two_factors(x):
    return scaled(x, 2.0, 1.0) + scaled(x, 3.0, 1.0)


def test_a_constant_of_every_call_is_bound_in_the_callee() -> None:
    found = text(one_factor, (1.5,), PASSES)
    assert "factor = 2.0" in found
    assert "2.0" not in found[found.index("scaled_forward(") :].split("\n")[0]


def test_what_differs_stays_a_parameter() -> None:
    found = text(two_factors, (1.5,), PASSES)
    assert "factor = " not in found.replace("factor = saved", "")
    assert "spare = 1.0" in found


def test_the_gradient_stays() -> None:
    assert gradient(one_factor, (1.5,), ()) == pytest.approx(8 * 1.5**3 + 16 * 1.5**7)
    assert gradient(two_factors, (1.5,), ()) == pytest.approx(20 * 1.5**3)


def pulled(t, y, mu):
    return np.array([y[1], mu * y[0] - y[1]])


def unforced(x):
    t, y = x, np.array([x, 1.0])
    for _ in range(3):
        y = y + 0.1 * pulled(t, y, x)
        t = t + 0.1 * y[0]
    return y[0] * t


def test_what_a_callee_gives_whatever_happens_is_known_to_its_callers() -> None:
    gradient: Any = tx.grad(unforced, fallback="error")
    with pipeline.proofs(off="signatures"):
        assert "pulled_t_bar" in gradient.source_for(1.5)
    found = gradient.source_for(1.5)
    assert "return mu_bar" in found and "pulled_t_bar" not in found
    check_grads(unforced, (1.5,), order=2)
