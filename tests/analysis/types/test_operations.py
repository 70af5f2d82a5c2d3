"""The kind of a primitive's result."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.analysis.types.kinds import Arr, Box, Num, World, is_view
from tangentx.analysis.types.operations import Operation
from tangentx.errors import NoTemplate, NotResolved, Span

SPAN = Span("flight.py", 1)


def operation(world: World) -> Operation:
    return Operation(world, lambda path: world.region(), SPAN)


def test_the_type_is_what_numpy_answers() -> None:
    op = operation(World())
    assert op.kind(operator.add, [Num(int), Num(float)], {}) == Num(float)
    assert op.kind(operator.truediv, [Num(int), Num(int)], {}) == Num(float)
    assert op.kind(np.sin, [Num(float, True)], {}) == Num(np.float64, True)


def test_known_numbers_give_known_numbers() -> None:
    op = operation(World())
    assert op.kind(operator.mul, [Num(int, value=3), Num(int, value=4)], {}).value == 12


def test_arrays_broadcast_and_are_new() -> None:
    world = World()
    a, b = Arr(np.dtype("f4"), 1, world.region()), Arr(np.dtype(float), 2, world.region())
    kind = operation(world).kind(operator.add, [a, b], {})
    assert (kind.dtype, kind.rank) == (np.dtype(float), 2)
    assert not is_view(kind, a) and not is_view(kind, b)


def test_a_view_is_united_with_its_operand() -> None:
    world = World()
    a = Arr(np.dtype(float), 2, world.region())
    assert is_view(operation(world).kind(np.transpose, [a], {}), a)
    assert not is_view(operation(world).kind(np.copy, [a], {}), a)


def test_several_results_are_a_container() -> None:
    kind = operation(World()).kind(divmod, [Num(int), Num(int)], {})
    assert isinstance(kind, Box) and kind.cls is tuple and kind.region.get(1) == Num(int)


def test_what_fails_on_every_sample_is_refused() -> None:
    with pytest.raises(NotResolved):
        operation(World()).kind(operator.matmul, [Num(float), Num(float)], {})


def test_a_derivative_needs_a_rule() -> None:
    op = operation(World())
    with pytest.raises(NoTemplate):
        op.demand_template(np.require, [Num(float, True)], Num(float, True))
    op.demand_template(np.require, [Num(float)], Num(float))


def by_length_of_a_tuple(x, n):
    return 3.0 * x if len(tuple(range(n))) == 1 else x * x


def by_length_of_a_row(x, n):
    return 3.0 * x if len(tuple(np.arange(n))) == 1 else x * x


@pytest.mark.parametrize("f", [by_length_of_a_tuple, by_length_of_a_row])
def test_the_length_of_a_tuple_is_not_that_of_a_sample(f: Any) -> None:
    for n, wanted in ((1, 3.0), (2, 10.0), (3, 10.0)):
        assert tx.grad(f, fallback="error")(5.0, n) == wanted
        assert tx.jvp(f, (5.0, n), (1.0, None), fallback="error")[1] == wanted


def test_numbers_are_counted_before_those_given_by_name():
    """A fraction and axes that are not known: the fraction is 0, and not the number after the last axis."""

    def spread(x, q=0.3, axis=(0, 2)):
        return np.sum(np.quantile(x, q, axis=axis) ** 2)

    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    found = tx.grad(spread, fallback="error")(x)
    step = np.random.default_rng(1).normal(size=x.shape)
    slope = (spread(x + 1e-6 * step) - spread(x - 1e-6 * step)) / 2e-6
    np.testing.assert_allclose(np.sum(found * step), slope, rtol=1e-6)


def test_roots_may_be_complex() -> None:
    def spread(p):
        return np.sum(np.abs(np.roots(p)) ** 3)

    p, along = np.array([1.0, 0.3, 1.2, 0.5]), np.array([0.1, -0.2, 0.3, 0.4])
    slope = (spread(p + 1e-6 * along) - spread(p - 1e-6 * along)) / 2e-6
    assert np.sum(tx.grad(spread, fallback="error")(p) * along) == pytest.approx(slope, rel=1e-6)
    assert tx.jvp(spread, (p,), (along,), fallback="error")[1] == pytest.approx(slope, rel=1e-6)
