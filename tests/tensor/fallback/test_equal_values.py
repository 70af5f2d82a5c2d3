"""Equal numbers of different histories as keys: refused where one would be taken for the other."""

from __future__ import annotations

import bisect
import collections
import functools
import heapq
import math
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tests.tensor.fallback.test_introspection import _on_tensors  # noqa: F401

pytestmark = pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
EQUAL, UNLIKE = np.array([2.0, 2.0]), np.array([0.3, 1.7])


def remembering(v):
    memo = {}

    def h(t):
        if t not in memo:
            memo[t] = t * t
        return memo[t]

    return h(v[0]) + 3.0 * h(v[1])


def tried(v):
    memo = {v[0]: v[0] * v[0]}
    try:
        return memo[v[1]] + v[1]
    except KeyError:
        return v[1] * v[0]


def of_a_constant(v):
    memo = {v[0]: v[0] * v[0]}
    return memo.get(2.0, v[1]) + v[1]


def constants(v):
    return {2.0: v[1] * 3.0}.get(v[0], v[0] * 0.5)


def in_a_set(v):
    seen, total = set(), 0.0
    for t in v:
        if t in seen:
            continue
        seen.add(t)
        total = total + t * t
    return total


def displayed(v):
    return sum({v[0], v[1]}) * v[0]


def as_keys(v):
    return sum({v[0]: v[0] * 2.0, v[1]: v[1] * 3.0}.values())


def counted(v):
    return sum(k * n for k, n in collections.Counter([v[0], v[1]]).items())


def in_tuples(v):
    return {(v[0], 1): v[0] ** 2}.get((v[1], 1), v[0] * 0.5) + v[1]


def from_keys(v):
    return sum(dict.fromkeys([v[0], v[1]]))


def frozen(v):
    return sum(frozenset(list(v)))


