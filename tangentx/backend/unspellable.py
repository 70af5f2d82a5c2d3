"""Attributes and keywords whose names are not identifiers, such as ``learning-rate``, printed with `getattr`."""

from __future__ import annotations

import ast

from tangentx.backend.spelling import Scope
from tangentx.common.naming import is_identifier
from tangentx.common.syntax_trees import preorder


def spelled(tree: ast.FunctionDef, scope: Scope) -> ast.FunctionDef:
    """`tree` with ``getattr(x, name)``, ``setattr`` and ``delattr`` for what has no other spelling; in place."""
    if all(map(_is_spelled, preorder(tree))):
        return tree
    found: ast.FunctionDef = _Speller(scope).visit(tree)
    return found


def _is_spelled(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return is_identifier(node.attr)
    return not isinstance(node, ast.keyword) or node.arg is None or is_identifier(node.arg)


class _Speller(ast.NodeTransformer):
    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def _call(self, name: str, at: ast.Attribute, *more: ast.expr) -> ast.Call:
        function = self.scope.member("builtins", name)
        return ast.Call(function, [self.visit(at.value), ast.Constant(at.attr), *more], [])

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if is_identifier(node.attr):
            return self.generic_visit(node)  # type: ignore[return-value]
        return self._call("getattr", node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        match node.targets:
            case [ast.Attribute() as at] if not is_identifier(at.attr):
                return ast.Expr(self._call("setattr", at, self.visit(node.value)))
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        at = node.target
        if not isinstance(at, ast.Attribute) or is_identifier(at.attr):
            return self.generic_visit(node)  # type: ignore[return-value]
        assert isinstance(at.value, ast.Name)  # it is evaluated twice
        value = ast.BinOp(self._call("getattr", at), node.op, self.visit(node.value))
        return ast.Expr(self._call("setattr", at, value))

    def visit_Delete(self, node: ast.Delete) -> ast.stmt:
        match node.targets:
            case [ast.Attribute() as at] if not is_identifier(at.attr):
                return ast.Expr(self._call("delattr", at))
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        odd = [word for word in node.keywords if not _is_spelled(word)]
        if odd:
            plain = [word for word in node.keywords if word not in odd]
            keys: list[ast.expr | None] = [ast.Constant(word.arg) for word in odd]
            node.keywords = [*plain, ast.keyword(None, ast.Dict(keys, [word.value for word in odd]))]
        return node
