"""Keys: all of an array, and names behind a dot."""

from __future__ import annotations

import pytest

from tangentx.ir.keys import WHOLE, attribute_of
from tangentx.ir.nodes import Key, Lit


def test_all_of_an_array() -> None:
    assert WHOLE.parts == (Lit(Ellipsis),)
    assert not WHOLE.attribute


def test_the_name_behind_the_dot() -> None:
    assert attribute_of(Key((Lit("velocity"),), attribute=True)) == "velocity"
    with pytest.raises(AssertionError):
        attribute_of(WHOLE)
