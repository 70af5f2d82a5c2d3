"""Loops over ``items()``, ``keys()`` and ``values()`` of what is no dict: the methods are the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx

X = np.array([2.0, 3.0])


class Table:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def items(self):
        return [("a", self.a), ("bb", self.b)]

    def keys(self):
        return ["a", "bb"]

    def values(self):
        return np.stack([self.a, self.b])


class Growing:
    def __init__(self, v: Any) -> None:
        self.held = [v, v * v]

    def values(self):
        return self.held


class Rows:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def items(self):
        return [[self.a, self.b], [self.b, 2.0]]


def by_items(x):
    total = 0.0
    for key, value in Table(x[0], x[1]).items():
        total = total + value * value * len(key)
    return total


def by_items_as_one(x):
    total = 0.0
    for i, item in enumerate(Table(x[0], x[1]).items()):
        total = total + item[1] ** 3 * (i + len(item))
    return total


def by_values(x):
    table = Table(x[0] * x[1], x[1])
    return sum(v * v for v in table.values()) + sum(a * b for a, b in zip(table.values(), x, strict=True))


def by_keys(x):
    total = x[1]
    for key in Table(x[0], x[1]).keys():
        total = total * x[0] * len(key)
    return total


def written_meanwhile(x):
    held, total = Growing(x[0]), 0.0
    for v in held.values():
        held.held[1] = v * x[1]
        total = total + v * v
    return total


def outside(x, table=Table(1.0, 2.0)):
    total = 0.0
    for _, value in table.items():
        total = total + value * value * x[0]
    return total


def both(x):
    total = 0.0
    for table in ({"a": x[0]}, {"b": x[1]}):
        for value in table.values():
            total = total + value**2
    for value in Table(x[0], x[1]).values():
        total = total + value**3
    return total


@pytest.mark.parametrize("f", [by_items, by_items_as_one, by_values, by_keys, written_meanwhile, outside, both])
def test_methods_of_ones_own_are_called(f: Callable[..., Any]) -> None:
    tx.testing.check_grads(f, (X,), order=2)
    with tx.checked():
        tx.grad(f, fallback="error")(X)


def growing(x):
    held, total = Growing(x[0]), 0.0
    for v in held.values():
        total = total + v * v
        if len(held.held) < 3:
            held.held.append(v * x[1])
    return total


def lists_for_pairs(x):
    total = 0.0
    for a, b in Rows(x[0], x[1]).items():
        total = total + a * b
    return total


def test_what_grows_meanwhile_and_what_is_no_pair_is_refused() -> None:
    with pytest.raises(tx.UnsupportedSyntax, match="went from 2 to 3 items"):
        tx.grad(growing, fallback="error")(X)
    with pytest.raises(tx.UnsupportedSyntax, match="tuples of two"):
        tx.grad(lists_for_pairs, fallback="error")(X)
