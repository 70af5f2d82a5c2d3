"""Names mean what they mean in Python: objects, not spellings."""

import builtins
import math
import types

import gast
import numpy as np
import pytest

from tangentx.common import free_variables
from tangentx.errors import NotResolved
from tangentx.frontend import resolve
from tangentx.frontend.lift import lift
from tangentx.ir import walk
from tests.frontend.made import defined


def scope(body):
    tree = gast.parse(f"def f(p, q=1, *r, s, **t):\n    {body}").body[0]
    return resolve.scope(tree)


@pytest.mark.parametrize(
    "body, names",
    [
        ("a = b", "a"),
        ("a, (b, [c, d[e]]) = f", "a b c"),
        ("for a in b: c += d", "a c"),
        ("x: int", "x"),
        ("a = [b for b in c if (d := b)]", "a d"),
        ("[[(a := b) for b in c] for c in e]", "a"),
        ("global a, c\n    a = b = 1", "b"),
        ("g(lambda a: (b := a))", ""),
        ("del a", "a"),
    ],
)
def test_scope(body, names):
    assert scope(body).names == {"p", "q", "r", "s", "t", *names.split()}


def test_scope_knows_what_walrus_binds():
    assert scope("a = [(b := c) for c in d]; (e := 1)").walrus == {"b", "e"}


def found(function):
    return [(ext.path, ext.value) for ext in walk.exts(lift(function))]


def test_chains_of_modules_and_classes_fold():
    deep = types.ModuleType("deep")
    deep.inner = types.ModuleType("inner")
    deep.inner.Cls = type("Cls", (), {"k": 3.0, "m": staticmethod(abs)})
    f = defined("def f(x):\n    return deep.inner.Cls.m(x) + deep.inner.Cls.k + np.linalg.norm(x)", deep=deep, np=np)
    assert found(f) == [
        (("global", "deep", "inner", "Cls", "m"), abs),
        (("global", "deep", "inner", "Cls", "k"), 3.0),
        (("global", "np", "linalg", "norm"), np.linalg.norm),
    ]


def test_kinds_of_paths():
    inside = 5.0

    def f(x):
        return abs(x) + inside + math.sin(x)

    assert [(path[0], path[1:]) for path, _ in found(f)] == [
        ("builtin", ("abs",)),
        ("closure", ("inside",)),
        ("global", ("math", "sin")),
    ]


def test_one_object_for_one_name():
    assert len(found(defined("def f(x):\n    return G + G * G", G=1.0))) == 1


def test_shadowed_builtins_are_what_shadows_them():
    assert found(defined("def f(x):\n    return len(x)", len=math.sin)) == [(("global", "len"), math.sin)]
    assert found(defined("def f(x, len):\n    return len(x)")) == []


def test_objects_that_are_no_modules_do_not_fold():
    f = defined("def f(x):\n    return x + A.T", A=np.eye(2))
    assert [path for path, _ in found(f)] == [("global", "A")]


def test_current_reads_again():
    value = 1.0

    def f(x, y=TEST):
        return x * value + np.sin(SETTING) + len(x)

    space = f.__globals__
    exts = {ext.name: ext for ext in walk.exts(lift(f))}
    value = 2.0
    assert free_variables.current(exts["value"]) == 2.0 and exts["value"].value == 1.0
    assert free_variables.current(exts["y"]) is TEST
    assert free_variables.current(exts["sin"]) is np.sin
    space["len"] = max
    try:
        assert free_variables.current(exts["len"]) is max
    finally:
        del space["len"]
    assert free_variables.current(exts["len"]) is builtins.len
    f.__defaults__ = None
    with pytest.raises(NotResolved):
        free_variables.current(exts["y"])


TEST = [1]
SETTING = 0.5


def test_what_is_gone_is_an_error():
    f = defined("def f(x):\n    return mod.g(x) + h(x)", mod=types.SimpleNamespace(), h=abs)
    (_, h) = walk.exts(lift(f))
    del f.__globals__["h"]
    with pytest.raises(NotResolved, match="'h' is not defined"):
        free_variables.current(h)


def unassigned():
    def f(x):
        return x + later

    return f
    later = 1


@pytest.mark.parametrize(
    "function, message, column",
    [
        (defined("def f(x):\n    return x + nowhere"), "'nowhere'", 15),
        (defined("def f(x):\n    return x + np.nothing.more", np=np), "np has no attribute 'nothing'", 15),
        (unassigned(), "'later' has no value yet", 19),
    ],
)
def test_what_is_not_there_is_an_error_with_its_place(function, message, column):
    with pytest.raises(NotResolved, match=message) as caught:
        lift(function)
    assert caught.value.span.column == column and caught.value.hint


def test_defaults_by_parameter():
    def f(a, /, b, c=1, *r, d, e=2, **k):
        return a

    assert free_variables.defaults(f) == {"c": 1, "e": 2}


def test_of_more_defaults_than_parameters_the_last_count():
    def f(a, b=1, *, c=2):
        return a, b, c

    assert free_variables.defaults(f) == {"b": 1, "c": 2}
    f.__defaults__ = (7, 8, 9)
    assert f() == (8, 9, 2) and free_variables.defaults(f) == {"a": 8, "b": 9, "c": 2}
    g = lambda *args: args
    g.__defaults__ = (None, None)
    assert free_variables.defaults(g) == {}
