"""Parses source text to a gast tree."""

from __future__ import annotations

import ast
from typing import Any

import gast
from gast.ast3 import Ast3ToGAst

from tangentx.common.source import Found
from tangentx.common.syntax_trees import children

DEPTH = 40  # levels of a tree that are converted by one recursion


class _Converter(Ast3ToGAst):  # type: ignore[misc]
    """gast's own conversion, which takes what it has converted already from `done`."""

    def __init__(self) -> None:
        self.done: dict[ast.AST, Any] = {}

    def visit(self, node: ast.AST) -> Any:
        if node in self.done:
            return self.done[node]
        return super().visit(node)


def convert(tree: ast.AST) -> gast.AST:
    """`tree` of the standard library as a tree of gast, however deep it is.

    gast converts by recursion and would exhaust the stack on a sum of some hundred terms, so deep parts are
    converted first.
    """
    converter = _Converter()
    height: dict[ast.AST, int] = {}
    inside: dict[ast.AST, list[ast.AST]] = {}
    order = [tree]
    for node in order:
        inside[node] = children(node)
        order += inside[node]
    for node in reversed(order):
        height[node] = 1 + max((height[child] for child in inside[node]), default=0)
        if height[node] >= DEPTH:
            converter.done[node] = converter.visit(node)
            height[node] = 0
    return converter.visit(tree)


def parse(found: Found) -> Any:
    """The definition that was found, a `gast.FunctionDef`, `gast.AsyncFunctionDef` or `gast.Lambda`.

    Names that Python mangles (``__x`` in a class) are mangled in it.
    """
    tree = convert(found.tree)
    if not __debug__:  # Python ran with -O when it compiled the function
        _drop_asserts(tree)
    owner = found.owner.lstrip("_")
    if owner:
        for node in gast.walk(tree):
            _mangle(node, owner)
    return tree


def _drop_asserts(tree: Any) -> None:
    """Takes out ``assert``; the names that one binds stay the function's own."""
    for node in gast.walk(tree):
        for field, block in gast.iter_fields(node):
            if isinstance(block, list) and any(isinstance(part, gast.Assert) for part in block):
                setattr(node, field, [_nothing(part) if isinstance(part, gast.Assert) else part for part in block])


def _nothing(node: Any) -> Any:
    binds = any(isinstance(part, gast.NamedExpr) for part in gast.walk(node))
    dead = gast.If(gast.Constant(False, None), [node], []) if binds else gast.Pass()
    return gast.fix_missing_locations(gast.copy_location(dead, node))


def _mangle(node: Any, owner: str) -> None:
    for field in ("id", "attr"):
        name = getattr(node, field, None)
        if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
            setattr(node, field, f"_{owner}{name}")
