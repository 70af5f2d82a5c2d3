"""Refuses constructs that the frontend does not translate, with location and remedy.

Every class of gast is in one of the two tables. The rest of the frontend counts on what has passed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import gast

from tangentx.common.source import Found
from tangentx.common.syntax_trees import children
from tangentx.errors import UnsupportedSyntax
from tangentx.frontend import resolve, scopes

SUPPORTED = frozenset(
    """
    FunctionDef Lambda arguments Param
    Return Assign AugAssign AnnAssign For While If Raise Assert Expr Pass Break Continue Global Nonlocal
    With withitem Try ExceptHandler Delete Del Import ImportFrom alias
    Match match_case MatchValue MatchSingleton MatchSequence MatchClass MatchMapping MatchStar MatchAs MatchOr
    BoolOp NamedExpr BinOp UnaryOp IfExp Dict Set ListComp DictComp SetComp GeneratorExp Compare Call
    FormattedValue JoinedStr Constant Attribute Subscript Starred Name List Tuple Slice
    Load Store And Or Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv
    Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn comprehension keyword
    """.split()
)

_MOVE = "move it into a function of its own that is marked @tx.primitive"
_OLD = ("this is no Python 3 function", "write a plain def")
_TYPES = ("type parameters are not differentiated", "move the declaration out of the function")
_TRY = ("except* is not differentiated", f"test the condition before with if, or {_MOVE}")
_ASYNC = ("async functions and statements are not differentiated", "write a plain function that gets the data passed")
YIELD = ("generators are not differentiated", "collect the values in a list and return it")
_TEMPLATE = ("template strings are not differentiated", "write an f-string")

REFUSED: dict[str, tuple[str, str]] = {
    "ClassDef": ("a class inside the function is not differentiated", "define it at the top of the module"),
    "AsyncFunctionDef": _ASYNC,
    "AsyncFor": _ASYNC,
    "AsyncWith": _ASYNC,
    "Await": _ASYNC,
    "Yield": YIELD,
    "YieldFrom": YIELD,
    "TryStar": _TRY,
    "TypeAlias": _TYPES,
    "TypeVar": _TYPES,
    "ParamSpec": _TYPES,
    "TypeVarTuple": _TYPES,
    "TemplateStr": _TEMPLATE,
    "Interpolation": _TEMPLATE,
    **dict.fromkeys(
        (
            *("Module", "Interactive", "Expression", "FunctionType", "Suite", "Print", "Exec", "Repr", "TypeIgnore"),
            *("AugLoad", "AugStore", "type_ignore", "pattern"),
        ),
        _OLD,
    ),
}


class Refusal(NamedTuple):
    """What is refused, why, and what to write instead."""

    node: Any
    message: str
    hint: str


def check(tree: Any, found: Found, yields: bool = False) -> None:
    """Raise `UnsupportedSyntax` for the first construct of `tree`, in the order of the text, that is not supported.

    `yields`: the function itself may be a generator. One that is defined in it may be: who calls it is asked.
    """
    refusals = list(_refusals(tree, yields))
    if refusals:
        first = min(refusals, key=_place)
        raise UnsupportedSyntax(first.message, found.span(first.node), first.hint)


def every(tree: Any, found: Found) -> list[UnsupportedSyntax]:
    """An error for each construct of `tree` that is not supported."""
    refusals = sorted(_refusals(tree), key=_place)
    return [UnsupportedSyntax(each.message, found.span(each.node), each.hint) for each in refusals]


def _place(refusal: Refusal) -> tuple[float, float]:
    """Where a refusal stands; what has no place of its own is part of something that has, and comes last."""
    return getattr(refusal.node, "lineno", math.inf), getattr(refusal.node, "col_offset", math.inf)


def _refusals(tree: Any, yields: bool = False) -> Iterator[Refusal]:
    if isinstance(tree, gast.AsyncFunctionDef):
        yield Refusal(tree, *_ASYNC)
    yield from _outer(tree, frozenset())
    stack = list(tree.body if isinstance(tree.body, list) else [tree.body])
    for node in () if yields else scopes.own_nodes(tree):
        if isinstance(node, gast.Yield | gast.YieldFrom):
            yield Refusal(node, *YIELD)
    while stack:
        node = stack.pop()
        yield from _node(node)
        stack.extend(children(node))


def _node(node: Any) -> Iterator[Refusal]:
    name = type(node).__name__
    if name not in SUPPORTED and name not in ("Yield", "YieldFrom"):
        yield Refusal(node, *REFUSED.get(name, (f"{name} is not differentiated", _MOVE)))
    special = _SPECIAL.get(name)
    if special is not None:
        yield from special(node)


def _outer(tree: Any, enclosing: frozenset[str]) -> Iterator[Refusal]:
    """Names of scopes outside all that is lifted may be read, with or without a declaration, but not rebound.

    `enclosing`: the names that the functions around `tree` bind.
    """
    declared = {
        name: type(node).__name__.lower()
        for node in scopes.own_nodes(tree)
        if isinstance(node, gast.Global | gast.Nonlocal)
        for name in node.names
        if isinstance(node, gast.Global) or name not in enclosing
    }
    for node in scopes.own_nodes(tree) if declared else ():
        bound = node.id if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load) else None
        if isinstance(node, gast.FunctionDef):
            bound = node.name
        if bound in declared:
            message = f"rebinding the {declared[bound]} name {bound!r} is not differentiated"
            yield Refusal(node, message, "pass the value as an argument, and return the new one")
    functions = [inner for inner in scopes.inner(tree) if not isinstance(inner, gast.ClassDef)]
    around = enclosing | resolve.scope(tree).names if functions else enclosing
    for inner in functions:
        yield from _outer(inner, around)


def _attribute(node: Any) -> Iterator[Refusal]:
    if isinstance(node.ctx, gast.Del):
        yield Refusal(node, f"removing the attribute {node.attr!r} is not differentiated", "set it to None instead")


def _raise(node: Any) -> Iterator[Refusal]:
    if node.exc is None:
        yield Refusal(node, "raise without an exception is not differentiated", "name the exception")


def _comprehension(node: Any) -> Iterator[Refusal]:
    if node.is_async:
        yield Refusal(node.target, *_ASYNC)


_SPECIAL = {
    "Attribute": _attribute,
    "Raise": _raise,
    "comprehension": _comprehension,
}
