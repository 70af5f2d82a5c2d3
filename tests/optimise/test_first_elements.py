"""First contributions to elements of cotangents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline

DRAW = np.random.default_rng(3)


def solved(lower, b):
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return np.sum(x * x)


def neighbours(b):
    total = 0.0
    for i in range(1, len(b)):
        total = total + np.sin(b[i] * b[i - 1])
    return total


def every_second(b):
    total = 0.0
    for i in range(0, len(b) - 1, 2):
        total = total + np.sin(b[i] * b[i + 1])
    return total


def twice(b):
    total = 0.0
    for k in range(2):
        for i in range(len(b)):
            total = total + np.sin(b[i] * (k + 1.0))
    return total


def before(b):
    total = 0.0
    for i in range(len(b)):
        total = total + np.sin(b[i])
    return total * b[1]


def in_branches(b):
    total = 0.0
    for i in range(len(b)):
        if b[i] > 0.0:
            total = total + b[i] ** 2
        else:
            total = total - np.sin(b[i])
    return total


def squares(b):
    total = 0.0
    for x in b:
        if x > 3.0:
            break
        total = total + x * x
    return total


def by_a_helper(b):
    total = 0.0
    for i in range(len(b)):
        total = total + np.sin(b[i])
    return total * squares(b)


def rows(b):
    total = 0.0
    for i in range(2):
        row = b[2 * i : 2 * i + 2]
        total = total + np.sin(row @ row)
    return total


def chosen(b):
    total = 0.0
    for i in (0, 2, 2):
        total = total + np.sin(b[i])
    return total


B = DRAW.normal(size=5)
CASES: list[tuple[Any, tuple[Any, ...], bool]] = [
    (solved, (np.tril(DRAW.uniform(0.5, 1.0, size=(4, 4))) + np.eye(4), B[:4]), True),
    (neighbours, (B,), True),
    (twice, (B,), False),
    (before, (B,), True),
    (in_branches, (B,), True),
    (by_a_helper, (B,), False),
    (every_second, (B,), True),
    (rows, (B,), True),
    (chosen, (B,), False),
]


@pytest.mark.parametrize(("f", "args", "first"), CASES, ids=lambda case: getattr(case, "__name__", None))
def test_what_is_given_first_is_stored(f: Any, args: tuple[Any, ...], first: bool) -> None:
    wrt = tuple(range(len(args)))
    with pipeline.proofs(off="firsts"):
        wanted, added = tx.grad(f, wrt)(*args), tx.grad(f, wrt).source_for(*args)
    gradient = tx.grad(f, wrt)
    got = gradient(*args)
    assert all(map(np.array_equal, got, wanted))
    assert (gradient.source != added) == first


def test_the_text_of_a_triangular_system() -> None:
    text = tx.grad(solved, ("lower", "b")).source_for(*CASES[0][1])
    assert "b_bar[i] = " in text and "lower_bar[i, :i] = -" in text and "lower_bar[i, i] = -" in text
    assert "x_bar[:i] -= " in text


def test_of_two_contributions_the_first_is_stored() -> None:
    """Going back, a trip comes to its second element for the first time, and to the other one for the second."""
    text = tx.grad(neighbours).source_for(B)
    assert "b_bar[i - 1] = " in text and "b_bar[i] += " in text
    text = tx.grad(before).source_for(B)
    assert "b_bar[1] = " in text and "b_bar[i] += " in text


def parts(w, h):
    n = h.shape[0]
    for _ in range(3):
        z = w * 1.0
        h = np.tanh(z[:n]) * h + np.sin(z[n : 2 * n]) * z[2 * n :]
    return np.sum(h)


def parts_from_the_end(w, h):
    n = h.shape[0] - 4
    for _ in range(2):
        z = w * 1.0
        h = np.tanh(z[:n]) + np.sin(z[n:])
    return np.sum(h)


def test_lengths_of_what_is_bound_anew_are_none_below_zero() -> None:
    w, h = np.linspace(0.1, 0.6, 6), np.array([0.3, 0.7])
    text = tx.grad(parts, ("w", "h")).source_for(w, h)
    assert "z_bar[:n] = " in text and "z_bar[n:2 * n] = " in text and "z_bar[2 * n:] = " in text
    with pipeline.proofs(off="all"):
        wanted, other = tx.grad(parts)(w, h), tx.grad(parts_from_the_end)(w[:4], h)
    assert np.allclose(tx.grad(parts)(w, h), wanted, rtol=1e-13)
    assert np.allclose(tx.grad(parts_from_the_end)(w[:4], h), other, rtol=1e-13)  # there `n` is -2


def test_pullbacks_are_called_again() -> None:
    _, pull = tx.vjp(in_branches, B)
    first, second = pull(1.0), pull(2.0)
    assert np.allclose(second, 2.0 * np.asarray(first))
