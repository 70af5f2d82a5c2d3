"""Sample values of kinds, and which ones are tried."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.analysis.types.kinds import BOTTOM, Arr, Box, Num, World
from tangentx.analysis.types.samples import NoSample, Sampler, of_any_length, settings
from tests.harness import derivative


def test_samples_have_the_kind_they_stand_for() -> None:
    world = World()
    kind = Arr(np.dtype("f4"), 2, world.region())
    sampler = Sampler(2)
    made = sampler.make(kind)
    assert (made.dtype, made.shape) == (np.dtype("f4"), (1, 1))
    assert sampler.made[0][1].root() is kind.region
    assert sampler.make(Num(int)) == 2 and sampler.make(Num(int, value=7)) == 7
    box = Box(tuple, world.region())
    box.region.put(0, Num(float))
    assert type(sampler.make(box)) is tuple
    with pytest.raises(NoSample):
        sampler.make(BOTTOM)


def open_box(cls, item):
    box = Box(cls, World().region())
    box.region.mark("open")
    box.region.put_any(item)
    return box


def test_shapes_of_unknown_length_are_tried_in_several() -> None:
    shape = open_box(list, Num(int))
    assert of_any_length(shape) and not of_any_length(open_box(list, Num(float)))
    made = [Sampler(rank=rank, length=length).make(shape) for rank, length in settings([shape])]
    assert made == [[1], [1], [1, 1], [1] * 3, [1] * 4]
    assert () in [Sampler(length=n).make(open_box(tuple, Num(int))) for _, n in settings([open_box(tuple, Num(int))])]
    assert list(settings([Num(float)])) == [(1, None)]


def turned(x):
    sizes = []
    for n in x.shape:
        sizes.insert(0, n)
    return np.sum((x.ravel().reshape(sizes) @ x) ** 2)


def test_a_shape_that_is_put_together_leaves_the_rank_unknown() -> None:
    x = np.arange(6.0).reshape(2, 3)
    gradient = tx.grad(turned, fallback="error")(x)
    slope, _ = derivative(lambda h: turned(x + h * np.cos(x)))
    assert np.sum(gradient * np.cos(x)) == pytest.approx(float(slope), rel=1e-9)


def rows_of_zeros(x):
    sizes = []
    for n in x.shape:
        sizes.append(n)
    z = np.zeros(sizes)
    z[0] = x[1]
    return np.sum(z**2)


def test_an_element_of_an_array_of_such_a_shape_is_refused() -> None:
    with pytest.raises(tx.NotResolved, match="unknown rank"):
        tx.grad(rows_of_zeros, fallback="error")(np.ones((2, 3)))


def joined(x, n):
    z = np.zeros([2] * n) + x
    y = np.concatenate([z, z])
    return x * x if y.ndim == 1 else x**3


def stacked(x, n):
    z = np.zeros([2] * n) + x
    y = np.stack((z, z * x))
    return np.sum(y) if len(y.shape) == 2 else np.sum(y**2)


def drawn(x, n):
    r = np.random.default_rng(1).normal(size=[2] * n)
    return x * x * np.sum(r) if r.ndim == 2 else x


@pytest.mark.parametrize("program", [joined, stacked, drawn])
@pytest.mark.parametrize("n", [1, 2])
def test_arrays_of_unknown_rank_in_a_list_have_several(program, n) -> None:
    wanted = (program(1.5 + 1e-6, n) - program(1.5 - 1e-6, n)) / 2e-6
    assert abs(tx.grad(program, fallback="error", check=True)(1.5, n) - wanted) < 1e-6
    assert abs(tx.jvp(program, (1.5, n), (1.0, None), fallback="error")[1] - wanted) < 1e-6
