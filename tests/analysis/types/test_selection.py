"""What a key selects: a value that is differentiated is no key, for equal ones of unlike histories are one key."""

from __future__ import annotations

import collections
import functools
from dataclasses import dataclass

import numpy as np
import pytest

import tangentx as tx

V = np.array([2.0, 2.0])
TABLE: dict[object, float] = {}


@dataclass(frozen=True)
class Place:
    x: float


def remembered(v):
    memo = {}

    def square(t):
        if t not in memo:
            memo[t] = t * t
        return memo[t]

    return square(v[0]) + 3 * square(v[1])


def in_a_global(v):
    TABLE[v[0]] = v[0] * v[0]
    return TABLE[v[0]]


def asked_for(v):
    memo = {}
    return v[1] if v[0] in memo else v[0]


def got(v):
    memo = {1: v[0]}
    return memo.get(v[0], v[1])


def set_by_default(v):
    memo = {}
    return memo.setdefault(v[0], v[0] * v[0]) + 3 * memo.setdefault(v[1], v[1] * v[1])


def taken(v):
    memo = {0: v[1]}
    return memo.pop(v[0], v[1])


def as_a_float(v):
    memo = {}
    for t in v:
        memo[float(t)] = t * t
    return memo[float(v[0])]


def in_a_tuple(v):
    memo = {}
    for t in v:
        memo[t, 1] = t * t
    return memo[v[0], 1]


def in_a_record(v):
    memo = {}
    memo[Place(v[0])] = v[0] * v[0]
    return memo[Place(v[1])]


def in_a_display(v):
    return {v[0]: v[0] * 5.0, v[1]: v[1] * 7.0}[v[0]]


def in_a_comprehension(v):
    return sum({t: t * t for t in v}.values())


def from_keys(v):
    return sum(t for t in dict.fromkeys([v[0], v[1]], 1.0))


def deleted(v):
    memo = {2.0: 1.0}
    del memo[v[0]]
    return v[0] * len(memo)


def of_a_default_dict(v):
    found = collections.defaultdict(float)
    found[v[0]] += v[0]
    found[v[1]] += v[1]
    return found[v[0]]


def updated(v):
    memo = {}
    memo.update([(v[0], v[0]), (v[1], v[1])])
    return sum(memo.values())


REFUSED = [
    *(remembered, in_a_global, asked_for, got, set_by_default, taken, as_a_float, in_a_tuple, in_a_record),
    *(in_a_display, in_a_comprehension, from_keys, deleted, of_a_default_dict, updated),
]
WAYS = {
    "grad": lambda f: tx.grad(f)(V),
    "alone": lambda f: tx.grad(f, fallback="error")(V),
    "jvp": lambda f: tx.jvp(f, (V,), (V,)),
    "vjp": lambda f: tx.vjp(f, V),
    "hessian": lambda f: tx.hessian(f)(V),
}


@pytest.mark.parametrize("f", REFUSED)
@pytest.mark.parametrize("way", WAYS)
def test_a_value_that_is_differentiated_is_no_key(f, way) -> None:
    with pytest.raises(
        tx.NotDifferentiable, match=r"test_selection\.py:\d+: a value that is differentiated is a key of a dict"
    ):
        WAYS[way](f)
    TABLE.clear()


def numbered(v, grid):
    memo = {}
    for i in range(2):
        if i not in memo:
            memo[i] = v[i] * v[i]
    names = {"a": memo[0], "b": memo[1]}
    for t in grid:
        if t not in memo:
            memo[t] = t * v[0]
    buckets = {}
    for t in v:
        buckets[int(t * 10)] = t * t
        buckets[round(float(t)), "r"] = t
    return names["a"] + 3 * memo[1] + memo[grid[1]] + buckets[20] + buckets[2, "r"]


def test_what_is_not_differentiated_is_one() -> None:
    v, grid = np.array([2.0, 2.4]), np.array([0.5, 0.25])
    for found in (tx.grad(numbered, fallback="error")(v, grid), tx.vjp(lambda v: numbered(v, grid), v)[1](1.0)):
        assert found == pytest.approx([2 * 2.0 + 0.25 + 2 * 2.0, 3 * 2 * 2.4 + 1.0])


@functools.lru_cache
def cached(t):
    return t * t


def test_a_cache_of_results_is_passed_by() -> None:
    gradient = tx.grad(lambda v: cached(v[0]) + 3 * cached(v[1]), fallback="error")
    assert gradient(V) == pytest.approx([4.0, 12.0])
    assert cached.cache_info().currsize == 0
