"""Values that may be None."""

from __future__ import annotations

import numpy as np
import pytest

import tangentx as tx
from tangentx.analysis.types.kinds import Arr, Num, Obj, World, join
from tangentx.analysis.types.optional_values import may_be_none, with_and_without
from tangentx.errors import NotDifferentiable


def test_numbers_and_arrays_may_be_none() -> None:
    number = join(Obj(None), Num(float, True))
    array = join(Arr(np.dtype(float), 2, World().region()), Obj(None))
    assert may_be_none(number) and may_be_none(array)
    assert array.rank == 2 and not array.sure
    assert may_be_none(join(number, Num(int))) and may_be_none(join(number, array))
    assert not may_be_none(Num(float)) and not may_be_none(Obj(None))


def test_each_place_is_tried_with_and_without() -> None:
    maybe = Num(float, none=True)
    found = list(with_and_without([maybe, Num(int), maybe]))
    assert [absent for _, absent in found] == [False, True, True, True]
    assert found[0][0] == [Num(float), Num(int), Num(float)]
    assert found[-1][0] == [Obj(None), Num(int), Obj(None)]


def test_the_gradient_of_none_is_an_error() -> None:
    def f(x, limit):
        found = None
        for k in range(3):
            if x * k > limit:
                found = x * x * k
        return found

    assert tx.grad(f)(2.0, 1.0) == 8.0
    with pytest.raises(NotDifferentiable, match="the result is None"):
        tx.grad(f)(2.0, 100.0)


def test_none_is_no_new_axis() -> None:
    def f(a, limit):
        place = None
        for i in range(len(a)):
            if a[i] > limit:
                place = i
        return a[place] * 2.0

    assert tx.grad(f)(np.array([1.0, 3.0]), 2.0).tolist() == [0.0, 2.0]
    with pytest.raises(TypeError):
        tx.grad(f)(np.array([1.0, 3.0]), 5.0)


def test_an_axis_that_may_be_none_leaves_number_or_array_open() -> None:
    def f(a, n):
        axis = None
        for k in range(n):
            axis = k
        return np.sum(np.sum(a * a, axis=axis) ** 2)

    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert np.allclose(tx.grad(f)(a, 0), 4 * a * 30.0)
    assert np.allclose(tx.grad(f)(a, 1), 4 * a * np.sum(a * a, axis=0))
