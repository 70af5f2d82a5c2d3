"""What primitives give, found once in a process: the same in every program, aliases included."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from tangentx.analysis.types import operation_cache
from tangentx.analysis.types.kinds import Arr, Box, Num, Obj, World
from tangentx.analysis.types.operations import Operation
from tangentx.errors import NotResolved, Span

SPAN = Span("here.py", 1, 0, "")


class Place:
    """One application of a primitive in a world of its own."""

    def __init__(self) -> None:
        self.world = World()
        self.made = {}

    def array(self, rank=1, dtype="f8"):
        return Arr(np.dtype(dtype), rank, self.world.region())

    def kind(self, fn, *args, **kwargs):
        fresh = lambda path: self.made.setdefault(path, self.world.region())
        return Operation(self.world, fresh, SPAN).kind(fn, args, kwargs)


def same(a, b):
    return a.region.root() is b.region.root()


@pytest.fixture(autouse=True)
def _none_known(monkeypatch):
    monkeypatch.setattr(operation_cache, "_KNOWN", {})


def runs(monkeypatch):
    count = []
    real = Operation._sampled
    monkeypatch.setattr(Operation, "_sampled", lambda *args: count.append(1) or real(*args))
    return count


def test_a_primitive_is_tried_once_for_the_same_kinds(monkeypatch):
    count = runs(monkeypatch)
    for _ in range(3):
        place = Place()
        result = place.kind(operator.add, place.array(2), Num(float))
        assert (result.dtype, result.rank) == (np.dtype("f8"), 2)
    assert len(count) == 1
    place = Place()
    assert place.kind(operator.add, place.array(2, "f4"), Num(float)).dtype == np.float32
    assert len(count) == 2


def test_a_view_is_one_of_the_argument_in_hand_and_a_copy_of_none():
    for _ in range(2):
        place = Place()
        a, b = place.array(2), place.array(2)
        assert same(place.kind(np.transpose, a), a) and not same(a, b)
        place.made.clear()
        assert not same(place.kind(operator.add, a, b), a)


def test_an_argument_given_twice_is_not_two_arguments():
    first = Place()
    a, b = first.array(), first.array()
    assert operation_cache.key_of(operator.add, [a, b], ()) != operation_cache.key_of(operator.add, [a, a], ())


@pytest.mark.parametrize("fn, args", [(np.sum, ("axis", 0, 1)), (np.reshape, ("shape", (2, 3), (3, 2, 1)))])
def test_literals_count(fn, args):
    name, one, other = args
    place = Place()

    def kind(value):
        if isinstance(value, int):
            return Num(int, value=value)
        box = Box(tuple, place.world.region())
        for i, n in enumerate(value):
            box.region.put(i, Num(int, value=n))
        return box

    a = place.array(2)
    assert operation_cache.key_of(fn, [a, kind(one)], (name,)) != operation_cache.key_of(fn, [a, kind(other)], (name,))
    assert operation_cache.key_of(fn, [a, kind(one)], (name,)) == operation_cache.key_of(fn, [a, kind(one)], (name,))


def test_a_read_only_view_is_linked_each_time():
    for _ in range(2):
        place = Place()
        a = place.array(1)
        place.kind(np.broadcast_to, a, Num(int, value=3))
        assert [base.root() is a.region.root() for _, base, _ in place.world.links] == [True]


def test_a_tuple_is_made_anew():
    kinds = []
    for _ in range(2):
        place = Place()
        kinds.append(place.kind(divmod, Num(float), Num(float)))
    assert [kind.cls for kind in kinds] == [tuple, tuple] and not same(*kinds)
    assert kinds[1].region.get(0) == Num(float)


def test_what_cannot_be_tried_is_refused_each_time():
    for _ in range(2):
        with pytest.raises(NotResolved, match=r"`a \+ b`"):
            Place().kind(operator.add, Num(float), Obj("a"))


def test_containers_of_arrays_are_not_kept():
    place = Place()
    box = Box(tuple, place.world.region())
    box.region.put(0, place.array())
    assert operation_cache.key_of(np.concatenate, [box], ()) is None


def test_there_are_never_too_many(monkeypatch):
    monkeypatch.setattr(operation_cache, "LIMIT", 2)
    for rank in range(1, 6):
        place = Place()
        assert place.kind(operator.neg, place.array(rank)).rank == rank
        assert len(operation_cache._KNOWN) <= 2
