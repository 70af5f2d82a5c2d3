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
