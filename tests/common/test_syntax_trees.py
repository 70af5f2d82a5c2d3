"""Walks of syntax trees beside those of the standard library."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import gast
import pytest

from tangentx.common.syntax_trees import children, preorder
from tests.programs import closures, syntax

SIGNS = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
GAST_SIGNS = (gast.expr_context, gast.operator, gast.unaryop, gast.cmpop, gast.boolop)


@pytest.mark.parametrize("module", [syntax, closures])
def test_every_node_is_met_once_but_contexts_and_signs(module: Any) -> None:
    tree = ast.parse(inspect.getsource(module))
    met = list(preorder(tree))
    assert len(met) == len(set(map(id, met))) > 500
    assert {id(node) for node in met} == {id(node) for node in ast.walk(tree) if not isinstance(node, SIGNS)}


def test_trees_of_gast_too() -> None:
    tree = gast.parse(inspect.getsource(syntax))
    assert {id(n) for n in preorder(tree)} == {id(n) for n in gast.walk(tree) if not isinstance(n, GAST_SIGNS)}


def test_a_node_comes_before_what_is_inside_it_and_in_the_order_of_the_text() -> None:
    tree = ast.parse("def f(a, *, b=c):\n    for x in y:\n        d[e] += -g < h <= (i and j)\n    return k")
    names = [getattr(node, "id", getattr(node, "arg", None)) for node in preorder(tree)]
    assert [name for name in names if name] == list("abcxydeghijk")


def test_a_field_that_is_missing_holds_nothing() -> None:
    assert children(ast.Return()) == [] and children(ast.Return(None)) == []
