"""A name gives way to what it is a copy of, as long as both hold the same."""

from __future__ import annotations

import numpy as np

from tangentx.ir.nodes import Assign, For, If, Lit, Op, Return, Var
from tangentx.optimise import copy_propagation
from tangentx.optimise.rewriting import MUL
from tests.optimise.support import every, unit_of


def straight(x):
    y = x
    z = y + y
    return z


def rebound(x):
    y = x
    x = x + 1.0
    return y * x


def in_loop(x, n):
    y = x
    for _ in range(n):
        z = y * 2.0
        y = x * z
    return y


def by_a_flag(x, flag):
    again = flag
    if again:
        flag = False
        x = x * 2.0
    return x if flag else -x


def test_a_copy_gives_way() -> None:
    program, unit = unit_of(straight, 1.0, reverse=True)
    assert copy_propagation.run(program, [unit])
    (added,) = [s for s in every(unit) if isinstance(s, Assign) and s.target == "z"]
    assert isinstance(added.value, Op)
    assert added.value.args == (Var("x"), Var("x"))


def test_not_once_the_original_is_bound_anew() -> None:
    program, unit = unit_of(rebound, 1.0, reverse=True)
    copy_propagation.run(program, [unit])
    found = [s.value for s in every(unit) if isinstance(s, Assign) and isinstance(s.value, Op)]
    (product,) = [value for value in found if value.fn is MUL]
    assert product.args[0] != product.args[1]


def test_a_copy_that_holds_on_the_first_trip_alone_stays() -> None:
    program, unit = unit_of(in_loop, 1.0, 3, reverse=True)
    copy_propagation.run(program, [unit])
    (loop,) = [s for s in every(unit) if isinstance(s, For)]
    (doubled,) = [s for s in loop.body if isinstance(s, Assign) and s.target == "z"]
    assert isinstance(doubled.value, Op)
    assert Var("x") not in doubled.value.args


def test_what_a_branch_binds_does_not_become_its_test() -> None:
    program, unit = unit_of(by_a_flag, 1.0, np.bool_(True), reverse=True)
    copy_propagation.run(program, [unit])
    for s in every(unit):
        if isinstance(s, If) and isinstance(s.test, Var):
            assert s.test.name not in {t.target for t in (*s.body, *s.orelse) if isinstance(t, Assign)}


def test_numbers_that_are_equal_but_not_the_same_are_no_copies() -> None:
    program, unit = unit_of(one_or_true, 1.0, reverse=True)
    copy_propagation.run(program, [unit])
    (end,) = [s for s in every(unit) if isinstance(s, Return)]
    assert not isinstance(end.value, Lit)


def one_or_true(x):
    if x > 0.0:
        y = 1
    else:
        y = 1.0
    return y
