"""What a call reaches: what its arguments hold, though others change that meanwhile."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.tensor.core.containers import consist_of
from tangentx.tensor.core.modes import Program, during
from tangentx.tensor.fallback.reachable import active_in
from tangentx.tensor.fallback.special_methods import touch


class Changing(list):
    """Another thread changes its size while it is read for the first time."""

    reads = 0

    def __iter__(self):
        self.reads += 1
        for item in super().__iter__():
            if self.reads == 1:
                raise RuntimeError("deque mutated during iteration")
            yield item


def test_what_another_thread_changes_is_read_again() -> None:
    t = tx.tensor(1.5, requires_grad=True)
    assert active_in(Changing([2, t])) is t
    assert active_in({"k": Changing([2, 3])}) is None


def test_what_cannot_be_read_raises_what_it_raises() -> None:
    class Broken(list):
        def __iter__(self):
            raise RuntimeError("closed")

    with pytest.raises(RuntimeError, match="closed"):
        active_in(Broken([1]))


TABLE: dict[str, Any] = {"value": None}


def reads_the_table(y):
    return y * TABLE["value"]


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_a_value_is_found_behind_whatever_number_of_others() -> None:
    """What lay behind 100,000 objects was a constant, silently."""

    def f(x):
        TABLE["value"] = x * 2.0
        return eval("x") * tx.grad(reads_the_table)(3.0)

    TABLE["others"] = [[k] for k in range(100_000)]
    try:
        assert tx.grad(f)(1.5) == 6.0
    finally:
        del TABLE["others"]


@pytest.mark.parametrize("item", [(1.0, "a"), (), 2.0, np.float64(2.0)])
def test_plain_tuples_need_no_looking_after(item: Any) -> None:
    """A list that one was put into was looked through in the end, at each call."""
    program, row = Program(), []
    during(lambda: touch(row, item), honest=True, program=program)
    assert program.touched.values() == []


@pytest.mark.parametrize("item", [([],), ((1.0, []),), ((tx.tensor(1.0),),), [1.0], (1.0, ((),))])
def test_what_may_hold_a_tensor_is_looked_after(item: Any) -> None:
    program, row = Program(), []
    during(lambda: touch(row, item), honest=True, program=program)
    assert program.touched.values() == [row]
    assert not consist_of(frozenset((float,)), [1.0, item])


def test_an_iterator_that_has_ended_in_part_is_looked_into() -> None:
    """Its tuple has places that hold nothing: to read them was a segmentation fault."""
    t = tx.tensor(1.5, requires_grad=True)
    pairs = itertools.zip_longest([2.0], [3.0, t], fillvalue=0.0)
    assert (next(pairs), next(pairs)) == ((2.0, 3.0), (0.0, t))
    assert active_in(pairs) is t
    assert active_in(itertools.zip_longest([2.0], fillvalue=[t])) is t


def padded(x):
    total = 0.0
    rows = [itertools.zip_longest([x, x * x], [1.0, 2.0, 3.0], fillvalue=1.0)]
    for a, b in rows[0]:
        total += a * b
    return total


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
def test_a_program_may_keep_such_an_iterator() -> None:
    assert tx.grad(padded)(0.5) == 1.0 + 2.0 * 2.0 * 0.5
