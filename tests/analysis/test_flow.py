"""Branches and loops."""

from __future__ import annotations

import numpy as np

from tangentx.analysis.flow import merge
from tangentx.analysis.program import Definition
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
    assert merge({"x": (a,)}, {"x": (b,)}) == {"x": (a, b)}
    assert merge({"x": (a,)}, {}) == {"x": (a, None)}
    assert merge(None, {"x": (a,)}) == {"x": (a,)}
    assert merge(None, None) is None
