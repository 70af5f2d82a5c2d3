"""Functions in which each call asks what is meant: what they call is recorded, all else stays as it is."""

from __future__ import annotations

import abc
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tangentx.tensor.fallback.function_rewriting import called, on_tensors
from tangentx.tensor.fallback.interposition import CALL, asking
from tangentx.tensor.fallback.tracing import Trace


def slope(f: Any, x: Any) -> Any:
    trace = Trace(called(f), (x,), (0,))
    return trace.gradients([trace.result], [1.0], False)[0]


class Base:
    def __init__(self, factor):
        self.__factor = factor
        self.table = np.zeros(2)

    def put(self, x):
        self.table[0] = self.__factor * math.sin(x)
        return self.table


class Derived(Base, abc.ABC):
    def __init__(self, factor):
        super().__init__(math.exp(factor))

    def put(self, x):
        return 2.0 * super().put(x)

    def __call__(self, x):
        return self.put(x)[0]


class Made:
    def __new__(cls, x):
        made = super().__new__(cls)
        made.slope = math.cos(x)
        return made


def by_what_makes(x):
    return Made(x).slope * x


def by_methods(x):
    return Derived(x).put(x)[0]


def by_an_object(x):
    model = Derived(x)
    return model(x)


def by_closures(x):
    def made(n):
        def inner(y, *, power=2):
            return math.pow(y, power) * n if n < 2 else inner_of(n - 1)(y, power=power)

        return inner

    inner_of = made
    return made(3)(x)


def by_values(x):
    table = {"s": math.sin, "z": np.zeros}
    out = table["z"](2)
    out[1] = table["s"](x)
    return functools.reduce(lambda a, b: a + b, map(math.exp, out)) + functools.partial(math.pow, x)(2)


def by_generators(x):
    def powers(n):
        for k in range(n):
            yield math.pow(x, k + 1)

    return sum(powers(3))


def remembered(x):
    remembered.calls += 1
    return math.sin(x)


remembered.calls = 0


def by_lists(x):
    return np.sum([x, 2.0 * x]) * np.vstack([[x, 1.0], (2.0, x)])[1, 1]


CASES: list[tuple[Callable[[Any], Any], Callable[[float], float]]] = [
    (by_methods, lambda x: 2.0 * math.exp(x) * (math.sin(x) + math.cos(x))),
    (by_an_object, lambda x: 2.0 * math.exp(x) * (math.sin(x) + math.cos(x))),
    (by_what_makes, lambda x: math.cos(x) - x * math.sin(x)),
    (by_closures, lambda x: 2.0 * x),
    (by_values, lambda x: math.exp(math.sin(x)) * math.cos(x) + 2.0 * x),
    (by_generators, lambda x: 1.0 + 2.0 * x + 3.0 * x * x),
    (remembered, math.cos),
    (by_lists, lambda x: 6.0 * x),
]


@pytest.mark.parametrize(("f", "wanted"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_what_is_called_is_recorded(f: Any, wanted: Any) -> None:
    assert slope(f, 0.7) == pytest.approx(wanted(0.7))


def test_attributes_of_a_function_are_its_own() -> None:
    before = remembered.calls
    slope(remembered, 0.3)
    assert remembered.calls == before + 1


def test_it_asks_once_and_keeps_lines_names_and_defaults() -> None:
    def f(x: Any, y: Any = 3.0) -> Any:
        return len((x, y))

    asked: list[Any] = []

    def meant(value: Any) -> Any:
        asked.append(value)
        return value

    made = asking(f, {CALL: meant})
    assert made is not None and made(1.0) == 2 and asked == [len]
    assert asking(made, {CALL: meant}) is made
    assert made.__qualname__ == f.__qualname__ and made.__defaults__ == (3.0,)
    assert made.__code__.co_filename == __file__ and made.__code__.co_firstlineno == f.__code__.co_firstlineno


def test_without_source_names_that_are_called_are_recorded() -> None:
    space: dict[str, Any] = {"math": math}
    exec("def f(x):\n    return math.sin(x)\n", space)
    assert asking(space["f"], {CALL: on_tensors}) is None
    assert slope(space["f"], 0.3) == pytest.approx(math.cos(0.3))
