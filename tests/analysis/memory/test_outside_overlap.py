"""Arrays from outside that share memory are one memory, whatever they are called by; what shares may change."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import tangentx as tx
from tangentx.analysis.types.address_map import Memory
from tangentx.analysis.types.kinds import World
from tangentx.arrays.sharing import sharing

X = np.array([2.0, 3.0])
Pair = collections.namedtuple("Pair", "whole part")


class Layer:
    def __init__(self, w):
        self.w = w


def names():
    whole = np.zeros(3)
    part = whole[:1]

    def f(x):
        whole[0] = x[0] * x[1]
        return part[0] * 3.0

    return f


def the_part_is_written():
    whole = np.zeros(3)
    part = whole[:1]

    def f(x):
        part[0] = x[0] * x[1]
        return whole[0] * x[0]

    return f


def items():
    whole = np.zeros(3)
    table, other = {"w": whole}, {"v": whole[:1]}

    def f(x):
        table["w"][0] = x[0] * x[1]
        return other["v"][0] * 3.0

    return f


def attributes():
    whole = np.zeros(3)
    a, b = Layer(whole), Layer(whole[:1])

    def f(x):
        a.w[0] = x[0] * x[1]
        return b.w[0] * 3.0

    return f


def places_of_a_tuple():
    whole = np.zeros(3)
    both = (whole, whole[:1])

    def f(x):
        both[0][0] = x[0] * x[1]
        return both[1][0] * 3.0

    return f


def named_places():
    whole = np.zeros(3)
    both = Pair(whole, whole[:1])

    def f(x):
        both.whole[0] = x[0] * x[1]
        return both.part[0] * 3.0

    return f


def a_default_of_a_helper():
    whole = np.zeros(3)

    def helper(part=whole[:1]):
        return part[0] * 3.0

    def f(x):
        whole[0] = x[0] * x[1]
        return helper()

    return f


def views_of_views():
    whole = np.zeros((3, 3))
    part = whole[1:][:, 1:]
    row = part[0]

    def f(x):
        part[0, 0] = x[0] * x[1]
        row[0] = row[0] * x[0]
        return whole[1, 1] * 3.0

    return f


def transposed():
    whole = np.zeros((2, 3))
    turned = whole.T

    def f(x):
        whole[0, :2] = x[0] * x
        return turned[1, 0] * 3.0

    return f


def backwards():
    whole = np.zeros(3)
    turned = whole[::-1]

    def f(x):
        whole[0] = x[0] * x[1]
        turned[2] *= x[1]
        return whole[0] * 3.0

    return f


def read_and_written_in_turn():
    whole = np.array([1.0, 2.0, 3.0])
    part = whole[1:]

    def f(x):
        whole[1] = whole[0] * x[0]
        part[1] = whole[1] * x[1] + part[1]
        whole[0] = whole[2] * part[0]
        return whole[0] * x[0]

    return f


def a_list_in_a_dict():
    inner = [0.0]
    table = {"l": inner}

    def f(x):
        inner[0] = x[0] * x[1]
        return table["l"][0] * 3.0

    return f


FORMS = [
    *(names, the_part_is_written, items, attributes, places_of_a_tuple, named_places, a_default_of_a_helper),
    *(views_of_views, transposed, backwards, read_and_written_in_turn, a_list_in_a_dict),
]


def slope(make, i, x=X, step=1e-6):
    e = step * np.eye(2)[i]
    return (make()(x + e) - make()(x - e)) / (2 * step)


def along(make, call):
    return np.array([call(make(), e) for e in np.eye(2)])


WAYS = {
    "grad": lambda make: tx.grad(make(), fallback="error")(X),
    "default": lambda make: tx.grad(make())(X),
    "vjp": lambda make: tx.vjp(make(), X, fallback="error")[1](1.0),
    "jvp": lambda make: along(make, lambda f, e: tx.jvp(f, (X,), (e,), fallback="error")[1]),
    "linearize": lambda make: along(make, lambda f, e: tx.linearize(f, X, fallback="error")[1](e)),
}


@pytest.mark.parametrize("make", FORMS)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_written_under_one_name_is_read_under_another(make, way) -> None:
    expected = [slope(make, 0), slope(make, 1)]
    assert np.all(np.abs(expected) > 0)
    assert WAYS[way](make) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("make", FORMS)
def test_and_in_second_order(make) -> None:
    def gradient(x):
        return np.array([slope(make, 0, x, 1e-4), slope(make, 1, x, 1e-4)])

    step = 1e-3 * np.eye(2)
    expected = [(gradient(X + e) - gradient(X - e)) / 2e-3 for e in step]
    assert tx.hessian(make(), fallback="error")(X) == pytest.approx(np.array(expected), rel=1e-3, abs=1e-3)


WHOLE = np.zeros(3)
PART = WHOLE[:1]


def shifting(x):
    WHOLE[0] = x[0] * x[1]
    return PART[0] * 3.0


def test_a_call_after_they_were_parted_is_compiled_anew() -> None:
    global PART
    gradient = tx.grad(shifting, fallback="error")
    assert gradient(X) == pytest.approx([9.0, 6.0])
    for part, expected in ((np.zeros(1), [0.0, 0.0]), (WHOLE, [9.0, 6.0]), (WHOLE[1:], [0.0, 0.0])):
        PART = part
        assert gradient(X) == pytest.approx(expected)
    PART = WHOLE[:1]
    assert gradient(X) == pytest.approx([9.0, 6.0])


def test_other_elements_in_the_same_memory_are_refused() -> None:
    whole = np.zeros(3)
    bits = whole.view(np.int64)

    def f(x):
        whole[0] = x[0] * x[1]
        bits[0] = 0
        return whole[0] * 3.0 + x[0]

    with pytest.raises(tx.SharedMemory, match=r"test_outside_overlap.*`(whole|bits)` and `(whole|bits)` share memory"):
        tx.grad(f)(X)


@pytest.mark.parametrize("call", [lambda f, x: tx.grad(f)(x), tx.vjp, tx.linearize])
def test_an_argument_that_is_also_written_outside_is_refused(call) -> None:
    whole = np.array([2.0, 3.0])

    def f(x):
        whole[0] = x[0] * x[1]
        return whole[0] * 3.0

    with pytest.raises(tx.SharedMemory, match="an argument shares memory with `whole`"):
        call(f, whole[:])


def test_stretches_are_joined_by_what_lies_over_both() -> None:
    world, memory, a = World(), Memory(), np.zeros(10)
    parts = [a[:2], a[6:8], a[3:4], a[1:7], a[9:]]
    regions = [world.region() for _ in parts]
    for part, region in zip(parts, regions, strict=True):
        memory.add(part, region)
    memory.add(a[:0], world.region())
    assert len({id(region.root()) for region in regions[:4]}) == 1
    assert regions[4].root() is not regions[0].root()
    assert [len(arrays) for _, arrays in memory.shared()] == [4]


def test_sharing_tells_places_not_lengths() -> None:
    a = np.zeros(4)
    none = frozenset[frozenset[tuple[object, ...]]]()
    assert sharing([a, a[1:]]) == (none, {frozenset({(0,), (1,)})})
    assert sharing([a, a]) == ({frozenset({(0,), (1,)})}, {frozenset({(0,), (1,)})})
    assert sharing([a[:2], a[2:]]) == (none, none)
    assert sharing([[a, a], a]) == sharing([[a, a, a[1:]], a])
    assert sharing([{"a": a}, {"b": a[:1]}]).overlapping == {frozenset({(0, "a"), (1, "b")})}
    inner: list[float] = []
    assert sharing([inner, {"i": inner}]).same == {frozenset({(0,), (1, "i")})}
    looped: list[object] = []
    looped.append(looped)
    assert sharing([looped]).same == {frozenset({(0,), (0, "items")})}
