"""What a derivative is compiled for."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

from tangentx.arrays.signatures import key, overlaps, storages

Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "a, b",
    [
        (1.0, 2.0),
        (1, 2),
        (np.ones(2), np.ones(5)),
        ([1.0], [1.0, 2.0]),
        ({"a": 1.0}, {"a": 2.0}),
        (Point(1.0, 2), Point(3.0, 4)),
    ],
)
def test_numbers_and_shapes_do_not_count(a, b) -> None:
    assert key(a) == key(b) and hash(key(a)) == hash(key(b))


@pytest.mark.parametrize(
    "a, b",
    [
        (1, 1.0),
        (True, False),
        ("a", "b"),
        (np.ones(2), np.ones(2, "f4")),
        (np.ones(2), np.ones((2, 2))),
        ((1.0,), (1.0, 2.0)),
        ([1.0], (1.0,)),
        ([1.0, 1.0], [1.0, 1]),
        ({"a": 1.0}, {"b": 1.0}),
        (np.float64(1), 1.0),
    ],
)
def test_kinds_and_literals_count(a, b) -> None:
    assert key(a) != key(b)


def test_overlaps_are_pairs_of_what_shares_memory() -> None:
    a = np.zeros(4)
    assert overlaps((a, np.zeros(4))) == ()
    assert overlaps((a, a[1:])) == ((0, 1),)
    assert overlaps((a[:2], a[2:])) == ()
    shared = [1.0]
    assert len(overlaps((shared, {"k": shared}))) == 1


def test_storages_of_a_structure_that_holds_itself() -> None:
    ring: list[object] = [np.zeros(1)]
    ring.append(ring)
    assert sum(isinstance(s, np.ndarray) for s in storages((ring,))) == 1


def test_what_holds_itself_has_a_key() -> None:
    def looped(value):
        items = [value]
        items.append(items)
        return items

    assert key(looped(1.0)) == key(looped(2.0)) != key(looped(1))
