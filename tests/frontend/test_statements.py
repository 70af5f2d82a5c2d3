"""The normal form of statements, as text."""

import pytest

from tangentx.frontend.lift import lift
from tangentx.ir import show
from tests.frontend.made import defined


def lifted(body, head="def f(x, y=0):", **names):
    """The lifted body as text, line by line, without places."""
    text = show.show(lift(defined(f"{head}\n    " + body.replace("\n", "\n    "), **names)))
    return [line.split("  # ")[0].rstrip().removeprefix("    ") for line in text.splitlines()[1:]]


NORMAL = {
    "copy": ("z = x\nreturn z", ["z = x", "return z"]),
    "operation": ("z = x * 2.0 + y\nreturn z", ["%1 = mul(x, 2.0)", "z = add(%1, y)", "return z"]),
    "minus one": ("return x[-1]", ["%1 = x[-1]", "return %1"]),
    "display": ("a, b = x, y", ["a = x", "b = y", "return None"]),
    "swap": ("x, y = y, x\nreturn x", ["%1 = y", "%2 = x", "x = %1", "y = %2", "return x"]),
    "unpacking": ("a, b = x\nreturn a", ["%1 = sequence(x, 2)", "a = %1[0]", "b = %1[1]", "return a"]),
    "chain": ("a = b = x + 1\nreturn a", ["%1 = add(x, 1)", "a = %1", "b = %1", "return a"]),
    "augmented": ("x += y\nx[0] -= y", ["x add= y", "x[0] sub= y", "return None"]),
    "helper that may write": (
        "x[0] += y(x)",
        ["%2 = x[0]", "%1 = apply y(x)", "%2 add= %1", "x[0] = %2", "return None"],
    ),
    "helper that may write what has no name": (
        "x[0][1] += y(2)",
        ["%1 = x[0]", "%3 = %1[1]", "%2 = apply y(2)", "%3 add= %2", "%1[1] = %3", "return None"],
    ),
    "helper that may not": ("x[0] += x.sum()", ["%1 = method x.sum()", "x[0] add= %1", "return None"]),
    "builtin that may not": ("x[0] += len(x)", ["%1 = apply <len>(x)", "x[0] add= %1", "return None"]),
    "method that writes": (
        "x[0] += x.pop()",
        ["%2 = x[0]", "%1 = method x.pop()", "%2 add= %1", "x[0] = %2", "return None"],
    ),
    "if": (
        "if x:\n    return 1\nreturn 2",
        ["%1 = x", "if %1:", "    return 1", "return 2"],
    ),
    "test of a constant": ("if 1:\n    x = 2\nreturn x", ["if 1:", "    x = 2", "return x"]),
    "elif": (
        "if x > 1:\n    pass\nelif y:\n    return 1\nelse:\n    y = 2",
        ["%1 = gt(x, 1)", "if %1:", "    pass", "else:", "    %2 = y", "    if %2:", "        return 1"]
        + ["    else:", "        y = 2", "return None"],
    ),
    "both branches return": (
        "if x > 1:\n    return 1\nelse:\n    return 2\nx = 5",
        ["%1 = gt(x, 1)", "if %1:", "    return 1", "else:", "    return 2"],
    ),
    "while": (
        "while x > 1:\n    x = x - 1",
        ["loop:", "    %1 = gt(x, 1)", "    if %1:", "        pass", "    else:", "        break"]
        + ["    x = sub(x, 1)", "return None"],
    ),
    "while true": ("while True:\n    return x\nx = 2", ["loop:", "    return x"]),
    "assert": (
        "assert x, y",
        ["%1 = x", "if %1:", "    pass", "else:", "    %2 = apply <AssertionError>(y)", "    raise %2", "return None"],
    ),
    "raise a class": ("raise ValueError", ["%1 = apply <ValueError>()", "raise %1"]),
    "raise an object": ("raise ValueError(x)", ["%1 = apply <ValueError>(x)", "raise %1"]),
    "raise from": ("raise ValueError(x) from None", ["%1 = apply <ValueError>(x)", "raise %1 from None"]),
    "nothing to do": ("'doc'\npass\nx\n1", ["return None"]),
    "call as statement": ("x.append(y)", ["%1 = method x.append(y)", "return None"]),
    "walrus": ("return (x, (x := y), x)", ["%1 = x", "x = y", "%2 = x", "%3 = make tuple(%1, y, %2)", "return %3"]),
    "a reading method beside an item": ("x[0] += x.sum()", ["%1 = method x.sum()", "x[0] add= %1", "return None"]),
    "a method of the object whose attribute is augmented": (
        "x.v += x.sum()",
        ["%2 = x['v']", "%1 = method x.sum()", "%2 add= %1", "x.v = %2", "return None"],
    ),
    "a method that may be the user's": (
        "x[0] += x.bump()",
        ["%2 = x[0]", "%1 = method x.bump()", "%2 add= %1", "x[0] = %2", "return None"],
    ),
    "what may be a property in what is augmented": (
        "x.v += x.p",
        ["%2 = x['v']", "%1 = x.p", "x.v add= %1 from %2", "return None"],
    ),
    "walrus in what is augmented": ("x += (x := y)", ["%1 = x", "x = y", "%1 add= y", "x = %1", "return None"]),
}


@pytest.mark.parametrize("body, wanted", NORMAL.values(), ids=NORMAL.keys())
def test_normal_form(body, wanted):
    assert lifted(body) == wanted


def test_assert_means_the_true_class():
    assert lifted("assert x", AssertionError=ValueError)[-3].strip().startswith("%2 = apply <AssertionError>")
