"""Products that lose their guards, where what is not finite is found again with them."""

from __future__ import annotations

from typing import Any

import numpy as np

import tangentx as tx
from tangentx.compile import pipeline

X = np.array([0.3, 1.7])


def weighed(x, c):
    return np.sum(np.where(c > 0.0, np.sqrt(x) / c, 0.0))


def halved(x):
    return np.sum(1.0 / (x * x))


def text(fn: Any, *args: Any, wrt: Any = 0, **options: Any) -> str:
    source: str = tx.grad(fn, wrt, fallback="error", **options).source_for(*args)
    return source


def test_products_and_quotients_are_plain() -> None:
    found = text(weighed, X, X, wrt=("x", "c"))
    assert not any(name in found for name in ("guarded(", "quotient(", "ratio(", "over_root("))
    assert "guarded(" in text(weighed, X, X, wrt=("x", "c"), guarded=True)


def test_the_text_says_so() -> None:
    assert "# Products have no guards here" in text(weighed, X, X)
    assert "no guards" not in text(weighed, X, X, guarded=True)


def test_it_is_switched_off_alone() -> None:
    with pipeline.proofs("unguarded"):
        assert "guarded(" in text(weighed, X, X)


def test_a_program_without_guards_needs_no_second_text() -> None:
    assert "no guards" not in text(halved, X)


WEIGHTS = np.array([[1.0, 2.0], [np.nan, 3.0]])
KEPT = np.array([True, False])


def of_kept_rows(w, x, kept):
    return np.sum(np.where(kept, w @ x, 0.0))


def by_the_sign_of_a_slope(w, x, kept):
    slope = tx.grad(of_kept_rows, 1)(w, x, kept)
    return np.sum(x) if slope[0] > -1.0 else 5.0 * np.sum(x)


def test_products_of_matrices_are_plain_and_done_again_where_a_row_is_missing() -> None:
    x = np.array([0.5, 0.25])
    assert "careful" not in text(of_kept_rows, WEIGHTS, x, KEPT, wrt=1)
    assert "careful_matmul(" in text(of_kept_rows, WEIGHTS, x, KEPT, wrt=1, guarded=True)
    assert "careful_matmul(" in text(by_the_sign_of_a_slope, WEIGHTS, x, KEPT, wrt=1)
    np.testing.assert_array_equal(tx.grad(of_kept_rows, 1, fallback="error")(WEIGHTS, x, KEPT), [1.0, 2.0])


def test_products_of_a_derivative_inside_keep_their_guards() -> None:
    x = np.array([0.5, 0.25])
    np.testing.assert_array_equal(tx.grad(by_the_sign_of_a_slope, 1, fallback="error")(WEIGHTS, x, KEPT), [1.0, 1.0])
