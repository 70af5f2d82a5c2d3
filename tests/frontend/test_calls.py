"""Calls in normal form."""

from __future__ import annotations

import inspect
import sys

import pytest

from tangentx.errors import UnsupportedSyntax
from tangentx.frontend.lift import lift
from tangentx.ir.show import show
from tests.analysis.made import in_order
from tests.frontend.made import defined


@pytest.mark.parametrize(
    "call, pieces",
    {
        "g(x, *y, z=1, **y)": ("apply <g>(x, *y, z=1, **y)",),
        "x.m(*y, x)": ("method x.m(*y, x)",),
        "g(*y, g(x))": ("%1 = apply <tuple>(y)", "%2 = apply <g>(x)", "apply <g>(*%1, %2)"),
        "g(**y, a=g(x))": ("%1 = apply <dict>(y)", "%2 = apply <g>(x)", "apply <g>(**%1, a=%2)"),
        "g(g(x), *y)": ("%1 = apply <g>(x)", "apply <g>(%1, *y)"),
    }.items(),
)
def test_starred_arguments(call, pieces):
    def g(*args, **kwargs):
        return args

    assert in_order(show(lift(defined(f"def f(x, y):\n    return {call}", g=g))), *pieces)


@pytest.mark.parametrize(
    "call", ["sys._getframe()", "sys._getframe(1)", "inspect.currentframe()", "inspect.stack(0)", "vars()", "eval('x')"]
)
def test_what_sees_the_frame_that_calls_it_is_refused(call: str) -> None:
    """The frame of a text is another one, with other names in it."""
    with pytest.raises(UnsupportedSyntax, match="sees the frame that calls it"):
        lift(defined(f"def f(x):\n    return {call}", sys=sys, inspect=inspect))
