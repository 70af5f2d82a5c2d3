"""Markers are replaced by the analysis, and are no closed form."""

from __future__ import annotations

import numpy as np
import pytest

from tangentx.frontend.lift import lift
from tangentx.ir.check import check
from tangentx.ir.markers import MARKS
from tangentx.ir.show import show
from tests.analysis.made import analysed, text


def columns(rows):
    return sum(a * b for a, b in zip(*rows)) + max([sum(c) for c in zip(*(rows[0], rows[1]))])


def test_a_marker_is_replaced() -> None:
    assert "column(" in show(lift(columns)) and "column(" not in text(columns, np.ones((2, 3)))


def test_a_marker_is_no_closed_form() -> None:
    with pytest.raises(AssertionError, match="an open form is left"):
        check(lift(columns), closed=True)
    check(analysed(columns, np.ones((2, 3)))[1].link.function, closed=True)


@pytest.mark.parametrize("marker", MARKS)
def test_a_marker_is_never_run(marker) -> None:
    with pytest.raises(AssertionError, match="never run"):
        marker(1, 2)
