"""Imports inside a function: objects from outside, found where the function is lifted."""

import pytest

from tangentx.common import free_variables
from tangentx.errors import NotResolved, UnsupportedSyntax
from tangentx.frontend.lift import lift
from tangentx.ir import walk
from tests.frontend.made import defined
from tests.frontend.test_statements import lifted


@pytest.mark.parametrize(
    "body, path",
    [
        ("import math as m\nreturn m.sin(x)", ("import", "math", "sin")),
        ("from math import sin as s\nreturn s(x)", ("import", "math", "sin")),
        ("import os.path\nreturn os.path.join(x)", ("import", "os", "path", "join")),
        ("from os import path\nreturn path.join(x)", ("import", "os", "path", "join")),
    ],
)
def test_the_path_of_what_is_imported(body, path):
    function = lift(defined("def f(x):\n    " + body.replace("\n", "\n    ")))
    (ext,) = walk.exts(function)
    assert ext.path == path and free_variables.current(ext) is ext.value


def test_a_submodule_is_imported_too():
    function = lift(defined("def f(x):\n    from xml.sax import saxutils\n    return saxutils.escape(x)"))
    assert [ext.path for ext in walk.exts(function)] == [("import", "xml.sax.saxutils", "escape")]


def test_an_import_binds_where_it_stands_alone():
    text = "def f(x):\n    if x:\n        import math\n        x = math.sin(x)\n    return math.cos(x)"
    with pytest.raises(NotResolved, match="another block"):
        lift(defined(text))


def test_what_cannot_be_imported_is_refused_where_it_stands():
    with pytest.raises(NotResolved, match="no_such_module") as caught:
        lift(defined("def f(x):\n    import no_such_module\n    return x"))
    assert caught.value.span.line == 2
    with pytest.raises(UnsupportedSyntax):
        lift(defined("def f(x):\n    from ... import y\n    return x"))


def test_an_import_leaves_no_statement():
    assert lifted("import math\nreturn x") == ["return x"]
