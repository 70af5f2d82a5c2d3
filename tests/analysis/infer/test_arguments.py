"""Arguments taken apart and put in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.errors import UnsupportedSyntax
from tests.analysis.made import in_order, text


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


def model(t, a, b, /, c=1.0, *, d=2.0):
    return t * a * b * c * d


def least(t, a, b):
    return t * a * b


def test_starred_arguments_are_taken_apart() -> None:
    def f(x):
        pair = (x, 2.0)
        return model(1.0, *pair, **{"d": x})

    assert in_order(text(f, 3.0), "= pair[0]", "= pair[1]", "call model(1.0, ", ", 1.0, ")


def test_an_array_gives_as_many_arguments_as_the_function_takes() -> None:
    def f(p):
        return least(2.0, *p)

    gradient = tx.grad(f)
    assert gradient(np.array([3.0, 5.0])).tolist() == [10.0, 6.0]
    assert "fitting(p, 2)" in gradient.source
    with pytest.raises(TypeError, match="2 positional arguments .* 3 were given"):
        gradient(np.ones(3))


def test_how_many_are_meant_must_be_known() -> None:
    def defaults(p):
        return model(1.0, 2.0, *p)

    def gathers(p):
        return gathered(*p, k=1.0)

    for fn in (defaults, gathers):
        with pytest.raises(UnsupportedSyntax, match="not known here"):
            text(fn, np.ones(2))


def test_items_are_taken_before_what_follows_is_evaluated() -> None:
    def grow(items):
        items[0] = 5.0
        return 3.0

    def f(x, grow):
        items = [x, 2.0]
        return least(*items, grow(items)) + least(*[1.0, *items[:1]], x)

    def g(x):
        return f(x, grow)

    assert tx.grad(g)(2.0) == 6.0 + 5.0


MISFITS = {
    "missing": lambda x: three(x),
    "missing two": lambda x: three(c=x),
    "twice": lambda x: three(x, 1.0, a=2.0),
    "too many": lambda x: three(x, 1.0, 2.0, 3.0),
    "no such name": lambda x: three(x, 1.0, e=2.0),
    "by position only": lambda x: model(t=x, a=x, b=x),
    "by name only": lambda x: model(x, x, x, x, x),
    "name missing": lambda x: named(x),
    "keyword twice": lambda x: three(x, 2.0, **{"c": 1.0}, **{"c": x}),
}


def named(x, *rest, key):
    return x * key


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_raises_what_python_raises(name: str) -> None:
    def message(call: Any) -> str:
        with pytest.raises(TypeError) as caught:
            call(2.0)
        return str(caught.value).replace("tests.analysis.infer.test_arguments.", "")

    assert message(tx.grad(MISFITS[name])) == message(MISFITS[name])


def test_a_call_that_does_not_fit_and_is_not_reached() -> None:
    def f(x):
        if x > 3.0:
            return three(x)
        return x * x

    assert tx.grad(f)(2.0) == 4.0
    with pytest.raises(TypeError, match=r"three\(\) missing 1 required positional argument: 'b'"):
        tx.grad(f)(4.0)


def test_gathered_parameters_of_the_function_itself() -> None:
    def f(*args, scale=1.0, **kwargs):
        return args[0] * args[1] * scale * kwargs["z"]

    assert tx.grad(f, wrt="args")(2.0, 3.0, 1, z=4.0) == (12.0, 8.0, None)
    assert tx.grad(f, wrt=("kwargs", "scale"))(2.0, 3.0, z=4.0, n=2) == ({"z": 6.0, "n": None}, 24.0)
