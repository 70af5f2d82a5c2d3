"""Lowers functions of the IR to Python syntax trees, in the form that a person would write.

A temporary (a name that begins with "%") with one definition and one reader is nested into its reader, unless
that would move a read past a write, a call, a consumption or a rebinding, or make a line too long.
"""

from __future__ import annotations

import ast

from tangentx.backend.blocks import BlockWriter, Context
from tangentx.backend.constants import constant
from tangentx.backend.spelling import Scope
from tangentx.ir.nodes import Function, Lit, Param


def lower(function: Function, scope: Scope) -> ast.FunctionDef:
    """The tree of `function`, its temporaries still called "%..." (see `temporaries`); a comment is a name
    that begins with "#", standing alone."""
    context = Context(function.body, scope, function.notes.get("lengths", {}))
    body = BlockWriter(context, 1).block(context.shaped[id(function.body)])
    if len(body) > 1 and _bare_return(body[-1]):
        body.pop()
    if function.doc:
        body.insert(0, ast.Expr(ast.Constant(function.doc)))
    tree = ast.FunctionDef(
        name=scope.functions.get(function, function.name),
        args=_arguments(function.params, scope),
        body=body or [ast.Pass()],
        decorator_list=[],
        returns=None,
        type_comment=None,
    )
    if "type_params" in ast.FunctionDef._fields:
        tree.type_params = []  # type: ignore[attr-defined,unused-ignore]
    return tree


def _bare_return(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Return) and isinstance(stmt.value, ast.Constant) and stmt.value.value is None


def _arguments(params: tuple[Param, ...], scope: Scope) -> ast.arguments:
    normal = [p for p in params if p.kind in ("normal", "positional")]
    named = [p for p in params if p.kind == "keyword"]
    defaults: list[ast.expr] = []
    for param in reversed(normal):  # a parameter without a default ends the run of those that have one
        default = _default(param, scope)
        if default is None:
            break
        defaults.insert(0, default)
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg(p.name) for p in normal],
        vararg=next((ast.arg(p.name) for p in params if p.kind == "args"), None),
        kwonlyargs=[ast.arg(p.name) for p in named],
        kw_defaults=[_default(p, scope) for p in named],
        kwarg=next((ast.arg(p.name) for p in params if p.kind == "kwargs"), None),
        defaults=defaults,
    )


def _default(param: Param, scope: Scope) -> ast.expr | None:
    return constant(param.default.value, scope) if isinstance(param.default, Lit) else None
