"""Function values in the analysis: called, passed on, and plain tuples in the closed form."""

from __future__ import annotations

import functools
import math
import types

import numpy as np
import pytest

from tangentx.analysis.types.kinds import MISSING, Box, Either, Num
from tangentx.errors import NotResolved, UnsupportedSyntax
from tangentx.ir.show import show
from tests.analysis.made import analysed, in_order, kind, text


def apply_twice(f, x):
    return f(f(x))


def test_a_closure_is_called_with_what_it_captured() -> None:
    def f(x):
        g = lambda y: x * y
        return g(2.0)

    assert in_order(text(f, 3.0), "g = make tuple(x)", "= g[0]", "call g(%", ", 2.0)")


def test_a_callee_is_given_what_a_function_captured() -> None:
    def f(x, k):
        return apply_twice(lambda y: x * y + k, 2.0)

    program, _ = analysed(f, 3.0, 4.0)
    (callee,) = (i for i in program.reached() if i.source.name == "apply_twice")
    assert [p.name for p in callee.source.params] == ["x_", "k", "x"]


def test_an_instance_for_each_function() -> None:
    def f(x):
        return apply_twice(lambda y: x * y, 2.0) + apply_twice(lambda y: x + y, 2.0)

    program, _ = analysed(f, 3.0)
    assert sum(i.source.name == "apply_twice" for i in program.reached()) == 2


def test_the_closed_form_has_tuples_only() -> None:
    def f(x):
        made = [lambda y: x * y]
        return made[0](x)

    item = kind(f, "made", 3.0).region.any()
    assert isinstance(item, Box) and item.cls is tuple


def test_a_function_does_not_leave_the_program() -> None:
    def f(x):
        return [lambda y: x * y]

    with pytest.raises(UnsupportedSyntax, match="leaves the program"):
        text(f, 3.0)


@pytest.mark.parametrize(
    "test, answer",
    [
        (lambda g: callable(g), True),
        (lambda g: not g, False),
        (lambda g: g is None, False),
        (lambda g: g is not None, True),
        (lambda g: g == math.sin, False),
        (lambda g: isinstance(g, tuple), False),
        (lambda g: isinstance(g, types.FunctionType), True),
        (lambda g: 1.0 if g else 2.0, 1.0),
    ],
)
def test_what_is_asked_of_a_function_is_known(test, answer) -> None:
    def f(x):
        return test(lambda y: x * y)

    _, root = analysed(f, 3.0)
    assert root.result == Num(type(answer), value=answer if type(answer) is bool else MISSING)


def test_what_is_not_known_of_a_function_is_refused() -> None:
    def f(x):
        g = lambda y: x * y
        return str(g)

    with pytest.raises(UnsupportedSyntax, match="the function `g` is an operand of `str`"):
        text(f, 3.0)


def test_one_of_several_functions_is_called_in_branches() -> None:
    def f(x):
        g = math.sin if x > 0.0 else math.cos
        return apply_twice(g, x)

    program, root = analysed(f, 3.0)
    assert root.kinds["g"] == Either((math.sin, math.cos))
    (callee,) = (i for i in program.reached() if i.source.name == "apply_twice")
    assert in_order(show(callee.link.function), "is_(f, <", "if", "sin(x)", "else", "cos(x)")


def test_a_choice_among_functions_that_capture_is_a_number_and_a_branch() -> None:
    def f(x):
        g = (lambda y: y) if x > 0.0 else (lambda y: x * y)
        return g(x)

    assert in_order(text(f, 3.0), "if", "make tuple(0, ", "else", "make tuple(1, ", "eq(", "if", "call lambda_(")


def test_a_choice_may_be_any_of_its_functions() -> None:
    def f(x):
        g = lambda y: x * y
        h = g if x > 0.0 else math.sin
        return 1.0 if h is g else h(x)

    with pytest.raises(UnsupportedSyntax, match="is an operand of `is_`"):
        text(f, 3.0)


def test_a_choice_that_a_function_returns_is_refused() -> None:
    def choose(x):
        if x > 0.0:
            return lambda y: y
        return lambda y: x * y

    def f(x):
        return choose(x)(x)

    with pytest.raises(NotResolved, match="in one place and") as caught:
        text(f, 3.0)
    assert "put an `if` around the calls" in str(caught.value)


def test_a_choice_among_choices_is_refused() -> None:
    def f(x):
        g = lambda y: x * y
        for k in range(2):
            h = g
            g = lambda y, h=h: h(y) + k
        return g(x)

    with pytest.raises(NotResolved, match="in one place and"):
        text(f, 3.0)


class Spring:
    def __init__(self, k):
        self.k = k

    def pull(self, x):
        return self.k * x

    def __call__(self, x):
        return -self.k * x


def test_a_method_is_a_value_that_holds_its_object() -> None:
    def f(spring, x):
        pull, dot = spring.pull, np.array([x, 1.0]).dot
        return apply_twice(pull, x) * apply_twice(spring, x) * np.sum(dot(np.ones(2)))

    assert in_order(text(f, Spring(2.0), 3.0), "make tuple(spring)", "make tuple(", "call apply_twice(", "dot(")


def test_wraps_changes_nothing() -> None:
    def f(x):
        @functools.wraps(math.sin)
        def g(y):
            return x * y

        return g(x)

    assert in_order(text(f, 3.0), "make tuple(x)", "call g(")
