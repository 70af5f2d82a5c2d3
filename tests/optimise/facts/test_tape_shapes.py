"""What is popped from a tape has a known shape only if all that is appended has it."""

from __future__ import annotations

import numpy as np

import tangentx as tx
from tangentx.optimise.facts.shape_arithmetic import Lengths
from tangentx.optimise.facts.tape_shapes import is_lasting
from tangentx.testing import check_grads


def fixed(x, n):
    A = np.array([[0.9, 0.2], [0.1, 0.8]])
    v = np.zeros(2) + x
    for _ in range(n):
        v = A @ np.sin(v)
    return np.sum(v)


def growing(x, n):
    v = np.zeros(1) + x
    w = np.ones(2)
    for _ in range(n):
        v = w * np.sin(v)
    return np.sum(v)


def test_recorded_arrays_of_one_shape_need_no_unbroadcast() -> None:
    text = tx.grad(fixed).source_for(0.3, 3)
    assert "v_tape.pop()" in text
    assert "unbroadcast(" not in text.partition("---- reverse sweep ----")[2].replace("x_bar = unbroadcast(", "")
    check_grads(fixed, (0.3, 3))


def test_arrays_that_change_their_shape_on_the_way_do() -> None:
    assert "unbroadcast(" in tx.grad(growing).source_for(0.3, 3)
    check_grads(growing, (0.3, 3))


def test_a_tag_of_one_trip_does_not_last() -> None:
    assert is_lasting(Lengths((2, ("param", "x", 0), ("once", (1, 0), 1))))
    assert is_lasting(Lengths((("slice", ("param", "x", 0), 1, None, None),)))
    assert not is_lasting(Lengths((2, ("made", (1, 0), 1))))
    assert not is_lasting(Lengths((("slice", ("met", 1, "x"), 1, None, None),)))
    assert not is_lasting(None)
