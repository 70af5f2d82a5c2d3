"""Writes to objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.errors import UnsupportedSyntax
from tests.analysis.made import analysed


class Cell:
    default = 1.0

    def __init__(self, v):
        self.v = v

    def grow(self, x):
        self.v = self.v * x
        self.last = x
        return self.v


@dataclass(frozen=True)
class Frozen:
    v: float


class Careful:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, 2.0 * value)


def test_arguments_are_left_as_they_were() -> None:
    def f(cell, x):
        return cell.grow(x) * cell.grow(x) + cell.last

    cell = Cell(3.0)
    gradient, slope = tx.grad(f, wrt=("cell", "x"))(cell, 2.0)
    assert vars(cell) == {"v": 3.0}
    assert type(gradient) is Cell and vars(gradient) == {"v": 6.0 * 2.0**3}
    assert slope == 9.0 * 3.0 * 2.0**2 + 1.0
    value, pull = tx.vjp(f, cell, 2.0)
    assert value == 74.0 and vars(pull(1.0)[0]) == vars(pull(1.0)[0]) == {"v": 48.0}


COUNTER = Cell(0.0)


def test_an_object_from_outside_gets_its_final_content() -> None:
    def f(x):
        COUNTER.v = COUNTER.v + x
        COUNTER.seen = x
        return COUNTER.v * x

    for trip in range(1, 3):
        assert tx.grad(f)(2.0) == 2.0 * (trip - 1) + 4.0
        assert COUNTER.v == 2.0 * trip and COUNTER.seen == 2.0


def test_two_names_of_an_object() -> None:
    def f(x):
        a = Cell(x)
        b = a
        b.v = x * x
        pair = [a, Cell(1.0)]
        pair[1].v, pair[0].v = pair[0].v, a.v * x
        return a.v * pair[1].v

    assert tx.grad(f)(2.0) == 5.0 * 2.0**4


def test_an_array_that_an_attribute_holds_is_written_in_place() -> None:
    def f(x):
        a = Cell(np.zeros(2))
        held = a.v
        a.v += x
        a.v[0] *= x
        return np.sum(held * held)

    assert tx.grad(f)(3.0) == 4.0 * 27.0 + 6.0


def of_class(x):
    cell = Cell(x)
    if x > 0.0:
        cell.default = x
    return cell.default


def frozen(x):
    thing = Frozen(x)
    thing.v = x * x  # type: ignore[misc]
    return thing.v


def careful(x):
    thing = Careful()
    thing.v = x
    return thing.v


def of_an_array(x):
    u = np.ones(4) * x
    u.strides = (16,)
    return np.sum(u)


@pytest.mark.parametrize(
    "fn, match",
    [
        (of_class, "`default` is an attribute of the class"),
        (frozen, "frozen"),
        (careful, "a say"),
        (of_an_array, "`strides`"),
    ],
)
def test_refused(fn: Any, match: str) -> None:
    with pytest.raises(UnsupportedSyntax, match=match) as caught:
        analysed(fn, 2.0)
    assert caught.value.hint