@pytest.mark.parametrize(
    "f",
    [
        *(remembering, tried, of_a_constant, constants, in_a_set, displayed, as_keys, counted, in_tuples, from_keys),
        frozen,
    ],
    ids=lambda f: f.__name__,
)
def test_equal_keys_of_different_histories_are_refused(f: Any) -> None:
    for run in (lambda v: tx.grad(f)(v), lambda v: tx.jvp(f, (v,), (v,)), lambda v: tx.vjp(tx.grad(f), v)):
        with pytest.raises(tx.NotDifferentiable, match=r"(?s)test_equal_values\.py:\d+.*equal \(.*stop_gradient"):
            run(EQUAL)
    steps = 1e-6 * np.eye(2)
    wanted = [(f(UNLIKE + h) - f(UNLIKE - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(tx.grad(f)(UNLIKE), wanted, rtol=1e-6)


def test_it_is_refused_though_the_program_catches_it_and_in_another_order() -> None:
    def f(v: Any) -> Any:
        memo = {2.0: 1.0}
        try:
            return memo[v[0]] * v[1]
        except Exception:
            return v[1]

    with pytest.raises(tx.NotDifferentiable, match="meet as keys"):
        tx.grad(f)(EQUAL)


def test_what_is_one_value_is_one_key() -> None:
    def f(v: Any) -> Any:
        memo = {v[0]: v[0] * v[1], v[1] * 2.0: 1.0}
        t = v[0]
        return memo[v[0]] * memo[t] + memo[v[1] * 2.0] * len({v[0], t})

    assert tx.grad(f)(UNLIKE).tolist() == pytest.approx([2.0 * 0.3 * 1.7**2, 2.0 * 0.3**2 * 1.7])

    def constant(v: Any) -> Any:
        memo: dict[Any, Any] = {2.0: 3.0}
        return memo[tx.stop_gradient(v[0])] * v[1]

    assert tx.grad(constant)(EQUAL).tolist() == [0.0, 3.0]


def test_comparisons_that_the_program_writes_choose_branches() -> None:
    def f(v: Any) -> Any:
        row = [v[0], v[1]]
        found = row.index(v[1]) + row.count(2.0) + (v[1] in row) + (v[0] == v[1]) + ([v[0]] == [v[1]])
        match v[1]:
            case 2.0:
                found += 1
        row.remove(v[1])
        return v[0] * found + row[0]

    assert f(EQUAL) == 14.0
    assert tx.grad(f)(EQUAL).tolist() == [6.0, 1.0]


@functools.lru_cache
def cached(t):
    return math.sin(t) * t


def test_a_cache_is_called_past() -> None:
    cached.cache_clear()

    def f(v: Any) -> Any:
        return cached(v[0]) + 3.0 * cached(v[1]) + cached(0.5)

    slope = math.sin(2.0) + 2.0 * math.cos(2.0)
    for _ in range(2):
        assert tx.grad(f)(EQUAL).tolist() == pytest.approx([slope, 3.0 * slope])
    assert cached.cache_info().currsize == 1  # the constant's
    assert cached(2.0) == 2.0 * math.sin(2.0)

    def captured(v: Any) -> Any:
        @functools.lru_cache
        def h(k: int) -> Any:
            return math.exp(v[0]) * k

        return h(1) + h(2) + h(1)

    assert tx.grad(captured)(EQUAL).tolist() == pytest.approx([4.0 * math.exp(2.0), 0.0])


def test_tensors_of_the_users_are_keys_by_identity() -> None:
    a, b = tx.tensor(2.0, requires_grad=True), tx.tensor(2.0, requires_grad=True)
    assert len({a, b}) == 2 and {a: 1}[a] == 1 and {a * 1.0: 2, b: 3}[b] == 3

    def f(v: Any) -> Any:
        return v[0] * len({a, b})

    assert tx.grad(f)(EQUAL).tolist() == [2.0, 0.0]


def tagged(v):
    return [(t * t, i) for i, t in enumerate(v)]


def sorted_tuples(v):
    return sum((k + 1.0) * t for k, (t, _) in enumerate(sorted(tagged(v))))


def sorted_in_place(v):
    row = tagged(v)
    row.sort(reverse=True)
    return row[0][0] + max(tagged(v))[0] * min(tagged(v), key=lambda pair: (pair[0], pair[1]))[0]


def on_a_heap(v):
    heap = tagged(v)
    heapq.heapify(heap)
    least = heapq.heappop(heap)[0]
    heapq.heappush(heap, (least, 7))
    return heapq.heapreplace(heap, (v[0], 9))[0] * heapq.heappushpop(heap, (v[1], 9))[0]


def by_bisection(v):
    row = []
    for pair in tagged(v):
        bisect.insort(row, pair)
    return row[0][0] + bisect.bisect_left(row, (v[0] * v[0], 0)) * v[1]


def shortest_path(v):
    edges = {0: [(1, 0), (2, 1)], 1: [(3, 1)], 2: [(3, 0)], 3: []}
    heap = [(0.0, 0)]
    while heap:
        length, at = heapq.heappop(heap)
        if at == 3:
            return length * length
        for to, edge in edges[at]:
            heapq.heappush(heap, (length + v[edge], to))


def key_that_remembers(v):
    memo = {}

    def key(pair):
        return memo.setdefault(pair[0], pair[0] * 2.0)

    return sorted(tagged(v), key=key)[0][0]


ORDERED = (sorted_tuples, sorted_in_place, on_a_heap, by_bisection, shortest_path)


@pytest.mark.parametrize("f", ORDERED, ids=lambda f: f.__name__)
def test_equal_items_are_put_in_order_as_the_program_does(f: Any) -> None:
    """Also on Tensors, whatever of it is compiled."""

    def on_tensors(v):
        try:
            return f(v)
        except ZeroDivisionError:
            return 0.0

    steps = 1e-6 * np.eye(2)
    found = [(f(UNLIKE + step) - f(UNLIKE - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(tx.grad(on_tensors)(UNLIKE), found, rtol=1e-6, atol=1e-8)
    value, gradient = tx.value_and_grad(on_tensors)(EQUAL)
    assert value == f(EQUAL)
    assert np.dot(gradient, EQUAL) == pytest.approx(tx.jvp(on_tensors, (EQUAL,), (EQUAL,))[1], rel=1e-12)


def test_what_a_key_remembers_is_asked_for_all_the_same() -> None:
    def on_tensors(v):
        try:
            return key_that_remembers(v)
        except ZeroDivisionError:
            return 0.0

    with pytest.raises(tx.NotDifferentiable, match=r"equal \(.*keys of a set or a dict"):
        tx.grad(on_tensors)(EQUAL)
