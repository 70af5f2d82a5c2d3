"""Function values in the analysis: called, passed on, and plain tuples in the closed form."""

from __future__ import annotations

import math
import types

import pytest

from tangentx.analysis.kinds import MISSING, Box, Num
from tangentx.errors import NotResolved, UnsupportedSyntax
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


def test_what_is_not_known_cannot_be_called() -> None:
    def f(x):
        g = (lambda y: y) if x > 0.0 else (lambda y: x * y)
        return g(x)

    with pytest.raises(NotResolved, match="in one place and"):
        text(f, 3.0)
