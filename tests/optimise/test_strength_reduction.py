"""Reciprocals and multiples that are at hand take the place of divisions and products."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import tangentx as tx
from tangentx.analysis.types.kinds import Num
from tangentx.ir.nodes import Assign, Op
from tangentx.ir.walk import statements
from tangentx.optimise import strength_reduction
from tests.optimise.support import WAYS, differences, gradient, operations, unit_of

A = np.array([0.4, 1.3, 2.1])


def divided(t, y):
    r = 1.0 / y
    return t / y + r


def divided_where_nothing_is_at_hand(t, y):
    r = 2.0 / y
    return t / y + r


def divided_by_what_was_bound_anew(t, y):
    r = 1.0 / y
    y = y * r
    return t / y + r


def divided_by_what_is_written(t, y):
    r = 1.0 / y
    y[0] = 3.0
    return t / y + r


def divided_in_another_type(t, y):
    r = 1.0 / y
    return t / y + r


def multiplied(t, x):
    p = 0.5 * x
    u = x * t
    return 0.5 * u + p


def multiplied_by_what_others_read(t, x):
    p = 0.5 * x
    u = x * t
    return 0.5 * u + p + u


@pytest.mark.parametrize(
    ("f", "args", "gone"),
    [
        (divided, (A, A), 1),
        (divided, (2.0, 3.0), 1),
        (divided_where_nothing_is_at_hand, (A, A), 0),
        (divided_by_what_was_bound_anew, (A, A), 0),
        (divided_by_what_is_written, (A, A.copy()), 0),
        (divided_in_another_type, (A.astype(np.float32), A), 0),
    ],
)
def test_divisions(f, args, gone) -> None:
    program, unit = unit_of(f, *args, reverse=True)
    before = operations(unit).count(operator.truediv)
    assert strength_reduction.run(program, [unit]) == bool(gone)
    assert operations(unit).count(operator.truediv) == before - gone


@pytest.mark.parametrize(("f", "changed"), [(multiplied, True), (multiplied_by_what_others_read, False)])
def test_products(f, changed) -> None:
    program, unit = unit_of(f, A, A, reverse=True)
    assert strength_reduction.run(program, [unit]) == changed


def scaled(x, n):
    return 2.0 * x * n


def scaled_to_the_left(x, n):
    return n * (0.5 * x)


def scaled_by_no_power_of_two(x, n):
    return 3.0 * x * n


@pytest.mark.parametrize(
    ("f", "args", "changed"),
    [
        (scaled, (A, 1.3), True),
        (scaled_to_the_left, (A, 1.3), True),
        (scaled, (A, np.float64(1.3)), True),
        (scaled, (A, A), False),
        (scaled, (A, 3), False),
        (scaled, (np.arange(3), 1.3), False),
        (scaled_by_no_power_of_two, (A, 1.3), False),
    ],
)
def test_a_power_of_two_goes_to_the_number(f, args, changed) -> None:
    program, unit = unit_of(f, *args, reverse=True)
    assert strength_reduction.run(program, [unit]) == changed
    made = [s for s in statements(unit.body) if isinstance(s, Assign) and isinstance(s.value, Op)]
    assert any(isinstance(unit.kinds[each.target], Num) for each in made) == changed


def bell(x, s):
    return np.sum(1.0 / (1.0 + np.exp(0.3 * x * x)) * s)


def cube(x, s):
    return 0.25 * x * x * x * s


@pytest.mark.parametrize("off", WAYS)
def test_gradients_are_the_same(off) -> None:
    assert np.allclose(gradient(bell, (A, 1.3), off), differences(bell, (A, 1.3)), rtol=1e-6)
    assert np.isclose(gradient(cube, (0.7, 1.3), off), differences(cube, (0.7, 1.3)), rtol=1e-6)


def smoothed(u, k):
    for n in range(3):
        u[1:-1] += 0.1 * (u[:-2] - 2.0 * u[1:-1] + u[2:])
    return np.sum(u**2) * k


def test_one_multiple_serves_all_and_spares_a_copy() -> None:
    text = tx.grad(smoothed).source_for(np.arange(5.0), 1.3)
    assert "total_bar = 0.1 * u_bar[1:-1]" in text and "u_bar[1:-1] -= 2.0 * total_bar" in text
    assert "clone" not in text
    assert np.allclose(tx.grad(smoothed)(np.arange(5.0), 1.3), differences(smoothed, (np.arange(5.0), 1.3)), rtol=1e-6)
