"""Python statements and tests assembled from printed parts."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tangentx.backend import operators
from tangentx.ir.nodes import Atom, Lit


def filled(body: list[ast.stmt]) -> list[ast.stmt]:
    """`body`, with a ``pass`` where it holds comments at most."""
    comments = all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Name) and s.value.id[0] == "#" for s in body)
    return [*body, ast.Pass()] if comments else body


def remark(text: str) -> list[ast.stmt]:
    """`text` as comments: a name that begins with "#", standing alone, is one."""
    lines = [f"# {line}".rstrip() for line in text.splitlines() or [""]]
    return [ast.Expr(ast.Name(line, ast.Load())) for line in lines]


def loop(body: list[ast.stmt]) -> ast.While:
    """``while True``, or ``while test`` where the body begins by leaving the loop."""
    match body:
        case [ast.If(test, [ast.Break()], []), *rest]:
            return ast.While(operators.negated(test), filled(rest), [])
    return ast.While(ast.Constant(True), filled(body), [])


def is_number(atom: Atom, value: int) -> bool:
    """Whether `atom` is the integer `value`, written out."""
    return isinstance(atom, Lit) and type(atom.value) is int and atom.value == value


def method(base: ast.expr, name: str, arg: ast.expr) -> ast.Call:
    """``base.name(arg)``"""
    return ast.Call(ast.Attribute(base, name, ast.Load()), [arg], [])


def augment(target: ast.expr, fn: Callable[..., object], value: ast.expr) -> ast.stmt:
    """``target fn= value``"""
    symbol = operators.augmented(fn)
    if symbol is None:
        raise AssertionError(f"{fn} has no augmented assignment")
    assert isinstance(target, ast.Name | ast.Subscript | ast.Attribute)
    return ast.AugAssign(target, symbol(), value)


def accumulate(target: ast.expr, value: ast.expr) -> ast.stmt:
    """``target += value``; adding ``-x`` is exactly subtracting ``x``."""
    assert isinstance(target, ast.Subscript | ast.Name)
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return ast.AugAssign(target, ast.Sub(), value.operand)
    return ast.AugAssign(target, ast.Add(), value)


def add_at(at: ast.expr, element: ast.expr, value: ast.expr) -> ast.stmt:
    """``np.add.at(base, key, value)`` for an element whose key may repeat."""
    assert isinstance(element, ast.Subscript)
    base = element.value
    return ast.Expr(ast.Call(at, [base, _as_value(element.slice), value], []))


def _as_value(key: ast.expr) -> ast.expr:
    """A key as an expression of its own: slices become calls of ``slice``."""
    if isinstance(key, ast.Tuple):
        return ast.Tuple([_as_value(part) for part in key.elts], ast.Load())
    if isinstance(key, ast.Slice):
        none = ast.Constant(None)
        bounds = [bound if bound is not None else none for bound in (key.lower, key.upper, key.step)]
        return ast.Call(ast.Name("slice", ast.Load()), bounds, [])
    return key
