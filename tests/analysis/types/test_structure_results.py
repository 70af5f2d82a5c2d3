"""Kinds of structures that follow another structure."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Box, Num, Obj, World
from tangentx.analysis.types.structure_results import RULES, Layout
from tangentx.compile.pipeline import proofs


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


@pytest.mark.parametrize("off", [(), "all"])
def test_a_result_of_unknown_rank_is_asked_whether_it_is_a_scalar(off) -> None:
    def f(o, k):
        return np.squeeze(o) * k

    args = np.array([0.1], np.float32), 0.4
    with proofs(off):
        gradient = tx.grad(f, wrt=("o", "k"), fallback="error")
        o_bar, k_bar = gradient(*args)
        assert (o_bar.dtype, o_bar.tolist(), type(k_bar)) == (np.float32, [np.float32(0.4)], float)
        assert k_bar == pytest.approx(0.1)
        with pytest.raises(tx.NotDifferentiable, match="the result has shape"):
            gradient(np.ones(2), 0.4)
        twice = tx.grad(lambda o, k: tx.grad(f)(o, k).sum() * o[0] * k, wrt="k", fallback="error")
        assert twice(*args) == pytest.approx(2 * 0.1 * 0.4)
