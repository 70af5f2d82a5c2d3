"""Expressions in closed form: views, slices, containers, and what stands for others."""

from __future__ import annotations

import numpy as np
import pytest

from tangentx.analysis.types.kinds import Num, is_view
from tangentx.errors import UnsupportedSyntax
from tests.analysis import programs
from tests.analysis.made import analysed, in_order, kind, text


def test_a_view_is_one_region_with_its_base_and_a_copy_is_not() -> None:
    kinds = analysed(programs.view, np.ones((2, 2)))[1].kinds
    assert is_view(kinds["r"], kinds["A"]) and is_view(kinds["t"], kinds["A"])
    assert not is_view(kinds["s"], kinds["A"])
    assert kinds["t"].region.root().written and not kinds["s"].region.root().written


def test_a_slice_of_a_list_is_written_out() -> None:
    assert in_order(text(programs.cut, 2.0), "= L[1]", "= L[2]", "make list(", "[0]")


def test_a_slice_of_a_list_of_unknown_length_is_a_loop() -> None:
    def f(x, L):
        return L[1:][0] * x

    assert in_order(text(f, 2.0, [1.0, 2.0]), "slice", "for ", ".append(")


def test_augmented_assignment_writes_an_array_and_rebinds_a_number() -> None:
    found = text(programs.in_place, 2.0, np.ones(3))
    assert in_order(found, "add(A, x)", "A[Ellipsis] = ", "add(n, x)")
    assert "Ellipsis" not in text(programs.in_place, 2.0, 1.0)


def test_the_items_of_containers_have_their_kinds() -> None:
    kinds = analysed(programs.taken, 2.0, [1])[1].kinds
    assert kinds["L"].region.any() == Num(float, True)
    assert kinds["L"].region.root().resized and not kinds["A"].region.root().written


def test_a_key_that_selects_no_item_is_refused() -> None:
    def f(x, d):
        return d[0, 1][2] * x if isinstance(d, dict) else x

    def g(x, L):
        return L[0, 1] * x

    assert kind(f, "x", 2.0, 3.0) == Num(float, True)
    with pytest.raises(UnsupportedSyntax):
        text(g, 2.0, [1.0, 2.0])
