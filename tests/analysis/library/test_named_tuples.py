"""`_replace` and `_make` of named tuples."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import tangentx as tx

X = np.array([0.3, 0.7, 1.2])
Pair = namedtuple("Pair", "a b")


class State(NamedTuple):
    place: Any
    speed: Any = 1.0
    steps: int = 0

    def step(self, h):
        speed = self.speed - h * self.place
        return self._replace(place=self.place + h * self.speed, speed=speed, steps=self.steps + 1)


class Named(Pair):
    def twice(self):
        return self._replace(a=2.0 * self.a)


class Doubled(Pair):
    def __new__(cls, a):
        return super().__new__(cls, a, 2.0 * a)


class Noted(Pair):
    def __init__(self, a, b):
        self.sum = a + b


def pendulum(x):
    state = State(x[0], x[1])
    for _ in range(5):
        state = state.step(0.1)
    return state.place * state.speed * state.steps


def replaced(x):
    first = Named(x, x**2)
    return np.sum(first.twice().a * first._replace(b=np.sin(x)).b * first.b)


def made(x):
    return np.sum(Pair._make(x[:2]).a * Named._make([x, x[::-1]]).twice().a)


@pytest.mark.parametrize("f", [pendulum, replaced, made])
def test_a_new_tuple_is_made(f: Callable[..., Any]) -> None:
    tx.testing.check_grads(f, (X,))


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "a field that is not there": (lambda x: Pair(x[0], x[1])._replace(c=x[2]).a, "no field `c`"),
    "a way of its own": (lambda x: Doubled(x[0]).b, "of its own"),
    "an effect of its own": (lambda x: Noted(x[0], x[1]).sum, "of its own"),
    "items made otherwise": (lambda x: Doubled._make([x[0], x[1]]).b, "with all fields"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_else_happens_is_refused(name: str) -> None:
    f, words = REFUSED[name]
    with pytest.raises(tx.UnsupportedSyntax, match=words):
        tx.grad(f, fallback="error")(X)
