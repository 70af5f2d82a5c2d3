"""Which names live within one trip of a loop, and what that proof changes in the text."""

from __future__ import annotations

import numpy as np

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.derive.reverse.tape import block_locals
from tangentx.frontend.lift import lift


def recurrent(x, n):
    total = 0.0
    for i in range(n):
        square = x * total + i
        total = total + square * square
    return total


def left_early(x, n):
    total = 0.0
    for i in range(n):
        square = x * total + i
        if square > 10.0:
            break
        total = total + square * square
    return total


def in_a_branch(x, n):
    total = 0.0
    for i in range(n):
        if i % 2:
            twice = x * total
            total = total + twice * twice
    return total


def carried(x, n):
    last = x
    total = 0.0
    for _ in range(n):
        total = total + last * x
        last = total * 0.5
    return total


def used_after(x, n):
    last = x
    for i in range(n):
        last = x * i
    return last * x


def test_a_name_bound_and_read_in_a_trip_is_found() -> None:
    found = block_locals(lift(recurrent).body)
    assert "square" in found
    assert "total" not in found


def test_carried_names_and_names_used_after_the_loop_are_not() -> None:
    assert "last" not in block_locals(lift(carried).body)
    assert "last" not in block_locals(lift(used_after).body)


def test_a_passage_may_end_early_or_be_that_of_a_branch() -> None:
    assert "square" in block_locals(lift(left_early).body)
    assert "twice" in block_locals(lift(in_a_branch).body)


def test_the_proof_takes_records_away_and_nothing_else() -> None:
    gradient = tx.grad(recurrent)
    proved = gradient(0.3, 4)
    assert "None" not in gradient.source_for(0.3, 4)
    for off in ("trips", "again", "all"):
        with pipeline.proofs(off=off):
            assert np.isclose(gradient(0.3, 4), proved, rtol=1e-13)
    with pipeline.proofs(off=("trips", "again")):
        assert "= None" in gradient.source_for(0.3, 4)


def test_a_name_is_restored_only_if_its_trip_came_to_it() -> None:
    for f in (left_early, in_a_branch):
        gradient = tx.grad(f)
        for n in (0, 1, 4, 9):
            proved = gradient(1.7, n)
            with pipeline.proofs(off="all"):
                assert np.isclose(gradient(1.7, n), proved, rtol=1e-13)
        assert "None" not in gradient.source_for(1.7, 4)
