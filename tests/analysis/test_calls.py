"""Calls of the user's functions."""

from __future__ import annotations

import pytest

from tangentx.errors import UnsupportedSyntax
from tests.analysis import programs
from tests.analysis.made import analysed, in_order, text


def test_a_helper_is_compiled_once_for_each_kind() -> None:
    program, _ = analysed(programs.calls, 2.0, 3.0)
    assert sum(i.source.name == "helper" for i in program.reached()) == 2
    program, _ = analysed(programs.calls, 2.0, 3.0, wrt=(0, 1))
    assert sum(i.source.name == "helper" for i in program.reached()) == 1


def three(a, b, c=5.0):
    return a - b * c


def test_arguments_are_put_in_order_and_defaults_filled_in() -> None:
    def f(x):
        return three(b=x, a=2.0) + three(x, 1.0, 7.0)

    assert in_order(text(f, 3.0), "call three(2.0, x, ", "call three(x, 1.0, 7.0)")


def gathered(*args, **named):
    return args[0] * named["k"]


def test_extra_arguments_are_gathered() -> None:
    def f(x):
        return gathered(x, 2.0, k=x)

    assert in_order(text(f, 3.0), "make tuple(x, 2.0)", "k", "call gathered(")


def test_arguments_that_do_not_fit_are_refused() -> None:
    def missing(x):
        return three(x)

    def twice(x):
        return three(x, 1.0, a=2.0)

    def many(x):
        return three(x, 1.0, 2.0, 3.0)

    for fn, word in ((missing, "missing"), (twice, "twice"), (many, "too many")):
        with pytest.raises(UnsupportedSyntax, match=word):
            text(fn, 2.0)
