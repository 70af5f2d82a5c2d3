"""Comprehensions, generators, dicts and f-strings, as text."""

import pytest

from tests.frontend.test_statements import lifted

NORMAL = {
    "comprehension": (
        "y = [i * 2 for i in range(x) if i]",
        ["%1 = make list()", "for i in range(0, x, 1):", "    %2 = i", "    if %2:", "        %3 = mul(i, 2)"]
        + ["        %1.append(%3)", "y = %1"],
    ),
    "a scope of its own": (
        "i = 5\ny = [i for i in range(i)]\nreturn i",
        ["i = 5", "%1 = make list()", "for i_ in range(0, i, 1):", "    %1.append(i_)", "y = %1", "return i"],
    ),
    "generator": (
        "return sum(i for i in range(x))",
        ["%1 = make list()", "for i in range(0, x, 1):", "    %1.append(i)", "%2 = apply <sum>(%1)", "return %2"],
    ),
    "any": (
        "return any(i for i in range(x))",
        ["%1 = False", "for i in range(0, x, 1):", "    %2 = i", "    if %2:", "        %1 = True", "        break"]
        + ["return %1"],
    ),
    "any of pairs": (
        "return any(i == j for i in range(x) for j in range(y))",
        ["%1 = False", "for i in range(0, x, 1):", "    for j in range(0, y, 1):", "        %2 = eq(i, j)"]
        + ["        if %2:", "            %1 = True", "            break", "    if %1:", "        break", "return %1"],
    ),
    "next": (
        "return next((i for i in range(x) if i), y)",
        ["%1 = y", "for i in range(0, x, 1):", "    %2 = i", "    if %2:", "        %1 = i", "        break"]
        + ["return %1"],
    ),
    "next of none": (
        "return next(iter(x))",
        ["%4 = sequence(x)", "%5 = len(%4)", "%3 = False", "for %6 in range(0, %5, 1):", "    %1 = %4[%6]"]
        + ["    %2 = %1", "    %3 = True", "    break", "%7 = same_length(x, %5)", "if %3:", "    pass", "else:"]
        + ["    %8 = StopIteration()", "    raise %8", "return %2"],
    ),
    "dict": ("return {'a': x, 1: y}", ["%1 = make dict('a': x, 1: y)", "return %1"]),
    "dict with keys unknown": (
        "return {x: 1, 'a': y}",
        ["%1 = make dict()", "%1[x] = 1", "%1['a'] = y", "return %1"],
    ),
    "dict with keys repeated": (
        "return {1: x, True: y}",
        ["%1 = make dict()", "%1[1] = x", "%1[True] = y", "return %1"],
    ),
    "text": (
        "return f'a{x!r:>{y}}'",
        [
            "%1 = repr(x)",
            "%2 = format(y, '')",
            "%3 = add('>', %2)",
            "%4 = format(%1, %3)",
            "%5 = add('a', %4)",
            "return %5",
        ],
    ),
}


@pytest.mark.parametrize("body, wanted", NORMAL.values(), ids=NORMAL.keys())
def test_normal_form(body, wanted):
    text = lifted(body)
    assert text[: len(wanted)] == wanted


def test_variables_of_one_name_in_nested_comprehensions():
    text = "\n".join(lifted("return [[i for i in range(i)] for i in range(3)]"))
    assert "for i in range(0, 3, 1):" in text and "for i_ in range(0, i, 1):" in text


def test_consumers_are_known_by_object():
    assert lifted("return total(i for i in x)", total=sum)[-2] == "%6 = apply <total>(%3)"
