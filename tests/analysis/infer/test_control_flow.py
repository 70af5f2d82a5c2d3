"""Branches and loops."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.analysis.infer.control_flow import joined
from tangentx.analysis.infer.program import Definition
from tests.analysis import programs
from tests.analysis.made import text


def test_a_branch_that_kinds_decide_is_removed() -> None:
    assert "sin" not in text(programs.decided, 2.0, None)
    found = text(programs.decided, 2.0, 3.0)
    assert "sin" in found and "if" not in found.replace("np.", "")
    assert "sum" in text(programs.by_type, np.ones(2)) and "sum" not in text(programs.by_type, 1.0)


def test_a_branch_that_a_number_decides_stays() -> None:
    assert "if %" in text(programs.joined, 2.0, None)


def test_definitions_meet() -> None:
    a, b = Definition("x"), Definition("x")
    assert joined("x", [{"x": (a,)}, {"x": (b,)}]) == {"x": (a, b)}
    assert joined("x", [{"x": (a,)}, {}]) == {"x": (a, None)}
    assert joined("x", [{}, {"x": (a,)}, {"x": (b, a)}]) == {"x": (None, a, b)}
    assert joined("x", [{"x": (a,)}]) == {"x": (a,)}


class Worn:
    """Asking whether it holds wears it."""

    def __init__(self, v):
        self.v = v

    def __bool__(self):
        self.v = self.v * 0.9
        return self.v > 0.1


def test_what_the_truth_of_an_object_writes_has_a_part_in_the_derivative() -> None:
    def f(x):
        worn = Worn(x)
        r = x if worn else 1.0
        while worn:
            r = r + worn.v
        return r * worn.v

    value, slope = tx.value_and_grad(f, fallback="error")(0.3)
    assert value == pytest.approx(f(0.3), rel=1e-14)
    assert slope == pytest.approx((f(0.3 + 1e-4) - f(0.3 - 1e-4)) / 2e-4, rel=1e-7)


def test_part_of_an_array_in_one_branch_and_a_number_in_another_is_refused_by_what_it_is() -> None:
    def f(x):
        y = x * 2.0
        z = y[:2] if len(x) > 1 else 0.0
        return np.sum(y) + np.sum(z)

    def g(x):
        y = x * 2.0
        z = y[:2] if len(x) > 1 else np.zeros(1)
        return np.sum(y) + np.sum(z)

    with pytest.raises(tx.UnsupportedSyntax, match=r"shares memory with another in one branch, and a number"):
        tx.grad(f, fallback="error")(np.ones(3))
    np.testing.assert_allclose(tx.grad(g, fallback="error")(np.ones(3)), [4.0, 4.0, 2.0])  # as the remedy says
