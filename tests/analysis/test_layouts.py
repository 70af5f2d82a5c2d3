"""Kinds of structures that follow another structure."""

from __future__ import annotations

import numpy as np

from tangentx import arrays
from tangentx.analysis.kinds import Arr, Box, Num, Obj
from tangentx.analysis.layouts import RULES, Layout
from tangentx.analysis.regions import World


def record(world: World) -> Box:
    box = Box(tuple, world.region())
    box.region.put(0, Num(float))
    box.region.put(1, Arr(np.dtype(float), 1, world.region()))
    box.region.put(2, Num(int))
    return box


def test_a_shadow_is_a_list_with_none_for_what_has_no_derivative() -> None:
    world = World()
    made = Layout(world, lambda path: world.region(), True).kind(record(world))
    assert made.cls is list and made.region.get(0) == Num(float) and made.region.get(2) == Obj(None)


def test_a_public_gradient_keeps_the_class_in_new_memory() -> None:
    world = World()
    box = record(world)
    made = Layout(world, lambda path: world.region(), False).kind(box)
    assert made.cls is tuple and made.region.get(1).region.root() is not box.region.get(1).region.root()


def test_a_structure_that_holds_itself() -> None:
    world = World()
    ring = Box(list, world.region())
    ring.region.put(0, ring)
    made = Layout(world, lambda path: world.region(), True).kind(ring)
    assert made.region.get(0) == made


def test_a_joint_copy_keeps_what_is_shared() -> None:
    world = World()
    a = Arr(np.dtype(float), 1, world.region())
    made = RULES[arrays.entry_copies](world, lambda path: world.region(), [a, a])
    first, second = made.region.get(0), made.region.get(1)
    assert first.region.root() is second.region.root() is not a.region.root()
