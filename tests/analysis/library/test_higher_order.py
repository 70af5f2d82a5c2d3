"""Python's own functions that take functions, written out."""

from __future__ import annotations

import functools
import operator

from tests.analysis.made import in_order, text


def three(a, b, c=1.0):
    return a * b + c


outside = functools.partial(three, 2.0, c=5.0)


def test_a_partial_is_called_with_all_its_arguments() -> None:
    def f(x):
        g = functools.partial(three, x, c=3.0)
        return functools.partial(g, 2.0)() + g(x, c=4.0)

    assert in_order(text(f, 3.0), "make tuple(<three>, x, 3.0)", "make tuple(g, 2.0)", "call three(", ", x, 4.0)")


def test_a_partial_from_outside_is_called_with_constants() -> None:
    def f(x):
        return outside(x)

    assert "call three(2.0, x, 5.0)" in text(f, 3.0)


def test_a_short_reduction_is_written_out() -> None:
    def f(x):
        return functools.reduce(operator.mul, [x, 2.0, x])

    found = text(f, 3.0)
    assert found.count("mul(") == 2 and "for" not in found


def test_a_reduction_of_any_length_is_a_loop() -> None:
    def f(x, y):
        return functools.reduce(lambda a, b: a * b + x, [x * k for k in y])

    assert in_order(text(f, 3.0, [1.0, 2.0]), "len(", "eq(", "raise", "[0]", "for", "call lambda_(")


def test_arguments_that_do_not_fit_raise_as_python_does() -> None:
    def f(x):
        return functools.reduce(operator.mul) + x

    def g(x):
        return functools.partial()(x)

    for fn in (f, g):
        assert "TypeError(" in text(fn, 3.0)
