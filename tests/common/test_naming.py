"""Fresh names, and import paths by identity."""

import cmath
import math
import operator
import types

import numpy as np
import pytest

from tangentx import errors
from tangentx.common.naming import Names, spell


def test_fresh_names():
    names = Names(["x", "x_1", "y_bar"])
    assert [names.fresh("x") for _ in range(3)] == ["x_", "x_2", "x_3"]
    assert names.fresh("z") == "z" and "z" in names
    assert names.bar("x") == "x_bar" and names.bar("y") == "y_bar_"


@pytest.mark.parametrize("stem", ["lambda", "None", "len"])
def test_keywords_and_builtins_are_never_given(stem):
    assert Names().fresh(stem) == stem + "_"
    assert stem in Names()


def test_take():
    names = Names()
    names.take("x")
    assert names.fresh("x") == "x_"


def own(x):
    return x


class Own:
    def method(self):
        return own(self)


own.own = own

PATHS = {
    "np.add": np.add,
    "np.linalg.norm": np.linalg.norm,
    "np.fft.fft": np.fft.fft,
    "np.absolute": np.abs,
    "np.float64": np.float64,
    "np.ndarray": np.ndarray,
    "math.sin": math.sin,
    "cmath.sin": cmath.sin,
    "operator.add": operator.add,
    "operator.truediv": operator.truediv,
    "len": len,
    "float": float,
    "ValueError": ValueError,
    "errors.Span": errors.Span,
    "test_naming.Own.method": Own.method,
    "test_naming.own": own,
    "np": np,
    "np.linalg": np.linalg,
    "math": math,
    "errors": errors,
}


@pytest.mark.parametrize("text, obj", PATHS.items(), ids=PATHS.keys())
def test_spelled(text, obj):
    found = spell(obj)
    assert found.text == text
    value = __import__(found.module, fromlist=["x"])
    for part in found.chain.split(".") if found.chain else ():
        value = getattr(value, part)
    assert value is obj


def local():
    def inner():
        return 1

    return inner


def renamed():
    return 1


double = types.FunctionType(renamed.__code__, {"__name__": __name__}, "renamed")


@pytest.mark.parametrize(
    "obj",
    [local(), double, lambda: 0, Own().method, 1.0, np.pi, None, np.ones(2), types.ModuleType("math")],
    ids=["inner", "renamed", "lambda", "bound", "number", "pi", "None", "array", "module"],
)
def test_no_path_leads_there(obj):
    assert spell(obj) is None


def test_the_support_module():
    from tangentx import arrays

    name, function = next(pair for pair in vars(arrays).items() if isinstance(pair[1], types.FunctionType))
    assert spell(function) == ("tangentx.arrays", name, "arrays")
