"""Lowers functions of the IR to Python syntax trees, in the form that a person would write.

A temporary (a name that begins with "%") with one definition and one reader is nested into its reader, unless
that would move a read past a write, a call, a consumption or a rebinding, or make a line too long.
"""

from __future__ import annotations

import ast

from tangentx.arrays.kernels import kernel
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
        decorator_list=_decorators(function, scope),
        returns=None,
        type_comment=None,
    )
    if "type_params" in ast.FunctionDef._fields:
        tree.type_params = []  # type: ignore[attr-defined,unused-ignore]
    return tree


def source_of(function: Function, scope: Scope) -> str:
    """The name under which a text has the source of the kernel that a function is."""
    return f"{scope.functions.get(function, function.name)}_source"


def _decorators(function: Function, scope: Scope) -> list[ast.expr]:
    """What makes a kernel of a function, with its source, which stands before it."""
    if "kernel" not in function.notes:
        return []
    _, takes, gives = function.notes["kernel"]
    given: list[ast.expr] = [ast.Name(source_of(function, scope), ast.Load()), ast.Constant(takes), ast.Constant(gives)]
    return [ast.Call(scope.spelled(kernel), given, [])]


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
