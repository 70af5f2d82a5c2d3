"""The normal form of expressions, as text."""

import gast
import numpy as np
import pytest

import tangentx as tx
from tangentx.frontend import expressions
from tests.frontend.test_statements import lifted

NORMAL = {
    "and as a test": (
        "x if y and x > 0.0 else 1.0",
        [
            *("%1 = truth(y)", "if %1:", "    %3 = gt(x, 0.0)", "    %2 = %3", "else:", "    %2 = %1"),
            *("if %2:", "    %4 = x", "else:", "    %4 = 1.0", "return %4"),
        ],
    ),
    "and": ("x and y", ["%1 = x", "if %1:", "    %2 = y", "else:", "    %2 = %1", "return %2"]),
    "or": ("x or y", ["%1 = x", "if %1:", "    %2 = %1", "else:", "    %2 = y", "return %2"]),
    "choice": ("x if y > 0 else 2", ["%1 = gt(y, 0)", "if %1:", "    %2 = x", "else:", "    %2 = 2", "return %2"]),
    "chained": (
        "0 < x < y",
        ["%1 = lt(0, x)", "if %1:", "    %2 = lt(x, y)", "else:", "    %2 = %1", "return %2"],
    ),
    "in": ("x in y", ["%1 = contains(y, x)", "return %1"]),
    "not in": ("x not in y", ["%1 = contains(y, x)", "%2 = not_(%1)", "return %2"]),
    "is not": ("x is not None", ["%1 = is_not(x, None)", "return %1"]),
    "power before minus": ("-(x ** 2)", ["%1 = pow(x, 2)", "%2 = neg(%1)", "return %2"]),
    "constants": ("-2.0 * +x", ["%1 = pos(x)", "%2 = mul(-2.0, %1)", "return %2"]),
    "call": ("y(x, k=1)", ["%1 = apply y(x, k=1)", "return %1"]),
    "method": ("x.sum(axis=y)", ["%1 = method x.sum(axis=y)", "return %1"]),
    "method of a result": ("y(x).T.dot(x)", ["%1 = apply y(x)", "%2 = %1.T", "%3 = method %2.dot(x)", "return %3"]),
    "call of a result": ("y(1)(x)", ["%1 = apply y(1)", "%2 = apply %1(x)", "return %2"]),
    "key": ("x[1:, ..., None, y]", ["%1 = x[1:, Ellipsis, None, y]", "return %1"]),
    "slice": ("x[y + 1 :: 2]", ["%1 = add(y, 1)", "%2 = x[%1::2]", "return %2"]),
}


@pytest.mark.parametrize("text, wanted", NORMAL.values(), ids=NORMAL.keys())
def test_normal_form(text, wanted):
    assert lifted(f"return {text}") == wanted


def test_every_operator_is_known():
    classes = {cls for cls in vars(gast).values() if isinstance(cls, type)}
    named = lambda base: {cls for cls in classes if issubclass(cls, base) and cls is not base}
    assert expressions.BINARY.keys() == named(gast.operator)
    assert expressions.UNARY.keys() == named(gast.unaryop)
    assert expressions.COMPARISONS.keys() == named(gast.cmpop) - {gast.In, gast.NotIn}


def test_classes_and_modules_are_left_and_objects_called():
    class Cls:
        @classmethod
        def make(cls, x):
            return x

    assert lifted("return Cls.make(x)", Cls=Cls) == ["%1 = apply <Cls.make>(x)", "return %1"]
    assert lifted("return obj.make(x)", obj=Cls()) == ["%1 = method <obj>.make(x)", "return %1"]


def test_the_branch_for_another_version_of_a_library_is_not_read():
    def f(x):
        total = np.sum(x) if hasattr(np, "sum") else np.summe(x)
        if not hasattr(np, "no_such_function"):
            return total
        return np.no_such_function(x)

    np.testing.assert_array_equal(tx.grad(f, fallback="error")(np.zeros(2)), np.ones(2))
