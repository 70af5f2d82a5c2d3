"""Patterns of match, as text."""

import pytest

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
