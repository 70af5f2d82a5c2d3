"""Operations that call methods of the user's objects, or hand one on, have their derivative, or are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import tangentx as tx

X = np.array([0.5, 1.2, 2.0])


@dataclass
class Amount:
    v: float

    def __add__(self, other):
        return Amount(self.v + (other.v if isinstance(other, Amount) else other))

    __radd__ = __add__

    def __lt__(self, other):
        return self.v < other.v


@dataclass(order=True)
class Ordered:
    v: float


class Pair(NamedTuple):
    re: Any
    im: Any = 0.0

    def __add__(self, other):
        return Pair(self.re + other[0], self.im + other[1])


@dataclass
class Number:
    v: float

    def __radd__(self, other):
        return other + self.v * self.v


def summed(x):
    return sum([Amount(v) for v in x]).v ** 2


def summed_by_map(x):
    return sum(map(Amount, x)).v ** 2


def summed_from(x):
    return sum([Amount(x[0]), Amount(x[1])], Amount(x[2])).v ** 2


def largest(x):
    return max([Amount(v) for v in x]).v ** 2


def larger(x):
    return max(Amount(x[0]), Amount(x[1])).v ** 2


def largest_in_order(x):
    return max([Ordered(v) for v in x]).v ** 2


def summed_pairs(x):
    return sum([Pair(x[0]), Pair(x[1], x[2])], Pair(0.0, 0.0)).re ** 2


def summed_to_a_number(x):
    return sum([Number(v) for v in x])


HANDED_ON = [
    summed,
    summed_by_map,
    summed_from,
    largest,
    larger,
    largest_in_order,
    summed_pairs,
    summed_to_a_number,
]


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("f", HANDED_ON)
def test_such_a_call_is_right_on_tensors_and_refused_when_compiled(f: Callable[[Any], Any]) -> None:
    with pytest.raises(tx.NotResolved, match="calls methods of their classes, or gives one of them"):
        tx.grad(f, fallback="error")(X)
    tx.testing.check_grads(f, (X,), order=1)


def in_order(x):
    return sorted([Amount(v) for v in x])[1].v ** 2


def by_key(x):
    return max([Amount(v) for v in x], key=lambda a: a.v).v ** 2


def by_operators(x):
    total = Amount(x[0])
    for v in x[1:]:
        total = total + Amount(v)
    return total.v ** (2 + (Amount(x[0]) < total))


@pytest.mark.parametrize("f", [in_order, by_key, by_operators])
def test_what_has_a_rule_is_compiled(f: Callable[[Any], Any]) -> None:
    tx.grad(f, fallback="error")(X)
    tx.testing.check_grads(f, (X,), order=1)


def as_bytes(x):
    return (x.view(np.int64) + 0).view(float).sum() ** 2


def a_number_as_bytes(x):
    return (x[0].view(np.int64) + 0).view(np.float64) ** 2


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("f", [as_bytes, a_number_as_bytes])
def test_bytes_of_what_varies_are_no_whole_numbers(f: Callable[[Any], Any]) -> None:
    with pytest.raises(tx.UnsupportedSyntax, match="bytes of numbers"):
        tx.grad(f, fallback="error")(X)
    with pytest.raises(tx.NoTemplate, match="a view of another dtype"):
        tx.grad(f)(X)


def bytes_held_constant(x):
    return tx.stop_gradient(x).view(np.int64)[0] % 7 * x[0] + x[1] ** 2


def viewed_by_name(x):
    return x.view(dtype=float)[1] ** 2


def part_of_a_slice(x):
    return slice(x[0], x[1]).stop ** 2


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("f", [bytes_held_constant, viewed_by_name, part_of_a_slice])
def test_what_is_held_constant_may_be_read_as_bytes_and_a_slice_holds_numbers(f: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(tx.grad(f)(X)[1], 2.0 * X[1])
