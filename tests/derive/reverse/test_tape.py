"""Names recorded, restored and formed again in the reverse sweep, against differences and in the text."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.testing import check_grads


def lengths(x, rows):
    total = 0.0
    for i in range(rows):
        for j in range(i + 1):
            total = total * x[j - i] + x[i]
    return total


def element(u, c):
    total = 0.0
    for i in range(1, len(u)):
        left = u[i - 1]
        total = total + left * left * c
        u[i] = u[i] * left
    return total


def element_overwritten(u, c):
    total = 0.0
    for i in range(1, len(u)):
        old = u[i]
        u[i] = c * old
        total = total + old * old
    return total


def element_overwritten_by_a_callee(u, c):
    total = 0.0
    for i in range(1, len(u)):
        old = u[i]
        scale(u, c)
        total = total + old * old
    return total


def scale(u, c):
    for k in range(len(u)):
        u[k] *= c


def row_rebound(A, c):
    total = 0.0
    for i in range(len(A)):
        row = A[i]
        A = A * c
        total = total + row[0] * row[1]
    return total


def row_written(A, c):
    for i in range(1, len(A)):
        row = A[i]
        row[0] = A[i - 1, 0] * row[1] * c
        row[1] += row[0]
    return np.sum(A * A)


def left_between(x, n):
    total = 0.0
    for i in range(n):
        part = x * (i + 1.0)
        if part > 3.0:
            break
        total = total + part * part * x
    return total


CASES = [
    (lengths, (np.array([0.3, 0.5, 0.7]), 3)),
    (element, (np.array([0.3, 0.5, 0.7, 1.1]), 1.2)),
    (element_overwritten, (np.array([0.3, 0.5, 0.7, 1.1]), 1.2)),
    (element_overwritten_by_a_callee, (np.array([0.3, 0.5, 0.7, 1.1]), 1.2)),
    (row_rebound, (np.array([[0.3, 0.5], [0.7, 1.1], [1.3, 0.2]]), 1.2)),
    (row_written, (np.array([[0.3, 0.5], [0.7, 1.1], [1.3, 0.2]]), 1.2)),
    (left_between, (0.8, 6)),
]


@pytest.mark.share(1)
@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_the_gradient_is_right_with_the_proof_and_without_it(f, args) -> None:
    check_grads(f, args, wrt=tuple(range(2 if isinstance(args[1], float) else 1)))
    with pipeline.proofs(off="again"):
        check_grads(f, args)


def reverse_sweep(f, args, off: str = "") -> str:
    with pipeline.proofs(off=off or ()):
        text = tx.grad(f, wrt=0).source_for(*args)
    return str(text[text.index("reverse sweep") :])


def test_index_arithmetic_is_evaluated_again() -> None:
    case = (lengths, (np.array([0.3, 0.5, 0.7]), 3))
    assert "x_bar[j - i] +=" in reverse_sweep(*case)
    assert "x_bar[j - i] +=" not in reverse_sweep(*case, off="again")


def test_an_element_is_read_again_where_nothing_has_written_it() -> None:
    assert "left = u[i - 1]" in reverse_sweep(element, CASES[1][1])


def test_an_element_that_was_overwritten_is_recorded() -> None:
    for f in (element_overwritten, element_overwritten_by_a_callee):
        assert "old = old_tape.pop()" in reverse_sweep(f, CASES[2][1])


def test_a_view_is_found_again_although_it_was_written() -> None:
    text = reverse_sweep(row_written, CASES[5][1])
    assert "row = A[i]" in text
    assert "row_bar = A_bar[i]" in text


def test_a_view_of_a_name_bound_anew_is_recorded() -> None:
    assert "row = A[i]" not in reverse_sweep(row_rebound, CASES[4][1])
