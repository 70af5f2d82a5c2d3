"""Lifts a Python function, or a user's primitive, to the open IR."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable
from dataclasses import replace
from types import CodeType, EllipsisType, FunctionType
from typing import Any

from tangentx.common import free_variables, source
from tangentx.common.naming import is_identifier
from tangentx.errors import NotResolved, Span
from tangentx.frontend import parse, resolve, unsupported
from tangentx.frontend.functions import parameters
from tangentx.frontend.statements import Statements
from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tangentx.templates import is_own

# Direct derivatives of a user's primitive: wraps it in a function that only calls it.

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


# Lifts a Python function to the open IR.

_SIMPLE = (type(None), bool, int, float, complex, str, bytes, EllipsisType)
_SLOT = "__tangentx_lift__"


class _Memo:
    """What was lifted from a function, kept in the function's own ``__dict__``: it lives as long as the function.

    Pickles and copies as nothing.
    """

    def __init__(self, function: FunctionType | None = None, lifted: ir.Function | None = None) -> None:
        self.key = None if function is None else _key(function)
        self.function = function
        self.lifted = lifted

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Memo, ())

    def holds(self, function: FunctionType) -> bool:
        """Whether this was lifted from `function` as it is now, and its outside names still mean the same."""
        if self.function is not function or self.lifted is None or self.key is None:
            return False  # functools.wraps copies the __dict__ of another function
        if not all(old is new for old, new in zip(self.key, _key(function), strict=False)):
            return False
        return len(self.key) == len(_key(function)) and all(_same(ext) for ext in walk.exts(self.lifted))


def _key(function: FunctionType) -> tuple[object, ...]:
    code: CodeType = function.__code__
    keywords = function.__kwdefaults__ or {}
    return (code, function.__defaults__, *keywords, *keywords.values())


def _same(ext: ir.Ext) -> bool:
    try:
        return resolve.is_same(free_variables.current(ext), ext.value)
    except NotResolved:
        return False


def lift(function: FunctionType) -> ir.Function:
    """The language's version of `function`, as its source is now.

    Lifted again only where the function's code, its defaults or an outside object that it names has changed.
    Raises `NoSource` or `StaleSource` where the source is not to be had, `UnsupportedSyntax` for what is not
    translated, `NotResolved` for a name that means nothing.
    """
    memo = getattr(function, "__dict__", {}).get(_SLOT)
    if isinstance(memo, _Memo) and memo.lifted is not None and memo.holds(function):
        return memo.lifted
    lifted = calling(function) if is_own(function) else lift_as(function, Statements)
    function.__dict__[_SLOT] = _Memo(function, lifted)
    return lifted


def lift_as(function: FunctionType, way: type[Statements], prepare: Callable[[Any], None] | None = None) -> ir.Function:
    """See `lift`; `way` knows the statements, and `prepare` may change the tree before."""
    found = source.find(function)
    tree = parse.parse(found)
    if prepare is not None:
        prepare(tree)
    unsupported.check(tree, found)
    lifter = way(function, found, tree)
    span = found.span(tree)
    with lifter.block() as body:
        if isinstance(found.tree, ast.Lambda):
            body.append(ir.Return(lifter.atom(tree.body), lifter.span(tree.body)))
        elif not lifter.body(tree.body):
            body.append(ir.Return(ir.Lit(None), lifter.span(tree.body[-1])))
    body[:0] = lifter.openings()
    name = "lambda_" if isinstance(found.tree, ast.Lambda) else _name(function, tree.name)
    params = _params(function, tree)
    doc = function.__doc__ if isinstance(function.__doc__, str) else ""
    lifted = lifter.shared(ir.Function(name, params, tuple(body), span, function, doc))
    lifted = replace(lifted, notes={**lifted.notes, walk.RESOLVED: lifter.resolver.resolved()})
    for each in walk.with_inner(lifted):
        _assigned(each.params, each.body)
    return lifted


def _name(function: FunctionType, name: str) -> str:
    """The name of a function; ``__init__`` and its like are called after their class too."""
    owner = function.__qualname__.split(".")[-2:-1]
    special = name.startswith("__") and name.endswith("__")
    return f"{owner[0]}_{name.strip('_')}" if special and owner and is_identifier(owner[0]) else name


def _assigned(params: tuple[ir.Param, ...], body: ir.Block) -> None:
    """Refuse the reading of a local name that nothing assigns, or only what control never comes to."""
    known = walk.bound(tuple(stmt for stmt in body if not walk.empties(stmt))) | {param.name for param in params}
    for stmt in walk.statements(body):
        for name in sorted(walk.reads(stmt) - known):
            hint = f"assign {name!r} first; Python takes it as local because something in the function assigns it"
            raise NotResolved(f"the local name {name!r} never has a value", stmt.span, hint)


def _params(function: FunctionType, tree: Any) -> tuple[ir.Param, ...]:
    defaults = free_variables.defaults(function)

    def param(name: str, kind: str) -> ir.Param:
        if name not in defaults:
            return ir.Param(name, None, kind)
        value = defaults[name]
        if type(value) in _SIMPLE:
            return ir.Param(name, ir.Lit(value), kind)
        return ir.Param(name, ir.Ext(name, value, ("default", name), function), kind)

    return tuple(param(name, kind) for name, kind in parameters(tree.args))
