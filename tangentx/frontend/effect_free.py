"""Effect analysis of source code: expressions and functions that write nothing."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import FunctionType
from typing import Any

import gast

from tangentx.analysis.types.primitives import is_primitive
from tangentx.common import source
from tangentx.errors import TangentxError
from tangentx.frontend import parse, resolve
from tangentx.ir import nodes as ir

_WRITING = (
    gast.NamedExpr, gast.Global, gast.Nonlocal, gast.Delete, gast.Yield, gast.YieldFrom, gast.Await, gast.With,
    gast.Import, gast.ImportFrom,
)  # fmt: skip
_DEPTH = 3
_ITERATORS = (map, filter, zip, enumerate, reversed)
_READING = frozenset("sum mean dot copy astype reshape ravel transpose max min std var prod cumsum clip round".split())


def is_quiet(node: Any, outside: Callable[[Any], ir.Ext | None], depth: int = _DEPTH) -> bool:
    """Whether nothing is written where `node` is evaluated, or the function that it is is called. `outside` gives what
    a name of the module's means."""
    if isinstance(node, gast.Name | gast.Attribute) and depth == _DEPTH:
        found = outside(node)
        return found is not None and _called_quietly(found.value, depth)
    return all(_part(part, outside, depth) for part in gast.walk(node))


def _part(node: Any, outside: Callable[[Any], ir.Ext | None], depth: int) -> bool:
    if isinstance(node, _WRITING):
        return False
    if isinstance(node, gast.Subscript | gast.Attribute) and not isinstance(node.ctx, gast.Load):
        return False
    if isinstance(node, gast.AugAssign):
        return False
    if not isinstance(node, gast.Call):
        return True
    if any(given.arg == "out" for given in node.keywords):
        return False
    fn = outside(node.func)
    if fn is None:
        return isinstance(node.func, gast.Attribute) and node.func.attr in _READING
    if any(fn.value is maker for maker in _ITERATORS):
        functions = node.args[:1] if fn.value in (map, filter) else []
        return all(isinstance(f, gast.Lambda | gast.Constant) or is_quiet(f, outside) for f in functions)
    return _called_quietly(fn.value, depth - 1)


def _called_quietly(fn: Any, depth: int) -> bool:
    """Whether a call of an object writes nothing."""
    if is_primitive(fn):
        return True
    if not isinstance(fn, FunctionType) or depth < 0 or fn.__closure__:
        return False
    try:
        found = source.find(fn)
        tree = parse.parse(found)
    except TangentxError:
        return False
    names, own = fn.__globals__, resolve.own(tree)

    def outside(node: Any) -> ir.Ext | None:
        value = None
        if isinstance(node, gast.Name) and node.id not in own:
            value = names.get(node.id, getattr(builtins, node.id, None))
        elif isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name) and node.value.id not in own:
            value = getattr(names.get(node.value.id), node.attr, None)
        return None if value is None else ir.Ext("called", value, ("object",), None)

    body = tree.body if isinstance(tree.body, list) else [tree.body]
    return all(_part(part, outside, depth) for each in body for part in gast.walk(each))
