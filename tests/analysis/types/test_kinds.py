"""What a kind says, and when two are the same."""

from __future__ import annotations

import numpy as np
import pytest

from tangentx.analysis.types.kinds import (
    BOTTOM,
    MISSING,
    Arr,
    Box,
    Num,
    Obj,
    World,
    describe,
    dtype_of,
    is_inexact,
    signature,
    varied,
    vary,
)

REAL, WHOLE = np.dtype(float), np.dtype(int)


def test_only_reals_and_complex_numbers_vary() -> None:
    assert vary(Num(float)) == Num(float, True) and varied(vary(Num(complex)))
    assert vary(Num(int)) == Num(int) and not varied(Num(int, True))
    assert is_inexact(Arr(REAL, 1, World().region())) and not is_inexact(Arr(WHOLE, 1, World().region()))


def test_to_vary_forgets_a_value_and_marks_the_memory() -> None:
    array = Arr(REAL, 1, World().region())
    alias = Arr(REAL, 1, array.region)
    assert not varied(array)
    vary(alias)
    assert varied(array)
    assert vary(Num(float, value=1.0)) == Num(float, True, MISSING)


def test_a_container_varies_with_what_it_holds_even_itself() -> None:
    box = Box(list, World().region())
    box.region.put(0, box)
    box.region.put(1, Num(int))
    assert not varied(box)
    box.region.put(2, Num(float, True))
    assert varied(box)


def test_signatures_are_free_of_regions_and_numbers() -> None:
    one, two = (Arr(REAL, 2, World().region()) for _ in range(2))
    assert one != two and signature(one) == signature(two)
    assert signature(Num(int, value=3)) == signature(Num(int, value=4))
    assert signature(Num(bool, value=True)) != signature(Num(bool, value=False))
    assert signature(Arr(REAL, 1, one.region)) != signature(one)
    assert signature(Obj("a")) != signature(Obj("b"))


@pytest.mark.parametrize(
    "kind, words",
    [
        (Num(int), "an int"),
        (Arr(REAL, 2, World().region()), "an array of float64 of rank 2"),
        (Obj(None), "`None`"),
        (BOTTOM, "nothing"),
    ],
)
def test_describe(kind, words) -> None:
    assert describe(kind) == words


def test_dtype_of_numbers() -> None:
    assert dtype_of(Num(float)) == REAL and dtype_of(Num(np.float32)) == np.dtype("f4")
