"""Reverse of bindings: shadows of views, and cotangents given to operands."""

from __future__ import annotations

import numpy as np
import pytest

from tangentx.errors import UnsupportedSyntax
from tangentx.testing import check_grads
from tests.analysis.made import in_order
from tests.derive.made import reverse_text


def view(A):
    r = A[0]
    r[0] = 2.0
    return np.sum(A)


def test_a_view_has_the_view_of_the_shadow() -> None:
    forward, _, reverse = reverse_text(view, np.ones((2, 2))).partition("reverse sweep")
    assert in_order(forward, "A = entry_copy(A)", "A_bar = zero(A)", "= A[0]", "= A_bar[0]", "r_bar = ")
    assert in_order(reverse, "A_bar[Ellipsis] accumulate", "r_tape.pop()", "r_bar[0] = 0.0")


def maybe(A):
    B = np.ravel(A)
    B[0] = 2.0
    return np.sum(A)


def maybe_in_a_loop(A):
    for _ in range(2):
        B = np.ravel(A)
        B[0] = 2.0
    return np.sum(A)


def test_what_may_be_a_view_is_asked_at_run_time() -> None:
    assert in_order(reverse_text(maybe, np.ones((2, 2))), "= shares", "if shared:", "reverse sweep", "if shared:")
    text = reverse_text(maybe_in_a_loop, np.ones((2, 2)))
    assert in_order(text, "= shares", "shared_tape.append(shared)", "reverse sweep", "shared_tape.pop()")


def hidden(A):
    parts = np.ix_(A, A)
    A[0] = 2.0
    return np.sum(parts[0])


def several(A):
    first, second = np.atleast_1d(A, A[::-1])
    first[0] = 2.0 * second[1]
    second[0] = 3.0 * first[1]
    return np.sum(A * np.arange(1.0, 5.0))


def test_several_views_at_once_are_taken_one_by_one_or_refused() -> None:
    check_grads(several, (np.ones(4),), order=2)
    with pytest.raises(UnsupportedSyntax, match="several views"):
        reverse_text(hidden, np.ones(4))


def packed(x):
    p = (x, 3)
    return p[0] * p[1]


def test_a_shadow_container_holds_zeros_and_none() -> None:
    forward, _, reverse = reverse_text(packed, 2.0).partition("reverse sweep")
    assert "make list(0.0, None)" in forward
    assert in_order(reverse, "p_bar[0] = ", "= p_bar[0]", "x_bar = add(x_bar")


def test_an_array_that_nobody_writes_or_indexes_is_a_value() -> None:
    found = reverse_text(lambda A: np.sum(A * A), np.ones(3))
    assert "A_bar = add(A_bar" in found and "tape" not in found and "entry_copy" not in found
