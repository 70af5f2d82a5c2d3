"""What is written over an operand has its shape; what may be another array's does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.derive.reverse.shadows import filling
from tangentx.frontend.lift import lift
from tangentx.ir import nodes as ir
from tests.optimise.support import WAYS, differences, gradient

X, ONE = np.array([0.3, 0.7, 1.1]), np.array([0.4])


def statement(target: str, *operands: str) -> ir.Assign:
    args = tuple(ir.Var(name) for name in operands)
    return ir.Assign(target, ir.Op(np.add, args), SPAN)


SPAN = lift(lambda: 0).span
WRITE = ir.Store(ir.Var("a"), ir.Key((ir.Lit(Ellipsis),)), ir.Var("t"), SPAN)
NEW = ir.Assign("a", ir.Var("b"), SPAN)


def test_the_operation_and_the_write() -> None:
    made = statement("t", "a", "b")
    assert filling((made, WRITE)) == {id(made): ir.Var("a"), id(WRITE): ir.Var("a")}


@pytest.mark.parametrize(
    "body",
    [
        (statement("t", "b", "b"), WRITE),
        (statement("t", "a", "b"), NEW, WRITE),
        (statement("t", "a", "b"), ir.If(ir.Var("c"), (NEW,), (), SPAN), WRITE),
        (statement("t", "a", "b"), ir.Assign("t", ir.Var("b"), SPAN), WRITE),
        (ir.Assign("t", ir.Op(np.outer, (ir.Var("a"), ir.Var("b"))), SPAN), WRITE),
        (WRITE, statement("t", "a", "b")),
    ],
)
def test_what_is_none(body: Any) -> None:
    assert not filling(body)


def in_place(x, y):
    x = x.copy()
    x *= y
    x += y * y
    np.exp(x, out=x)
    return np.sum(x * x)


def of_the_trip_before(x, y):
    """`t` is made of an array of another length than the one that it is written into."""
    whole = x * 1.0
    parts = [whole[:1], whole]
    t = None
    for k in range(2):
        part = parts[k]
        if t is not None:
            part[...] = t
        t = part * y
    return np.sum(whole) + np.sum(t)


@pytest.mark.parametrize("f", [in_place], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shapes", [(X, X), (X, ONE), (ONE, ONE), (X, 0.5)], ids=str)
@pytest.mark.parametrize("off", WAYS[:2], ids=str)
def test_gradients(f: Any, shapes: Any, off: Any) -> None:
    np.testing.assert_allclose(gradient(f, shapes, off), differences(f, shapes), rtol=1e-6)


def test_a_value_of_the_trip_before() -> None:
    for off in WAYS[:2]:
        found = gradient(of_the_trip_before, (X, ONE), off)
        np.testing.assert_allclose(found, differences(of_the_trip_before, (X, ONE)), rtol=1e-6)


def test_the_text_undoes_no_broadcasting_of_what_is_written_over() -> None:
    text = tx.grad(in_place, wrt=("x", "y")).source_for(X, ONE)
    reverse = text[text.index("reverse sweep") :]
    assert "unbroadcast(clone(" not in reverse and "x__bar[...] = unbroadcast" not in reverse
    assert "np.sum(" in reverse
