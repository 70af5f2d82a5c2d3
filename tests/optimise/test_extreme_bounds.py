"""Of the larger and the smaller of a number and a bound, the number alone is compared with the bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.ir.nodes import Assign, If, Lit, Make, Var
from tangentx.optimise.extreme_bounds import _Bounds
from tests.optimise.support import unit_of


def above(a, b):
    return max(a, 0.0) * b + max(1, a) * a


def below(a, b):
    return min(a, 2) * b + min(-0.5, a * b)


def by_whole_numbers(a, b):
    total = 0.0
    for k in range(3):
        total = total + max(a, k) * min(k, b)
    return total


def bound_anew(a, b):
    first = max(a, 0.0)
    a = b * 2.0
    second = max(a, 0.0)
    return first * second + a


def of_a_float(a, b):
    return max(a, 0.0) * b


PROGRAMS = (above, below, by_whole_numbers, bound_anew)
POINTS = (
    (0.5, 1.5),
    (0.0, 0.0),
    (-1.0, 2.0),
    (2.0, -1.0),
    (1.0, 1.0),
    (math.inf, 1.0),
    (math.nan, 1.0),
    (1.0, math.nan),
)


def three(a, b):
    return max(a, 0.0, b)


def varying(a, b):
    return max(a, b)


def of_a_list(a, b):
    return max([a, 0.0]) * b


def of_arrays(a, b):
    return np.maximum(a, 0.0) * b


def all_of(f: Any, *args: Any) -> Any:
    found = [tx.grad(f, wrt=(0, 1), guarded=guarded)(*args) for guarded in (False, True)]
    return *found, tx.jvp(f, args, (1.0, 0.5)), tx.jvp(f, args, (0.0, -1.0)), tx.hessian(f, wrt=(0, 1))(*args)


@pytest.mark.parametrize("args", POINTS)
@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives_are_those_of_the_general_rule(f: Any, args: tuple[float, float]) -> None:
    assert "if_" in tx.grad(f).source_for(*args) and "best" not in tx.grad(f).source_for(*args)
    found = all_of(f, *args)
    with pipeline.proofs(off="bounds"):
        expected = all_of(f, *args)
        assert "if_" not in tx.grad(f).source_for(*args)
    np.testing.assert_equal(found, expected)


@pytest.mark.parametrize("f", [three, varying, of_a_list, of_arrays])
def test_others_are_compared_with_the_result(f: Any) -> None:
    assert "if_above" not in tx.grad(f, wrt=(0, 1)).source_for(1.0, 2.0)
    np.testing.assert_equal(tx.grad(varying, wrt=(0, 1))(1.0, math.nan), (1.0, 0.0))  # the nan is not the larger one


def test_tuples_of_names_that_are_bound_anew_are_forgotten() -> None:
    program, unit = unit_of(above, 0.5, 1.5)
    span = unit.function.span
    pairs = {"one": ("a", "b"), "two": ("b", "b"), "three": ("a", "a")}
    made = [Assign(name, Make(tuple, tuple(map(Var, items))), span) for name, items in pairs.items()]
    bounds = _Bounds(program, unit)
    bounds.block((*made, Assign("a", Lit(1.0), span)))
    assert list(bounds.held) == ["two"]
    bounds.block((made[0], Assign("two", Lit(1.0), span), If(Lit(True), (), (), span)))
    assert not bounds.held


def test_numpy_s_numbers_stay_so() -> None:
    found = tx.grad(above)(np.float64(-1.0), np.float64(2.0))
    assert type(found) is np.float64 and found == 1.0


def test_nothing_changes_under_jit() -> None:
    expected = tx.grad(of_a_float, wrt=(0, 1))(0.3, 0.7)
    assert tx.grad(of_a_float, wrt=(0, 1), jit="python")(0.3, 0.7) == expected
