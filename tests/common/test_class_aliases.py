"""Classes with parameters, and `TypedDict`, called in programs that are differentiated."""

from __future__ import annotations

import collections
from typing import Any, Generic, TypedDict, TypeVar

import numpy as np
import pytest

import tangentx as tx
from tangentx.common.class_aliases import class_behind, takes_parameters

T = TypeVar("T")
X = np.array([0.7, 2.0])


class Box(Generic[T]):
    def __init__(self, item: T) -> None:
        self.item = item


class Chosen:
    def __class_getitem__(cls, power: int) -> Any:
        return lambda x: x**power


class Particle(TypedDict, total=False):
    mass: float
    place: float


Boxed = Box[float]


def of_boxes(x):
    return Box[float](x[0]).item * Boxed(x[1]).item + Box[list[float]]([x[0], x[1]]).item[0]


def of_dicts(x):
    p = Particle(mass=x[0], place=x[1])
    q = Particle(p, mass=x[0] * x[0])
    return p["mass"] * q["mass"] + dict[str, float](a=q["place"])["a"] + list[float](x)[1]


def counted(x):
    sums = collections.defaultdict[str, float](float)
    for i, v in enumerate(x):
        sums["ab"[i % 2]] += v * v
    return sums["a"] * sums["b"]


def on_tensors(f):
    t = tx.tensor(X, requires_grad=True)
    f(t).backward()
    return t.grad.numpy()


@pytest.mark.parametrize(
    "f, slope",
    [(of_boxes, [3.0, 0.7]), (of_dicts, [3.0 * 0.49, 2.0]), (counted, [2.0 * 0.7 * 4.0, 4.0 * 0.49])],
)
def test_the_class_is_called(f, slope):
    gradient = tx.grad(f, fallback="error" if f is not counted else "tensor")
    np.testing.assert_allclose(gradient(X), slope, rtol=1e-12)
    np.testing.assert_allclose(on_tensors(f), slope, rtol=1e-12)


def boxed_and_read(x):
    try:
        y = Box[float](x[0] * x[1]).item * Particle(mass=x[0])["mass"] + Boxed(x[1]).item
    except FloatingPointError as error:
        y = x[0] * len(error.args)
    return y


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_in_a_function_that_runs_on_tensors():
    np.testing.assert_allclose(tx.grad(boxed_and_read)(X), [2.0 * 0.7 * 2.0, 0.49 + 1.0], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_a_class_that_decides_what_its_parameters_give_is_asked():
    assert not takes_parameters(Chosen) and takes_parameters(Box) and takes_parameters(list)
    assert class_behind(Box) is Box and class_behind(Boxed) is Box
    assert tx.grad(lambda x: Chosen[3](x))(2.0) == 12.0
