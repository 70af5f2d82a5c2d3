"""Known zeros leave sums, and what the user computes is left as it is."""

from __future__ import annotations

import numpy as np

from tangentx.arrays import real_zero
from tangentx.ir.nodes import Assign, Lit, Var
from tangentx.optimise import simplify, zeros
from tangentx.optimise.rewriting import ADD, Rewriter
from tests.optimise.support import every, operations, unit_of


def sums(x):
    y = 0.0
    z = y + x
    return z


def kept_in_a_loop(x):
    y = 0.0
    for _ in range(3):
        y = y + x
    return y


def broadcast_zero(x, y):
    z = np.zeros_like(y)
    return z + x


def same_shape(x):
    z = np.zeros_like(x)
    w = x * 2.0
    return z + w


def written(x):
    z = np.zeros_like(x)
    z[0] = 1.0
    return z + x * 2.0


def test_a_sum_with_zero_is_the_other_operand() -> None:
    program, unit = unit_of(sums, 1.0, reverse=True)
    assert zeros.run(program, [unit])
    assert ADD not in operations(unit)
    assert any(isinstance(s, Assign) and s.target == "z" and s.value == Var("x") for s in every(unit))


def test_the_forward_sweep_stays() -> None:
    program, unit = unit_of(sums, 1.0)
    assert not zeros.run(program, [unit])


def test_a_zero_on_the_first_trip_alone_is_none() -> None:
    program, unit = unit_of(kept_in_a_loop, 1.0, reverse=True)
    zeros.run(program, [unit])
    assert ADD in operations(unit)


def test_an_array_of_zeros_may_broadcast() -> None:
    program, unit = unit_of(broadcast_zero, np.ones(1), np.ones(3), reverse=True)
    zeros.run(program, [unit])
    assert ADD in operations(unit)
    program, unit = unit_of(same_shape, np.ones(3), reverse=True)
    zeros.run(program, [unit])
    assert ADD not in operations(unit)


def test_what_is_written_in_place_is_no_zero() -> None:
    program, unit = unit_of(written, np.ones(3), reverse=True)
    zeros.run(program, [unit])
    assert ADD in operations(unit)


def made_of_constants(x):
    a = np.ones((2, 2)) * x
    zero = real_zero(a)
    return np.sum(a + zero)


def test_an_array_of_constant_shape_is_a_zero_of_that_shape() -> None:
    program, unit = unit_of(made_of_constants, 2.0, reverse=True)
    simplify.run(program, [unit])
    assert operations(unit)[-2:] == [ADD, np.sum]
    assert np.zeros in operations(unit)
    zeros.run(program, [unit])
    assert ADD not in operations(unit)


def callee(x, y):
    return x + y


def test_a_parameter_that_every_call_gives_a_zero() -> None:
    program, unit = unit_of(callee, 1.0, 2.0, reverse=True)
    unit.outer = False
    walk = Rewriter(program, unit, [zeros.Zeros])
    walk.rules[0].begin((1,))
    body = walk.whole()
    assert any(isinstance(s, Assign) and s.value in (Var("x"), Lit(0.0)) for s in body)
