"""Conditional expressions: two branches that do nothing but bind one temporary."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tangentx.backend import operators
from tangentx.backend.pieces import Effect, Piece, measure
from tangentx.backend.shapes import temporary

if TYPE_CHECKING:
    from tangentx.backend.blocks import BlockWriter


def bound_by_both(w: BlockWriter, body: list[ast.stmt], orelse: list[ast.stmt]) -> str | None:
    """The temporary that both branches bind, when they do nothing else and nothing else binds it."""
    match body, orelse:
        case [ast.Assign([ast.Name(one)]) as first], [ast.Assign([ast.Name(two)]) as second]:
            known = first in w.context.values and second in w.context.values
            if one == two and known and temporary(one) and w.context.uses.bound[one] == 2:
                return one
    return None


def conditional(w: BlockWriter, test: ast.expr, reads: frozenset[str], body: ast.stmt, orelse: ast.stmt) -> Piece:
    """The two values as one expression that chooses by the test."""
    yes, no = w.context.values[body], w.context.values[orelse]
    tree = _either(w, test, yes.tree, no.tree)
    # The test may hold a call: it is read here as one.
    impure = any(isinstance(node, ast.Call) for node in ast.walk(test))
    return Piece(tree, yes.effect | no.effect | Effect(reads, True, impure), measure(tree))


def _either(w: BlockWriter, test: ast.expr, yes: ast.expr, no: ast.expr) -> ast.expr:
    """``yes if test else no``; ``and`` or ``or`` where one of them is the test itself."""
    if not isinstance(test, ast.Name) or isinstance(yes, ast.Name) == isinstance(no, ast.Name):
        return ast.IfExp(test, yes, no)
    if isinstance(no, ast.Name) and no.id == test.id:
        return operators.joined(ast.And(), _last(w, test.id), yes)
    if isinstance(yes, ast.Name) and yes.id == test.id:
        return operators.joined(ast.Or(), _last(w, test.id), no)
    return ast.IfExp(test, yes, no)


def _last(w: BlockWriter, name: str) -> ast.expr:
    """What stands for `name`: its definition, where that is the last line and only the two readers here need
    it."""
    uses = w.context.uses
    match w.lines:
        case [*_, ast.Assign([ast.Name(bound)], value)] if bound == name and temporary(name):
            if uses.bound[name] == 1 and uses.read[name] == 2:
                w.lines.pop()
                return value
    return ast.Name(name, ast.Load())
