"""Objects made inside the program."""

from __future__ import annotations

import abc
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

import tangentx as tx
from tangentx.errors import UnsupportedSyntax
from tests.analysis.made import analysed, in_order, text
from tests.tensor.fallback.test_finalizers import ends


class Pair(NamedTuple):
    left: float
    right: float = 2.0


@dataclass
class Record:
    a: float
    b: float = 2.0
    items: list = field(default_factory=list)
    c: float = field(default=4.0, init=False)


class Plain:
    def __init__(self, a, b=3.0):
        total = a + b
        self.a = a
        self.total = total * self.a


class Watched:
    def __init__(self, a):
        self.a = a
        self.note()

    def note(self):
        self.b = self.a * self.a


class Made(type):
    def __call__(cls, *args):
        return 3.0


class Strange(metaclass=Made):
    pass


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2


def test_a_named_tuple_is_a_display() -> None:
    assert in_order(text(lambda x: Pair(x).left + Pair(right=x, left=1.0)[1], 3.0), "Pair(x, 2.0)", "Pair(1.0, x)")


def test_a_dataclass_is_a_display_of_its_fields() -> None:
    def f(x):
        record = Record(x, b=x)
        record.items.append(x)
        return record.a * record.b * record.items[0] * record.c + Record(1.0, items=[x]).items[0]

    assert tx.grad(f)(2.0) == 12.0 * 4.0 + 1.0


def test_an_object_whose_init_only_sets_attributes_is_made_at_once() -> None:
    def f(x):
        return Plain(x).total

    assert "make Plain('a': " in text(f, 2.0)
    assert tx.grad(f)(2.0) == 7.0


def test_any_other_init_is_called() -> None:
    def f(x):
        return Watched(x).b

    assert in_order(text(f, 2.0), "make Watched()", "call Watched_init")
    assert tx.grad(f)(2.0) == 4.0
    assert tx.grad(lambda x: Square(x).area())(3.0) == 6.0


@pytest.mark.parametrize("cls", [Pair, Record, Plain, Watched])
def test_what_does_not_fit_raises_what_python_raises(cls: Any) -> None:
    def f(x):
        return cls(x, x, x, x, x)

    def g(x):
        return cls(x, nothing=x)

    for fn in (f, g):
        with pytest.raises(TypeError) as wanted:
            fn(1.0)
        with pytest.raises(TypeError) as caught:
            tx.grad(fn)(1.0)
        assert str(caught.value) == str(wanted.value)
        assert str(wanted.value).replace("'", '"') in text(fn, 1.0).replace("'", '"')


def test_a_class_that_makes_its_objects_itself_is_refused() -> None:
    with pytest.raises(UnsupportedSyntax, match="makes its objects itself"):
        analysed(lambda x: x * Strange(x), 1.0)


def test_an_object_that_does_something_when_it_dies_is_refused() -> None:
    with pytest.raises(UnsupportedSyntax, match="__del__"):
        tx.grad(ends, fallback="error")(0.5)
