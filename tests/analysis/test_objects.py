"""Objects made inside the program."""

from __future__ import annotations

from typing import NamedTuple

from tests.analysis.made import in_order, text


class Pair(NamedTuple):
    left: float
    right: float = 2.0


def test_a_named_tuple_is_a_display() -> None:
    assert in_order(text(lambda x: Pair(x).left + Pair(right=x, left=1.0)[1], 3.0), "Pair(x, 2.0)", "Pair(1.0, x)")
