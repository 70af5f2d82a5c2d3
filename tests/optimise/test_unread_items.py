"""Items that a loop takes and nobody reads are gone before a function is differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.testing import check_grads

x = [0.5, -1.25, 2.0]
rows = [np.array([1.0, 2.0]), np.array([0.5, -1.0])]


def buffers(rows):
    made = [np.zeros(2) for _ in rows]
    for k in range(len(rows)):
        made[k] += rows[k] * rows[k]
    return np.sum(made[0] * made[1])


def nested(x):
    total = x[0]
    for _ in x:
        for _ in x:
            total = total * x[1] + 0.1
    return total


def pairs(x):
    total = 0.0
    for a, _ in zip(x, x):
        total = total + a * a
    return total


def last(x):
    for item in x:
        pass
    return item * item


def until(x):
    for k, item in enumerate(x):
        if k == 1:
            break
    return item * item * x[2]


@pytest.mark.parametrize("f, arg", [(buffers, rows), (nested, x), (pairs, x), (last, x), (until, x)])
def test_derivatives_are_right(f: Any, arg: Any) -> None:
    check_grads(f, (arg,))
    found = tx.grad(f)(arg), tx.vjp(f, arg)[1](1.0)
    with pipeline.proofs(off="dead"):
        np.testing.assert_equal(found, (tx.grad(f)(arg), tx.vjp(f, arg)[1](1.0)))


def test_nothing_is_recorded_of_an_item_that_nobody_reads() -> None:
    assert "tape" not in tx.grad(buffers).source_for(rows)
    with pipeline.proofs(off="dead"):
        assert "tape" in tx.grad(buffers).source_for(rows)


def test_what_the_user_asks_for_by_name_stays() -> None:
    def missing(x):
        for k in range(4):
            _ = x[k]
        return x[0] * x[0]

    with pytest.raises(IndexError):
        tx.value_and_grad(missing, guarded=True)(x)
