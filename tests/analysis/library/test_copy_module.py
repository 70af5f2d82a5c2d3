"""Copies that Python's library makes."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import numpy as np
import pytest

import tangentx as tx
from tangentx.errors import SharedMemory, UnsupportedSyntax


def test_a_deep_copy_of_what_stands_twice_is_refused() -> None:
    def f(x):
        row = np.array([x, 2.0])
        rows = copy.deepcopy([row, row])
        rows[0][0] *= x
        return np.sum(rows[1])

    with pytest.raises(SharedMemory, match="holds an array or a container twice"):
        tx.grad(f)(1.5)


def test_a_class_with_a_copy_of_its_own_is_asked() -> None:
    class Doubled:
        def __init__(self, v):
            self.v = v

        def __copy__(self):
            return Doubled(self.v * 2.0)

        def __deepcopy__(self, memo):
            return self

    def shallow(x):
        return copy.copy(Doubled(x)).v * x

    def deep(x):
        return copy.deepcopy(Doubled(x)).v

    assert tx.grad(shallow)(3.0) == 12.0
    with pytest.raises(UnsupportedSyntax, match="__deepcopy__"):
        tx.grad(deep)(3.0)


def test_numbers_tuples_and_arrays_are_copied_as_python_copies_them() -> None:
    def f(a, x):
        pair = copy.copy((a, x))
        b = copy.copy(a)
        b[0] = 5.0
        return np.sum(pair[0] * b) * copy.deepcopy(x)

    a = np.array([2.0, 3.0])
    assert tx.grad(f)(a, 2.0).tolist() == [10.0, 12.0]


def test_only_records_are_replaced() -> None:
    @dataclass
    class Point:
        x: float
        y: float

    def f(x):
        return replace(Point(x, x * x), x=1.0).y

    def g(x):
        return replace([x], x=1.0)

    assert tx.grad(f)(3.0) == 6.0
    with pytest.raises(TypeError, match="dataclass instances"):
        tx.grad(g)(3.0)
