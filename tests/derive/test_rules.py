"""Bodies of rules as statements."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from tangentx import templates
from tangentx.compile import pipeline
from tangentx.derive.emit import Emitter
from tangentx.derive.rules import arguments, atom_of, cotangents, times
from tangentx.errors import NoTemplate, Span
from tangentx.ir.nodes import Lit, Op, Var

SPAN = Span("flight.py", 3)
X, Y, T, Z = (Var(n) for n in "xytz")


def given(op: Op, wanted) -> tuple[list, Emitter]:
    emit = Emitter(SPAN)
    lift = pipeline.new_program().lift
    return cotangents(lift, emit, op, templates.find(op.fn), Z, T, wanted, {}), emit


def test_each_wanted_operand_has_its_cotangent() -> None:
    pairs, _ = given(Op(operator.mul, (X, Y)), lambda atom: True)
    assert [operand for operand, _ in pairs] == [X, Y]
    pairs, _ = given(Op(operator.mul, (X, Y)), lambda atom: atom == Y)
    assert [operand for operand, _ in pairs] == [Y]


def test_shapes_are_taken_where_they_are_asked_for() -> None:
    _, emit = given(Op(np.sum, (X,)), lambda atom: atom == X)
    assert any(s.value == Op(np.shape, (X,)) for s in emit.block)


def test_a_constant_partial_is_finite_and_needs_no_guard() -> None:
    emit = Emitter(SPAN)
    times(emit, templates.find(operator.mul), Lit(2.0), T)
    times(emit, templates.find(operator.mul), X, T)
    plain, guarded = emit.block
    assert plain.value == Op(operator.mul, (Lit(2.0), T)) and guarded.value.fn is not operator.mul


def test_arguments_that_do_not_fit_the_rule_are_refused_at_their_line() -> None:
    with pytest.raises(NoTemplate) as caught:
        arguments(Op(np.sin, (X, Y, T, Z)), templates.find(np.sin), SPAN)
    assert caught.value.span == SPAN


def test_atoms() -> None:
    assert atom_of(X) is X and atom_of(3) == Lit(3)
