"""Patterns, as text."""

import pytest

from tests.frontend.test_statements import lifted

NORMAL = {
    "nested": (
        "a, (b, c) = x",
        ["%1 = sequence(x, 2)", "a = %1[0]", "%2 = %1[1]", "%3 = sequence(%2, 2)", "b = %3[0]", "c = %3[1]"],
    ),
    "nested display": ("a, (b, c) = 1, (y, 2)", ["a = 1", "b = y", "c = 2"]),
    "display of another length": ("a, b = 1, 2, 3", ["%1 = make tuple(1, 2, 3)", "%2 = sequence(%1, 2)"]),
    "display into a name": ("a = x, y", ["a = make tuple(x, y)"]),
    "display in a pattern": ("a, b = x, (y, 1)", ["%1 = make tuple(y, 1)", "a = x", "b = %1"]),
    "elements are read before the first is written": (
        "x[0], x[1] = x",
        ["%1 = sequence(x, 2)", "%2 = %1[0]", "%3 = %1[1]", "x[0] = %2", "x[1] = %3"],
    ),
    "only what the pattern binds is copied": ("a, x = x, y", ["%1 = x", "a = %1", "x = y"]),
    "left to right": ("y, x[y] = 1, 2", ["y = 1", "x[y] = 2"]),
    "a chain that binds its own value": (
        "(x, a) = b = x",
        ["%1 = x", "%2 = sequence(%1, 2)", "x = %2[0]", "a = %2[1]", "b = %1"],
    ),
}


@pytest.mark.parametrize("body, wanted", NORMAL.values(), ids=NORMAL.keys())
def test_normal_form(body, wanted):
    assert lifted(body)[: len(wanted)] == wanted
