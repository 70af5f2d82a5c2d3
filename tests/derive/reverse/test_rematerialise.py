"""What is formed again in the reverse sweep, and where that would be wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.derive.emit import Frame
from tangentx.derive.reverse.rematerialise import plan
from tests.analysis.made import analysed


def lengths(x, rows):
    total = 0.0
    for i in range(rows):
        for j in range(i + 1):
            total = total * x[j - i] + x[i]
    return total


def carried(x, n):
    v = x
    for _ in range(n):
        slope = v + 1.0
        if v < 2.0:
            v = v * slope
        v = v - 0.1 * v * slope
    return v


def through_a_view(A, n):
    for i in range(n):
        row = A[i]
        row[:] = row * row
        row[0] = row[1] * A[i - 1, 0]
    return np.sum(A)


def left_between(x, n):
    v = x
    for k in range(n):
        twice = v * 2.0
        if v > 3.0:
            break
        v = v + twice * v
    return v


def overwritten(x, n):
    for i in range(1, n):
        left = x[i - 1]
        x[i - 1] = 0.5 * left
        x[i] = x[i] * left
    return x[n - 1]


def factorised(A, n):
    L = np.zeros_like(A)
    for j in range(n):
        row = L[j, :j]
        d = math.sqrt(A[j, j] - row @ row)
        L[j, j] = d
        L[j + 1 :, j] = (A[j + 1 :, j] - L[j + 1 :, :j] @ row) / d
    return np.sum(L * L * L)


def told(x, n):
    rows = np.zeros((n, 2))
    total = 0.0
    for k in range(n):
        row = np.exp(x * x[0])
        rows[k] = row
        total = total + np.sum(row * row * x)
    return total + np.sum(rows)


def told_and_overwritten(x, n):
    rows = np.zeros((n, 2))
    total = 0.0
    for k in range(n):
        row = np.exp(x * x[0])
        rows[0] = row
        total = total + np.sum(row * row * x)
    return total + np.sum(rows)


def told_and_changed(x, n):
    rows = np.zeros((n, 2))
    total = 0.0
    for k in range(n):
        row = np.exp(x * x[0])
        rows[k] = row
        row[0] = x[1]
        total = total + np.sum(row * row * x)
    return total + np.sum(rows)


def told_of_single_precision(x, n):
    rows = np.zeros((n, 2), dtype=np.float32)
    total = 0.0
    for k in range(n):
        row = np.exp(x * x[0])
        rows[k] = row
        total = total + np.sum(row * row * x)
    return total


def asked(v, n):
    for _ in range(n):
        if v > 1.0:
            v = 0.5 * v * v
    return v


def planned(f: Any, *values: Any) -> set[str]:
    program, instance = analysed(f, *values)
    return plan(Frame(program, instance, "_bar"), False, lambda proof: proof != "sparing").names


def test_index_arithmetic_is_evaluated_again() -> None:
    gradient = tx.grad(lengths)
    x = np.array([0.3, 0.5, 0.7])
    text = gradient.source_for(x, 3)
    assert "x_bar[j - i] +=" in text[text.index("reverse sweep") :]
    with pipeline.proofs(off="again"):
        plain = gradient.source_for(x, 3)
        assert " = j - i" not in plain[plain.index("reverse sweep") :]


def test_what_changes_before_it_is_asked_for_is_recorded() -> None:
    assert "slope" not in planned(carried, 0.3, 2)
    assert "left" not in planned(overwritten, np.array([0.3, 0.5, 0.7]), 3)
    assert "twice" not in planned(left_between, 0.3, 2)


def test_a_test_is_recorded_where_its_branch_changes_what_it_asks() -> None:
    text = tx.grad(asked).source_for(2.0, 2)
    assert text.count("v > 1.0") == 1


def test_views_are_formed_again() -> None:
    assert "row" in planned(through_a_view, np.ones((2, 2)), 2)
    text = tx.grad(through_a_view).source_for(np.ones((2, 2)), 2)
    assert "row = A[i]" in text[text.index("reverse sweep") :]
    assert "append(row)" not in text


def test_what_is_written_into_an_array_is_read_there() -> None:
    for f, x in ((factorised, np.eye(3) + 0.1), (told, np.array([0.3, 0.5]))):
        assert "append(" not in tx.grad(f).source_for(x, 3)


@pytest.mark.parametrize("f", [told_and_overwritten, told_of_single_precision])
def test_what_does_not_stand_there_for_good_is_recorded(f: Any) -> None:
    assert "append(" in tx.grad(f).source_for(np.array([0.3, 0.5]), 3)


@pytest.mark.parametrize("off", [(), "again", "all"])
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lengths, (np.array([0.3, 0.5, 0.7]), 3)),
        (carried, (0.3, 3)),
        (through_a_view, (np.array([[0.3, 0.5], [0.7, 1.1], [0.2, 0.9]]), 3)),
        (left_between, (0.4, 4)),
        (overwritten, (np.array([0.3, 0.5, 0.7, 0.2]), 4)),
        (asked, (2.2, 3)),
        (factorised, (np.array([[4.0, 0.5, 0.7], [0.4, 5.0, 1.1], [0.2, 0.9, 6.0]]), 3)),
        (told, (np.array([0.3, 0.5]), 3)),
        (told_and_overwritten, (np.array([0.3, 0.5]), 3)),
        (told_and_changed, (np.array([0.3, 0.5]), 3)),
    ],
)
def test_gradients_agree_with_differences(f: Any, args: tuple[Any, ...], off: Any) -> None:
    with pipeline.proofs(off=off):
        found = tx.grad(f)(*args)
    x, eps = np.asarray(args[0], dtype=float), 1e-6
    expected = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[at] = eps
        up, down = ((x + s)[()] if x.shape == () else x + s for s in (step, -step))
        expected[at] = (f(up, *args[1:]) - f(down, *args[1:])) / (2 * eps)
    assert np.allclose(found, expected, rtol=1e-6)
