"""Augmented assignments by the kind of what stands on the left."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.errors import TangentxError, UnsupportedSyntax


class Doubling:
    """Adds twice when it adds in place, and once otherwise."""

    def __init__(self, v):
        self.v = v

    def __iadd__(self, other):
        self.v = self.v + 2.0 * other
        return self

    def __add__(self, other):
        return Doubling(self.v + other)


@dataclass(frozen=True)
class Frozen:
    v: Any


def test_the_class_says_what_in_place_means() -> None:
    def f(x):
        held = kept = Doubling(x)
        kept += x * x
        other = held + x
        return held.v * other.v

    # held.v = x + 2 x^2, other.v = 2 x + 2 x^2
    assert tx.grad(f)(0.5) == pytest.approx((1 + 4 * 0.5) * 1.5 + (2 + 4 * 0.5) * 1.0)


class Pump:
    """Reading its pressure, or adding to it, works it."""

    def __init__(self, v, k):
        self.v = v
        self.k = k

    @property
    def p(self):
        self.v = self.v * 2.0
        return self.k * self.v

    @property
    def still(self):
        return self.k

    def __mul__(self, k):
        return self.p * k


@pytest.mark.parametrize("many", [False, True], ids=["number", "array"])
def test_what_is_augmented_is_read_before_code_that_an_expression_runs(many) -> None:
    def f(x, k):
        o = Pump(np.array([x, k]) if many else x, k)
        o.v += o.p
        o.v += o.still
        o.v += o * k
        if many:
            o.v[0] += np.sum(o.p)
        return np.sum(o.v) if many else o.v

    value, (slope,) = tx.value_and_grad(f, wrt=("x",), fallback="error")(1.3, 0.7)
    assert value == pytest.approx(f(1.3, 0.7), rel=1e-14)
    assert slope == pytest.approx((f(1.4, 0.7) - f(1.2, 0.7)) / 0.2, rel=1e-10)


def test_an_augmented_attribute_is_not_read_early_without_need() -> None:
    def f(x, k):
        o = Pump(np.array([x, k]), k)
        o.v += o.k * o.v
        return o.v[0]

    assert "o.v += o.k * o.v" in tx.grad(f, fallback="error").source_for(1.3, 0.7)


def test_an_augmented_property_is_read_and_set() -> None:
    class Angle:
        def __init__(self, turns):
            self.turns = turns

        @property
        def degrees(self):
            return self.turns * 360.0

        @degrees.setter
        def degrees(self, value):
            self.turns = value / 360.0

    def f(x):
        angle = Angle(x)
        angle.degrees *= x
        return angle.turns

    assert tx.grad(f)(0.25) == pytest.approx(0.5)


def test_a_set_is_changed_for_all_who_hold_it() -> None:
    def f(x, n):
        seen = set(range(n))
        also = seen
        also |= {7}
        return x ** len(seen)

    assert tx.grad(f)(2.0, 2) == 3 * 2.0**2


def test_a_set_among_the_arguments_is_not_changed() -> None:
    def f(x, seen):
        seen |= {7}
        return x ** len(seen)

    def g(x, tables):
        tables["seen"].add(7)
        return x ** len(tables["seen"])

    for fn, given in ((f, {1, 2}), (g, {"seen": {1, 2}})):
        with pytest.raises(UnsupportedSyntax, match="this changes a set, which may be one of the caller's"):
            tx.grad(fn)(2.0, given)
    assert tx.grad(lambda x, seen: x ** len(seen | {7}))(2.0, {1, 2}) == 12.0


@pytest.mark.parametrize("off", [(), "all"])
def test_items_of_tuples_and_of_frozen_objects_are_not_set(off: Any) -> None:
    def of_tuple(x):
        pair = (np.zeros(2), 1.0)
        pair[0] += x
        return np.sum(pair[0])

    def of_frozen(x):
        box = Frozen(np.zeros(2))
        box.v += x
        return np.sum(box.v)

    with pipeline.proofs(off):
        with pytest.raises(UnsupportedSyntax, match="an item of a tuple is assigned to"):
            tx.grad(of_tuple)(1.0)
        with pytest.raises(UnsupportedSyntax, match="is frozen"):
            tx.grad(of_frozen)(1.0)


def test_what_cannot_be_followed_is_refused() -> None:
    def f(x, recent):
        recent += [x]
        return sum(recent)

    with pytest.raises(TangentxError):
        tx.grad(f)(1.0, deque([1.0]))
