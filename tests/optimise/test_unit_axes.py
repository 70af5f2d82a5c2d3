"""Sums that keep an axis of length one, added to views that have one put in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline

DRAW = np.random.default_rng(3)
V, W, A, B, T = (DRAW.uniform(0.5, 1.5, size=n) for n in (3, 4, (3, 4), (4, 4), (3, 2, 4)))


def of_columns(v, a):
    w = np.exp(v)[..., None] * a
    return np.sum(w * w)


def of_rows(v, a):
    return np.sum(np.sin(v[None] * a) * a)


def of_differences(b):
    d = b[None, :, :] - b[:, None, :]
    return np.sum(np.sqrt(np.sum(d * d, axis=2) + 0.1))


def in_a_loop(v, a):
    total = 0.0
    for _ in range(3):
        total = total + np.sum(np.cos(v[:, None] * a))
        v = 1.5 * v
    return total


def of_one_sum(v, a):
    return np.sum(np.sin(v[:, None] + (2.0 * v)[:, None] + a))


CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (of_columns, (V, A)),
    (of_rows, (W, A)),
    (of_differences, (B,)),
    (in_a_loop, (V, A)),
]


@pytest.mark.parametrize(("f", "args"), CASES)
def test_neither_the_view_nor_the_axis_is_left(f: Any, args: tuple[Any, ...]) -> None:
    with pipeline.proofs(off="axes"):
        plain = tx.grad(f)
        wanted = plain(*args)
        assert "keepdims=True" in plain.source
    gradient = tx.grad(f)
    assert np.allclose(gradient(*args), wanted, rtol=1e-13, atol=0)
    assert "keepdims=True" not in gradient.source and "+=" not in gradient.source.split("None] *")[0]


def test_a_sum_that_two_are_given_keeps_its_axis() -> None:
    with pipeline.proofs(off="axes"):
        wanted = tx.grad(of_one_sum)(V, A)
    assert np.array_equal(tx.grad(of_one_sum)(V, A), wanted)


def test_other_axes_stay() -> None:
    """The sum goes along the last axis, and the view has the first one put in."""

    def f(b, t):
        b = b.copy()
        view = b[None]
        view += np.sum(t, axis=2, keepdims=True)
        return np.sum(b * b)

    t = DRAW.normal(size=(1, 4, 4))
    b = B + np.sum(t[0], axis=1, keepdims=True)
    assert np.allclose(tx.grad(f, "t")(B, t), 2.0 * np.sum(b, axis=1)[None, :, None] * np.ones((1, 4, 4)))


def test_a_loop_binds_what_it_makes_anew() -> None:
    """The cotangent of what each trip binds is not made as a zero first."""
    text = tx.grad(in_a_loop).source_for(V, A)
    assert "v_bar = 1.5 * v_bar" in text
