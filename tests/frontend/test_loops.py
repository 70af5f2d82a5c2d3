"""The normal form of loops, as text."""

import pytest

from tangentx import arrays
from tangentx.frontend.lift import lift
from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tests.frontend import programs
from tests.frontend.test_statements import lifted

NORMAL = {
    "range": ("for i in range(x):\n    y = i", ["for i in range(0, x, 1):", "    y = i"]),
    "range of three": ("for i in range(x, y, 2):\n    pass", ["for i in range(x, y, 2):", "    pass"]),
    "backward": ("for i in reversed(range(1, x)):\n    pass", ["for i in reversed(range(1, x, 1)):", "    pass"]),
    "variable assigned": ("for i in range(3):\n    i = i + 1", ["for %1 in range(0, 3, 1):", "    i = %1"]),
    "bound assigned": ("for i in range(x):\n    x = 2", ["%1 = x", "for i in range(0, %1, 1):", "    x = 2"]),
    "bound is the variable": ("for x in range(x):\n    pass", ["%1 = x", "for x in range(0, %1, 1):", "    pass"]),
    "items": (
        "for v in x:\n    y = v",
        ["%1 = sequence(x)", "%2 = len(%1)", "for %3 in range(0, %2, 1):", "    v = %1[%3]", "    y = v"],
    ),
    "reversed items": (
        "for v in reversed(x):\n    pass",
        ["%1 = sequence(x)", "%2 = len(%1)", "for %3 in reversed(range(0, %2, 1)):", "    v = %1[%3]"],
    ),
    "enumerate": (
        "for i, v in enumerate(x):\n    y = v",
        ["%1 = sequence(x)", "%2 = len(%1)", "for i in range(0, %2, 1):", "    v = %1[i]", "    y = v"],
    ),
    "enumerate, counter assigned": (
        "for i, v in enumerate(x):\n    i = v",
        ["%1 = sequence(x)", "%2 = len(%1)", "for %3 in range(0, %2, 1):", "    i = %3", "    v = %1[%3]", "    i = v"],
    ),
    "enumerate from a start": (
        "for i, v in enumerate(x, y):\n    y = v",
        ["%1 = sequence(x)", "%2 = len(%1)", "%3 = y", "for %4 in range(0, %2, 1):"]
        + ["    i = add(%3, %4)", "    v = %1[%4]", "    y = v"],
    ),
    "zip": (
        "for a, b in zip(x, y):\n    pass",
        ["%1 = sequence(x)", "%2 = len(%1)", "%3 = sequence(y)", "%4 = len(%3)", "%5 = min(%2, %4)"]
        + ["for %6 in range(0, %5, 1):", "    a = %1[%6]", "    b = %3[%6]"],
    ),
}


@pytest.mark.parametrize("body, wanted", NORMAL.values(), ids=NORMAL.keys())
def test_normal_form(body, wanted):
    text = lifted(body)
    assert text[: len(wanted)] == wanted


def test_range_is_known_by_object():
    assert lifted("for i in range(x):\n    pass", range=list)[0] == "%1 = apply <range>(x)"
    assert lifted("for i in span(x):\n    pass", span=range)[0] == "for i in range(0, x, 1):"


def test_a_range_held_in_a_variable_is_a_sequence():
    assert lifted("r = range(x)\nfor i in r:\n    pass")[1] == "%1 = sequence(r)"


@pytest.mark.parametrize("function, args, kwargs", programs.CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_no_body_binds_the_variable_of_its_loop(function, args, kwargs):
    for stmt in walk.statements(lift(function).body):
        if isinstance(stmt, ir.For):
            assert stmt.target not in walk.bound(stmt.body)


def test_the_length_of_what_is_iterated_is_looked_at_after_the_loop():
    def total(items):
        found = 0.0
        for item in items:
            found = found + item
        return found

    body = lift(total).body
    loop = next(i for i, stmt in enumerate(body) if isinstance(stmt, ir.For))
    after = body[loop + 1]
    assert isinstance(after, ir.Assign)
    assert isinstance(after.value, ir.Op)
    assert after.value.fn is arrays.same_length
