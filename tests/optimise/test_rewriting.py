"""When a copy will do in the place of an operation, and the kinds of atoms."""

from __future__ import annotations

import operator

import numpy as np

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Num
from tangentx.ir.nodes import Assign, Lit, Op, Var
from tangentx.optimise.rewriting import Rewriter, is_number, run_each
from tangentx.optimise.sign_normalisation import Signs
from tangentx.optimise.simplify import Simplify
from tangentx.optimise.zero_propagation import Zeros
from tests.optimise.support import every, operations, unit_of


def gives_back(x):
    y = x * 2.0
    return y


def of_two_passes(x, y):
    zero = 0.0
    a = x + zero
    t = -y
    return a * 1.0 + t


def gives_back_two(x, y):
    a = x * y
    b = x * y
    return a, b


def writes(x):
    y = x * 2.0
    y[0] = 1.0
    return np.sum(y)


def test_an_argument_that_is_given_back_is_copied() -> None:
    program, unit = unit_of(gives_back, np.ones(3))
    (made,) = [s for s in every(unit) if isinstance(s, Assign) and s.target == "y"]
    same = Rewriter(program, unit).same(made, Var("x"))
    assert isinstance(same, Assign)
    assert isinstance(same.value, Op)
    assert same.value.fn is arrays.clone


def test_two_results_are_two_arrays() -> None:
    program, unit = unit_of(gives_back_two, np.ones(3), np.ones(3), reverse=True)
    second = next(s for s in every(unit) if isinstance(s, Assign) and s.target == "b")
    walk = Rewriter(program, unit)
    walk.block(unit.body[:1])
    copied = walk.same(second, Var("a"))  # `a` has one reader, which is not the statement in hand
    assert isinstance(copied, Assign)
    assert copied.value == Op(arrays.clone, (Var("a"),))


def test_what_is_written_is_never_shared() -> None:
    program, unit = unit_of(writes, np.ones(3))
    made = next(s for s in every(unit) if isinstance(s, Assign) and s.target == "y")
    assert Rewriter(program, unit).same(made, Var("x")) is None


def test_kinds_of_atoms() -> None:
    program, unit = unit_of(gives_back, np.ones(3))
    assert isinstance(unit.kind(program, Var("x")), Arr)
    assert unit.kind(program, Lit(2)) == Num(int, value=2)


def test_a_number_is_no_truth_value() -> None:
    assert is_number(Lit(1), 1.0)
    assert not is_number(Lit(True), 1.0)
    assert not is_number(Var("x"), 1.0)


def test_passes_share_a_walk_and_each_sees_what_the_one_before_has_written() -> None:
    program, unit = unit_of(of_two_passes, 2.0, 3.0, reverse=True)
    assert run_each(program, [unit], Zeros, Simplify, Signs)
    assert operations(unit) == [operator.neg, operator.sub]


def test_a_rule_that_is_not_chosen_writes_nothing() -> None:
    program, unit = unit_of(of_two_passes, 2.0, 3.0, reverse=True)
    assert run_each(program, [unit], Signs)
    assert operations(unit) == [operator.add, operator.neg, operator.mul, operator.sub]


def test_a_body_that_nothing_changes_is_the_very_same() -> None:
    program, unit = unit_of(writes, np.ones(3), reverse=True)
    assert Rewriter(program, unit).whole() is unit.body
