"""Direct derivatives of a user's primitive: wraps it in a function that only calls it."""

from __future__ import annotations

import inspect
import linecache
from types import FunctionType
from typing import Any

from tangentx.errors import Span
from tangentx.ir import nodes as ir

_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "normal",
    inspect.Parameter.VAR_POSITIONAL: "args",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.VAR_KEYWORD: "kwargs",
}


def calling(function: FunctionType) -> ir.Function:
    """``return f(x, y)``, with the parameters of `f`."""
    params = list(inspect.signature(function).parameters.values())
    inner: Any = inspect.unwrap(function)
    code = getattr(inner, "__code__", function.__code__)
    text = linecache.getline(code.co_filename, code.co_firstlineno).rstrip()
    span = Span(code.co_filename, code.co_firstlineno, len(text) - len(text.lstrip()), text)
    placed = [p for p in params if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)]
    named = [("**" if p.kind is p.VAR_KEYWORD else p.name, ir.Var(p.name)) for p in params if p not in placed]
    stars = tuple(i for i, p in enumerate(placed) if p.kind is p.VAR_POSITIONAL)
    name = function.__name__
    by_name = getattr(inner, "__globals__", {}).get(name) is function
    callee = ir.Ext(name, function, ("global", name) if by_name else ("object",), inner if by_name else function)
    call = ir.Apply(callee, tuple(ir.Var(p.name) for p in placed), tuple(named), stars)
    body = (ir.Assign("%1", call, span), ir.Return(ir.Var("%1"), span))
    made = tuple(ir.Param(p.name, _default(p), _KINDS[p.kind]) for p in params)
    return ir.Function(name, made, body, span, function, function.__doc__ or "")


def _default(param: inspect.Parameter) -> ir.Atom | None:
    if param.default is param.empty:
        return None
    plain = type(param.default) in (type(None), bool, int, float, complex, str)
    return ir.Lit(param.default) if plain else ir.Ext(param.name, param.default, ("object",), param.default)
