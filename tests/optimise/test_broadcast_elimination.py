"""Numbers and rows that a sum's adjoint repeats, and sums that undo a broadcasting."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import tangentx as tx
from tangentx import arrays
from tangentx.compile import pipeline
from tangentx.optimise import broadcast_elimination
from tests.optimise.support import operations, unit_of

A = np.arange(1.0, 7.0).reshape(2, 3)


def number(x, s):
    return x * arrays.unreduce(s, np.shape(x), None, False)


def number_elsewhere(x, y, s):
    return x * arrays.unreduce(s, np.shape(y), None, False)


def row_along_the_last(x, r):
    return x / arrays.unreduce(r, np.shape(x), 1, False)


def row_along_the_first(x, r):
    return x - arrays.unreduce(r, np.shape(x), 0, False)


def kept(x, r):
    return arrays.unreduce(r, np.shape(x), -1, True) * x


def alone(x, s):
    return -arrays.unreduce(s, np.shape(x), None, False)


def written(x, s):
    full = np.full(np.shape(x), s)
    full[0] = 7.0
    return x * full


def added(x, s):
    x[...] += np.full(np.shape(x), s)
    return x


def rerun(f, *args):
    program, unit = unit_of(f, *args, reverse=True)
    changed = broadcast_elimination.run(program, [unit])
    return changed, operations(unit)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (number, (A, 2.0)),
        (row_along_the_last, (A, np.ones(2))),
        (row_along_the_first, (A, np.ones(3))),
        (kept, (A, np.ones((2, 1)))),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_what_meets_an_array_of_the_shape_is_not_repeated(f, args) -> None:
    changed, _ = rerun(f, *args)
    assert changed


def test_what_meets_an_array_of_another_shape_is() -> None:
    program, unit = unit_of(number_elsewhere, A, np.ones(3), 2.0, reverse=True)
    broadcast_elimination.run(program, [unit])
    assert np.full in operations(unit)


def test_the_sign_first() -> None:
    changed, found = rerun(alone, A, 2.0)
    assert changed
    assert found == [np.shape, np.full, operator.neg, np.full]


def test_what_is_written_is_no_repeated_number() -> None:
    changed, _ = rerun(written, A, 2.0)
    assert not changed


def two(x):
    table = x * x
    return np.sum(table - np.mean(table, axis=1, keepdims=True)) + np.sum(np.mean(table, axis=0) * table[0])


def weights(x, b, c):
    return np.sum(np.sin(x + b) * c)


def test_gradients_are_the_same() -> None:
    for f, args in ((two, (A,)), (weights, (A, np.ones(3), np.ones((2, 1)))), (weights, (A, np.ones((1, 3)), A))):
        wrt = tuple(range(len(args)))
        with pipeline.proofs(off="all"):
            wanted = tx.grad(f, wrt=wrt)(*args)
        with pipeline.proofs(off="spreads"):
            without = tx.grad(f, wrt=wrt)(*args)
        for found, other, like in zip(tx.grad(f, wrt=wrt)(*args), without, wanted, strict=True):
            np.testing.assert_allclose(found, like, atol=1e-12)
            np.testing.assert_allclose(other, like, atol=1e-12)


def test_a_broadcasting_is_undone_by_a_sum() -> None:
    gradient = tx.grad(weights, wrt=("x", "b", "c"))
    text = gradient.source_for(A, np.ones(3), np.ones((2, 1)))
    assert "np.sum(" in text
    assert "axis=0)" in text
    assert "axis=1, keepdims=True)" in text
    assert "unbroadcast" not in text
    assert "unbroadcast" in gradient.source_for(A, np.ones((3,), np.float32), np.ones((2, 1)))


def test_a_number_is_added_as_it_is() -> None:
    changed, _ = rerun(added, A, 2.0)
    assert changed
