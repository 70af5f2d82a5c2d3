"""Joins of kinds, and memory that may alias."""

from __future__ import annotations

import numpy as np
import pytest

from tangentx.analysis.types.kinds import BOTTOM, MISSING, Arr, Box, Num, Obj, Region, Some, Top, World, join

REAL = np.dtype(float)


def test_numbers_join_to_the_wider_type() -> None:
    assert join(Num(int), Num(float)) == Num(float, types=(float, int))
    assert join(Num(float, True), Num(int)) == Num(float, True, types=(float, int))
    assert join(Num(np.float32), Num(np.float64)) == Num(np.float64, types=(np.float32, np.float64))
    assert join(join(Num(int), Num(float)), Num(bool)) == join(Num(bool), join(Num(float), Num(int)))
    assert join(Num(int, value=2), Num(int, value=2)).value == 2
    assert join(Num(int, value=2), Num(int, value=3)).value is MISSING


def test_arrays_join_by_dtype_rank_and_memory() -> None:
    world = World()
    a, b = Arr(np.dtype("f4"), 1, world.region()), Arr(REAL, 2, world.region())
    both = join(a, b)
    assert (both.dtype, both.rank) == (REAL, None)
    assert a.region.root() is b.region.root()


def test_a_number_and_an_array_join_loosely() -> None:
    kind = join(Num(float, True), Arr(REAL, 1, World().region()))
    assert kind.loose and kind.rank is None and kind.region.root().varied


def test_what_has_nothing_in_common_is_top() -> None:
    assert isinstance(join(Num(float), Obj("text")), Top)
    assert isinstance(join(Box(list, World().region()), Box(tuple, World().region())), Top)
    assert join(Obj("a"), Obj("b")) == Some(str)
    assert join(BOTTOM, Num(int)) == Num(int) == join(Num(int), BOTTOM)


def test_united_regions_share_facts_and_contents() -> None:
    world = World()
    a, b = world.region(), world.region()
    a.put("k", Num(int))
    b.put("k", Num(float))
    b.mark("written")
    world.changed = False
    a.unite(b)
    assert world.changed and a.root() is b.root()
    assert a.root().written and a.get("k") == Num(float, types=(float, int))
    world.changed = False
    b.unite(a)
    a.mark("written")
    assert not world.changed


@pytest.mark.parametrize("how", ["at a key", "anywhere", "keys"])
def test_lists_that_are_united_on_the_way_keep_what_they_hold(how: str) -> None:
    """`t = t[0]` of a list of lists: to join what the outer one holds unites it with the inner one, and its content."""
    world = World()
    outer, middle, inner = world.region(), world.region(), world.region()
    put = {"at a key": lambda a, kind: a.put(0, kind), "anywhere": Region.put_any, "keys": Region.put_key}[how]
    read = {"at a key": lambda a: a.get(0), "anywhere": Region.any, "keys": lambda a: a.root().key}[how]
    put(outer, Box(list, middle))
    put(middle, Box(list, inner))
    put(inner, Num(float))
    outer.unite(middle)
    assert outer.root() is middle.root() is inner.root()
    assert isinstance(read(outer), Top)


def test_contents_at_unknown_keys_reach_every_key() -> None:
    region = World().region()
    region.put(0, Num(int))
    region.put_any(Num(float))
    assert region.get(0) == Num(float, types=(float, int)) == region.any()
    assert region.get(1) is BOTTOM
    region.mark("open")
    assert region.get(1) == Num(float, types=(float, int))
