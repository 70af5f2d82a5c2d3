"""The way from ast to gast."""

import ast

import gast
import pytest

from tangentx import source
from tangentx.frontend import parse
from tests.frontend import programs


@pytest.mark.parametrize("text", ["x = 1", "def f(a, *b, c: int = 2, **d):\n    return a[0, 1:] + f'{a}'"])
def test_converts_as_gast_does(text):
    tree = ast.parse(text)
    assert gast.dump(parse.convert(tree), include_attributes=True) == gast.dump(
        gast.ast_to_gast(tree), include_attributes=True
    )


def test_converts_what_is_deep():
    tree = parse.convert(ast.parse(" + ".join(["x"] * 1000), mode="eval"))
    node, terms = tree.body, 1
    while isinstance(node, gast.BinOp):
        node, terms = node.left, terms + 1
    assert terms == 1000 and isinstance(node, gast.Name)


def test_the_given_tree_is_not_changed():
    tree = ast.parse("-".join(["x"] * 100))
    before = ast.dump(tree, include_attributes=True)
    parse.convert(tree)
    assert ast.dump(tree, include_attributes=True) == before


def test_private_names_are_mangled():
    tree = parse.parse(source.find(programs.Box.secret))
    assert [node.attr for node in gast.walk(tree) if isinstance(node, gast.Attribute)] == ["_Box__secret"]
