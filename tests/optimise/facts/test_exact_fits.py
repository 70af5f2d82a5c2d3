"""Operands of the shape of what is computed of them: where nothing has to be summed, and where it has to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline


def turned(r):
    y = r * 2.0
    for k in range(1, len(r)):
        y[:k] = y[:k] + r[k] * y[:k][::-1]
    return np.sum(y * y)


def columns(a):
    out = np.zeros_like(a)
    for j in range(len(a)):
        out[j + 1 :, j] = (a[j + 1 :, j] - out[j + 1 :, :j] @ a[j, :j]) / a[j, j]
    return np.sum(out * out)


def in_a_helper(u):
    total = 0.0
    for k in range(1, len(u)):
        total = total + product(u[:k], np.sin(u)[:k]) * product(np.cos(u[k:]), u[k:])
    return total


def product(a, b):
    c = a * b
    return np.sum(c * c * a)


def shrinking(u):
    for k in range(3):
        u = u[1:] * u[:-1] + k
    return np.sum(u)


FITTING = [(turned, (4,)), (columns, (4, 4)), (in_a_helper, (4,)), (shrinking, (6,))]


# ---- these broadcast, for some lengths or always ----


def a_part_of_one(u, v):
    return np.sum(u[: len(v)] * v)


def one_row_for_all(a, b):
    c = np.zeros_like(a)
    for k in range(len(a)):
        c[k:] = a[k] * b[k:]
        c[k] = c[k] + b[k]
    return np.sum(c * c)


def two_steps(u, v):
    return np.sum(u[::2] * v[1::2])


def grown(u, v):
    for _ in range(2):
        u = u * v
    return np.sum(u * u)


def filled(u, v):
    y = np.zeros(4)
    for k in range(2):
        y[k : k + 2] = u[k:] * v
    return np.sum(y * y)


SPREADING = [
    (a_part_of_one, (4,), (1,)),
    (a_part_of_one, (1,), (4,)),
    (a_part_of_one, (4,), (4,)),
    (one_row_for_all, (3, 4), (3, 4)),
    (two_steps, (2,), (5,)),
    (two_steps, (5,), (3,)),
    (grown, (1,), (4,)),
    (grown, (4,), (1,)),
    (filled, (2,), (1,)),
    (filled, (2,), (2,)),
]


def drawn(shapes: tuple[tuple[int, ...], ...]) -> tuple[Any, ...]:
    rng = np.random.default_rng(7)
    return tuple(rng.uniform(0.5, 1.5, shape) for shape in shapes)


def slopes(fn: Callable[..., Any], args: tuple[Any, ...], i: int) -> Any:
    found = np.empty_like(args[i])
    for at in np.ndindex(found.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = [x.copy() for x in args]
            moved[i][at] += step
            ends.append(fn(*moved))
        found[at] = (ends[0] - ends[1]) / 2e-6
    return found


@pytest.mark.parametrize("case", [*FITTING, *SPREADING], ids=lambda case: f"{case[0].__name__}-{case[1:]}")
@pytest.mark.parametrize("off", [(), "lengths", "fits"])
def test_right_by_every_parameter(case: tuple[Any, ...], off: Any) -> None:
    fn, *shapes = case
    args = drawn(tuple(shapes))
    with pipeline.proofs(off):
        found = tx.grad(fn, tuple(range(len(args))), fallback="error")(*args)
    for i, each in enumerate(found):
        np.testing.assert_allclose(each, slopes(fn, args, i), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("case", FITTING, ids=lambda case: case[0].__name__)
def test_nothing_is_summed_or_recorded_for_its_shape(case: tuple[Any, ...]) -> None:
    fn, *shapes = case
    args = drawn(tuple(shapes))
    wrt = tuple(range(len(args)))
    assert "unbroadcast(" not in tx.grad(fn, wrt, fallback="error").source_for(*args)
