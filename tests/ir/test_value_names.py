"""What temporaries are called."""

from __future__ import annotations

import ast
import operator

import numpy as np
import pytest

import tangentx as tx
from tangentx.arrays import clone, unbroadcast
from tangentx.ir import nodes as ir
from tangentx.ir.value_names import LONGEST, ValueNames, stem, with_stem
from tests.ir.made import ONE, SPAN, X, Y, assign, count

T, U = ir.Var("%1"), ir.Var("%2")
EXPRESSIONS = [
    (ir.Op(operator.mul, (X, Y)), "x_times_y"),
    (ir.Op(operator.mul, (ir.Lit(0.5), X)), "half_x"),
    (ir.Op(operator.mul, (X, X)), "x_squared"),
    (ir.Op(operator.truediv, (ir.Lit(1.0), X)), "one_over_x"),
    (ir.Op(operator.pow, (X, ir.Lit(3))), "x_cubed"),
    (ir.Op(operator.neg, (X,)), "minus_x"),
    (ir.Op(np.exp, (X,)), "exp_x"),
    (ir.Op(np.multiply, (X, Y)), "x_times_y"),
    (ir.Op(np.sum, (X,), (("axis", ONE),)), "x_sum"),
    (ir.Op(operator.gt, (X, ir.Lit(0))), "x_above_0"),
    (ir.Op(unbroadcast, (X, Y)), "x"),
    (ir.Index(X, ir.Key((Y, ONE), True)), "x_y_1"),
    (ir.Index(X, ir.Key((ir.Lit(-1),))), "x_last"),
    (ir.Index(X, ir.Key((ir.Slice(Y),))), "x_from_y"),
    (ir.Index(X, ir.Key((ir.Lit("w"),))), "x_w"),
    (ir.Attr(X, "shape"), "x_shape"),
    (ir.Call(ir.Link("cell_forward"), (X,)), "cell_result"),
    (ir.Op(operator.add, (X, ir.Lit(0.3))), "total"),
    (ir.Make(list, (X, Y)), "items"),
]


@pytest.mark.parametrize(("expr", "called"), EXPRESSIONS, ids=[called for _, called in EXPRESSIONS])
def test_a_temporary_is_called_after_its_expression(expr: ir.Expr, called: str) -> None:
    assert ValueNames((assign("%1", expr),)).of("%1") == called


def test_names_are_made_of_those_of_operands() -> None:
    names = ValueNames((assign("%1", ir.Op(operator.mul, (X, Y))), assign("%2", ir.Op(np.exp, (T,)))))
    assert names.of("%2") == "exp_x_times_y"
    assert names.cotangent_of("%2", "_bar") == "exp_x_times_y_bar"


def test_what_would_be_too_long_is_a_noun() -> None:
    sums = [assign(f"%{n}", ir.Op(operator.add, (ir.Var(f"%{n - 1}"), X))) for n in range(1, 12)]
    names = ValueNames((assign("%0", ir.Op(np.sin, (X,))), *sums))
    assert names.of("%1") == "sin_x_plus_x" and names.of("%3") == "total"
    assert names.of("%11") == "total" and names.cotangent_of("%11", "_bar") == "total_bar"
    assert all(len(names.of(f"%{n}")) <= LONGEST for n in range(12))


def test_a_part_of_a_cotangent_is_called_after_its_place() -> None:
    bar, part = ir.Var("x_bar"), ir.Index(ir.Var("x_bar"), ir.Key((ir.Lit(0),)))
    names = ValueNames((assign("%1:y_bar", part), assign("%2:y_bar", ir.Op(clone, (ir.Var("%1:y_bar"),)))))
    assert names.of("%1:y_bar") == "x_bar_0" and names.of("%2:y_bar") == "x_bar_0"
    assert ValueNames((assign("%1:y_bar", ir.Op(np.exp, (bar,))),)).of("%1:y_bar") == "y_bar"
    renewed = ValueNames((assign("x_bar", ir.Op(clone, (bar,))), assign("%1:y_bar", ir.Op(clone, (bar,)))))
    assert renewed.of("%1:y_bar") == "y_bar"


def test_a_sum_s_cotangent_is_called_after_it_at_last() -> None:
    assert ValueNames((assign("%1:total_bar", ir.Op(operator.mul, (X, Y))),)).of("%1:total_bar") == "x_times_y"
    far = [assign(f"%{n}", ir.Op(operator.mul, (ir.Var(f"%{n - 1}"), X))) for n in range(2, 9)]
    last = assign("%9:total_bar", ir.Op(np.sin, (ir.Var("%8"),)))
    names = ValueNames(
        (assign("%1", ir.Op(np.exp, (X,))), *far, assign("%9:total_bar", ir.Op(np.sin, (ir.Var("%8"),))))
    )
    assert names.of("%9:total_bar") == "total_bar"


def test_what_comes_off_a_tape_is_called_what_it_was_recorded_as() -> None:
    record = ir.Make(tuple, (X, T))
    body = (
        assign("%1", ir.Op(np.exp, (Y,))),
        assign("%3", record),
        ir.Append(ir.Var("tape"), ir.Var("%3"), SPAN),
        assign("%2", ir.Pop(ir.Var("tape"))),
        assign("%4", ir.Index(U, ir.Key((ONE,)))),
    )
    assert ValueNames(body).of("%4") == "exp_y"


def test_a_list_of_the_users_is_no_tape() -> None:
    body = (ir.Append(ir.Var("stack"), X, SPAN), assign("%1", ir.Pop(ir.Var("stack"))))
    assert ValueNames(body).of("%1") == "stack_last"


def test_constants_and_counters_are_no_names() -> None:
    names = ValueNames((assign("%1", ir.Lit(0.0)), count("%2", assign("x", X))))
    assert (names.of("%1"), names.of("%2"), names.of("%9")) == ("value", "k", "value")


def test_a_temporary_may_carry_its_name() -> None:
    assert stem(with_stem("%12", "x_bar")) == "x_bar" and stem("%12") is None and stem("x") == "x"
    assert with_stem("%12:x_bar", "y_bar") == "%12:y_bar" and with_stem("%12", None) == "%12"
    assert ValueNames(()).of("%12:x_bar") == "x_bar"


def test_no_name_of_a_text_is_a_letter_for_any() -> None:
    def f(x, y):  # type: ignore[no-untyped-def]
        s = np.exp(x * y) / (1.0 + np.exp(x * y))
        return np.sum(s * s) + np.sum(np.sqrt(s) * x)

    text = tx.grad(f, wrt=("x", "y")).source_for(np.ones(3), np.ones(3))
    bound = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    assert not {name for name in bound if name == "t" or name.startswith("t_")}
    assert bound & {"exp_x_times_y", "x_times_y"}
