"""Operations that come to nothing for the kinds and shapes at hand, and those that do not."""

from __future__ import annotations

import operator

import numpy as np

import tangentx as tx
from tangentx import arrays
from tangentx.optimise import simplify
from tests.optimise.support import WAYS, gradient, operations, unit_of


def by_one(x):
    y = 1.0 * x
    return y + 2.0


def fitted(t, like):
    return arrays.unbroadcast(t, like)


def fitted_to_its_own(t):
    like = t * 3.0
    return arrays.unbroadcast(t, like) + 1.0


def negated_twice(x):
    return -(-x) + 1.0


def test_a_factor_of_one() -> None:
    program, unit = unit_of(by_one, 2.0, reverse=True)
    assert simplify.run(program, [unit])
    assert operator.mul not in operations(unit)


def test_two_signs() -> None:
    program, unit = unit_of(negated_twice, 2.0, reverse=True)
    simplify.run(program, [unit])
    assert operations(unit).count(operator.neg) <= 1


def test_unbroadcast_of_equal_shapes_alone() -> None:
    program, unit = unit_of(fitted, np.ones(3), np.ones(3), reverse=True)
    simplify.run(program, [unit])
    assert arrays.unbroadcast in operations(unit)
    program, unit = unit_of(fitted_to_its_own, np.ones(3), reverse=True)
    simplify.run(program, [unit])
    assert arrays.unbroadcast not in operations(unit)


def test_unbroadcast_stays_where_a_kind_may_stand_for_two_dtypes() -> None:
    program, unit = unit_of(fitted_to_its_own, np.ones(3), reverse=True)
    unit.exact = False
    simplify.run(program, [unit])
    assert arrays.unbroadcast in operations(unit)


def cast_on_one_way(x, flag):
    y = x
    if flag:
        y = x.astype(np.float32)
    return np.sum(y * y)


def test_the_gradient_has_the_dtype_of_the_argument() -> None:
    for off in WAYS:
        for flag in (np.bool_(True), np.bool_(False)):
            found = gradient(cast_on_one_way, (np.ones(3), flag), off)
            assert found.dtype == np.float64, off
            np.testing.assert_allclose(found, 2.0)
    assert gradient(cast_on_one_way, (np.ones(3, np.float32), np.bool_(True))).dtype == np.float32


def cubed(x):
    return x**3


def test_a_power_reads_as_written() -> None:
    assert "3.0 * x ** 2" in tx.grad(cubed).source_for(2.0)
