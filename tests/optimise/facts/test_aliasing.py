"""Names that may share memory with what a function returns."""

from __future__ import annotations

import numpy as np

from tangentx.optimise.facts.aliasing import returned, viewed
from tests.optimise.support import unit_of


def in_a_tuple(x):
    made = x * 2.0
    turned = made.T
    other = x + 1.0
    total = np.sum(other)
    return turned, total


def test_what_is_given_back_in_a_tuple_or_as_a_view_is_returned() -> None:
    program, unit = unit_of(in_a_tuple, np.ones((2, 2)))
    found = returned(unit, program)
    assert {"made", "turned", "total"} <= found
    assert not {"x", "other"} & found


def test_memory_that_a_view_is_taken_of() -> None:
    program, unit = unit_of(in_a_tuple, np.ones((2, 2)))
    assert unit.kinds["made"].region.root() in viewed(program)
    assert unit.kinds["other"].region.root() not in viewed(program)
