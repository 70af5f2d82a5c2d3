"""Lifting: the language does what Python does; the memo; depth."""

import copy
import gc
import pickle
import types
import weakref

import numpy as np
import pytest

from tangentx.errors import NoSource, NotResolved
from tangentx.frontend.lift import lift
from tangentx.ir import nodes as ir
from tangentx.ir.check import check
from tests.frontend import programs
from tests.frontend.ir_run import run
from tests.frontend.made import defined

MANY = 400


def outcome(call, args, kwargs):
    """What a call gives: result or exception, its arguments afterwards, and what was evaluated in which order."""
    args, kwargs = copy.deepcopy((args, kwargs))
    programs.LOG.clear()
    try:
        result = call(*args, **kwargs)
    except Exception as error:
        result = type(error), error.args if type(error) is not UnboundLocalError else ()
    return result, args, list(programs.LOG)


def text(value):
    """A text that tells apart what differs, arrays and their dtypes too."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.tolist()}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(map(text, value))})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {text(item)}' for key, item in value.items())}}}"
    if isinstance(value, programs.Box):
        return f"Box({value.value})"
    return f"{type(value).__name__} {value}"


@pytest.mark.parametrize("function, args, kwargs", programs.CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_does_what_python_does(function, args, kwargs):
    lifted = lift(function)
    check(lifted)
    native = outcome(function, args, kwargs)
    through = outcome(lambda *a, **k: run(lifted, *a, **k), args, kwargs)
    if isinstance(native[0], tuple) and native[0] and native[0][0] is ValueError:
        assert through[0][0] is ValueError
    else:
        assert text(through) == text(native)


@pytest.mark.parametrize(
    "source, arg",
    [
        ("def f(x):\n    return " + " + ".join(["x"] * MANY), 2),
        ("def f(x):\n    return " + " and ".join(["x"] * MANY), 2),
        ("def f(x):\n    return " + " < ".join(["x"] * MANY), 2),
        ("def f(x):\n    return " + "".join(f"{k} if x == {k} else " for k in range(MANY)) + "-1", 399),
        ("def f(x):\n    return " + "-" * 90 + "x", 2),
        ("def f(x):\n    return x" + ".real" * MANY, 2),
        ("def f(x):\n    return [" + ", ".join(f"x + {k}" for k in range(MANY)) + "]", 2),
    ],
    ids=["sum", "and", "compare", "conditional", "minus", "attributes", "list"],
)
def test_deep_expressions(source, arg):
    function = defined(source)
    lifted = lift(function)
    check(lifted)
    if "if" not in source:  # the interpreter recurses, the frontend does not
        assert run(lifted, arg) == function(arg)


def test_long_functions_and_chains_of_elif():
    lines = ["def f(x):", *(f"    x = x + {k}" for k in range(3000)), "    if x == 0:", "        return 0"]
    for k in range(200):
        lines += [f"    elif x == {k}:", f"        y = {k}"]
    lifted = lift(defined("\n".join([*lines, "    return x"])))
    check(lifted)
    assert len(lifted.body) > 3000


def test_name_place_doc_and_parameters():
    lifted = lift(programs.signature)
    assert (lifted.name, lifted.doc, lifted.origin) == ("signature", "Doc.", programs.signature)
    assert lifted.span.text.startswith("def signature")
    assert [(p.name, p.kind) for p in lifted.params] == [
        ("x", "normal"),
        ("y", "normal"),
        ("rest", "args"),
        ("z", "keyword"),
        ("w", "keyword"),
        ("more", "kwargs"),
    ]
    defaults = {p.name: p.default for p in lifted.params}
    assert defaults["x"] is None and defaults["y"] == ir.Lit(10) and defaults["z"] == ir.Lit(3)
    assert defaults["w"].value is programs.TABLE and defaults["w"].path == ("default", "w")


def test_a_lambda_has_a_name():
    assert lift(lambda x: x).name == "lambda_"


def test_a_local_name_without_value_is_refused():
    with pytest.raises(NotResolved, match="'y' never has a value") as caught:
        lift(defined("def f(x):\n    return x + y\n    y = 1"))
    assert caught.value.span.line == 2


@pytest.mark.parametrize("other", [len, np.sum, programs.Box])
def test_only_python_functions_are_lifted(other):
    with pytest.raises(NoSource):
        lift(other)


def test_every_statement_has_its_place():
    lifted = lift(programs.order)
    first = programs.order.__code__.co_firstlineno
    assert all(stmt.span.file == programs.__file__ and stmt.span.line > first for stmt in lifted.body)


def test_the_memo_sees_new_code_and_new_defaults():
    f = defined("def f(x, y=1, *, z=2):\n    return x")
    g = defined("def f(x, y=1, *, z=2):\n    return -x")
    first = lift(f)
    assert lift(f) is first
    f.__defaults__ = (5,)
    assert lift(f).params[1].default == ir.Lit(5)
    f.__kwdefaults__["z"] = 6
    assert lift(f).params[2].default == ir.Lit(6)
    f.__code__ = g.__code__
    assert run(lift(f), 3) == -3


def test_the_memo_sees_that_a_helper_was_rebound():
    space = {"helper": abs}
    f = defined("def f(x):\n    return helper(x)", **space)
    first = lift(f)
    f.__globals__["helper"] = round
    assert lift(f) is not first and lift(f).body[0].value.fn.value is round
    del f.__globals__["helper"]
    with pytest.raises(NotResolved):
        lift(f)


def test_the_memo_dies_with_its_function():
    f = defined("def f(x):\n    return f2(x)", f2=abs)
    lift(f)
    dead = weakref.ref(f)
    f.__globals__.clear()
    del f
    gc.collect()
    assert dead() is None


def test_the_memo_is_not_taken_over_by_a_wrapper_or_a_pickle():
    f = defined("def f(x):\n    return x")
    lifted = lift(f)
    other = types.FunctionType(f.__code__, f.__globals__, "other")
    other.__dict__.update(f.__dict__)
    assert lift(other) is not lifted and lift(other).origin is other
    (memo,) = f.__dict__.values()
    assert pickle.loads(pickle.dumps(memo)).lifted is None


class Point:
    @classmethod
    def of(cls, x):
        return x * 2.0


def by_a_class_method(x):
    return Point.of(x) + Point.of(x * x)


def test_a_bound_method_is_the_same_each_time_that_it_is_asked_for():
    assert lift(by_a_class_method) is lift(by_a_class_method)
    first, plain = lift(by_a_class_method), vars(Point)["of"]
    Point.of = classmethod(lambda cls, x: x)
    try:
        assert lift(by_a_class_method) is not first
    finally:
        Point.of = plain
