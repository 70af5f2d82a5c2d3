"""Keys: all of an array, and names behind a dot."""

from __future__ import annotations

import pytest

from tangentx.ir.nodes import WHOLE, Key, Lit, attribute_of


def test_all_of_an_array() -> None:
    assert WHOLE.parts == (Lit(Ellipsis),)
    assert not WHOLE.attribute


def test_the_name_behind_the_dot() -> None:
    assert attribute_of(Key((Lit("velocity"),), attribute=True)) == "velocity"
    with pytest.raises(AssertionError):
        attribute_of(WHOLE)
