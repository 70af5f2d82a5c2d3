"""Patterns of match, as text."""

import pytest

from tangentx.compile import pipeline
from tangentx.testing import check_grads
from tests.frontend.test_statements import lifted

NORMAL = {
    "values": (
        "match x:\n    case 1:\n        y = 2\n    case _:\n        y = 3",
        ["%1 = x", "%2 = eq(%1, 1)", "if %2:", "    y = 2", "else:", "    y = 3", "return None"],
    ),
    "a pattern binds after its tests": (
        "match x:\n    case [1, y]:\n        return y",
        ["%1 = x", "%2 = is_sequence(%1)", "if %2:", "    %4 = len(%1)", "    %5 = eq(%4, 2)", "    %3 = %5", "else:"]
        + ["    %3 = False", "if %3:", "    %7 = %1[0]", "    %8 = eq(%7, 1)", "    %6 = %8", "else:", "    %6 = False"]
        + ["if %6:", "    %9 = %1[1]", "    y = %9", "    return y", "return None"],
    ),
    "a guard is asked where the pattern has matched": (
        "match x:\n    case y if y > 1:\n        return y",
        ["%1 = x", "y = %1", "%2 = gt(y, 1)", "if %2:", "    return y", "return None"],
    ),
    "the last of several alternatives": (
        "match x:\n    case 1 | None:\n        return y",
        ["%1 = x", "%3 = eq(%1, 1)", "%2 = %3", "if %2:", "    %4 = True", "else:", "    %5 = is_(%1, None)"]
        + ["    %4 = %5", "if %4:", "    return y", "return None"],
    ),
    "nothing follows a case that always matches": (
        "match x:\n    case 1:\n        return 1\n    case y:\n        return 2\nreturn 3",
        ["%1 = x", "%2 = eq(%1, 1)", "if %2:", "    return 1", "else:", "    y = %1", "    return 2"],
    ),
}


@pytest.mark.parametrize("body, wanted", NORMAL.values(), ids=NORMAL.keys())
def test_normal_form(body, wanted):
    assert lifted(body) == wanted


def of_a_setting(setting, x):
    match setting:
        case {"kind": "linear", "slope": a, **rest}:
            return a * x + sum(rest.values())
        case {"kind": "power", **other}:
            return x ** other["n"] * len(other)
    return x


def of_one_that_is_written(setting, x):
    setting["offset"] = x * x
    match setting:
        case {"slope": a, **rest}:
            return a * x + rest["offset"] * len(rest) + (5.0 if "slope" in rest else 0.0)
    return x


@pytest.mark.parametrize("off", [(), "all"])
def test_the_rest_of_a_mapping(off):
    with pipeline.proofs(off=off):
        check_grads(of_a_setting, ({"kind": "linear", "slope": 0.3, "b": 0.5, "c": 0.4}, 0.7), wrt=(0, 1))
        check_grads(of_a_setting, ({"kind": "power", "n": 2.5}, 0.7), wrt=(0, 1))
        check_grads(of_one_that_is_written, ({"slope": 0.3, "b": 1.0}, 0.7), wrt=1)
