"""Kinds of values, and sample values of kinds."""

from __future__ import annotations

import numpy as np
import pytest

from tangentx.analysis.types.kinds import MISSING, Num, Obj, World
from tangentx.analysis.types.samples import Valuer
from tangentx.errors import NotResolved


def test_numbers_are_forgotten_and_booleans_known() -> None:
    valuer = Valuer(World())
    assert valuer.kind(3) == Num(int) and valuer.kind(3).value is MISSING
    assert valuer.kind(True).value is True
    assert Valuer(World(), constants=True).kind(3).value == 3
    assert valuer.kind(None) == Obj(None)


def test_one_object_has_one_region() -> None:
    a = np.ones(2)
    box = Valuer(World()).kind([a, a.astype(int), a])
    first, other, last = (box.region.get(i) for i in range(3))
    assert first.region.root() is last.region.root()
    assert first.region.root() is not other.region.root()


def test_a_list_of_like_items_has_one_kind_of_item() -> None:
    box = Valuer(World()).kind([1.0, 2.0])
    assert box.region.open and box.region.any() == Num(float) and not box.region.fields
    mixed = Valuer(World()).kind([1.0, "a"])
    assert not mixed.region.open and mixed.region.get(1) == Obj("a")


@pytest.mark.parametrize("value", [np.array([None]), np.ma.array([1.0])])
def test_other_arrays_are_refused(value) -> None:
    with pytest.raises(NotResolved):
        Valuer(World()).kind(value)
