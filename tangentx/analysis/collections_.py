"""Methods of lists and dicts, and their augmented assignments."""

from __future__ import annotations

import inspect
import operator
from typing import TYPE_CHECKING, Any

from tangentx.analysis import dicts, lists, standins
from tangentx.analysis.inlining import INLINED, standin
from tangentx.analysis.kinds import Box, Kind
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import (
    Atom,
    Augment,
    Expr,
    Method,
    Var,
)

if TYPE_CHECKING:
    from tangentx.analysis.infer import Walker


def container_method(w: Walker, expr: Method, atom: Atom, kind: Box) -> tuple[Expr, Kind]:
    """A method of a list or a dict."""
    names = [name for name, _ in expr.kwargs]
    table: dict[Any, Any] = lists.METHODS if kind.cls is list else dicts.METHODS
    rule = table.get((expr.name, len(expr.args)))
    if expr.name == "update" and kind.cls is dict and len(expr.args) < 2:
        return dicts.update(w, expr, kind)
    if kind.cls is list and expr.name == "sort" and set(names) <= {"key", "reverse"} and not expr.args:
        return lists.sort(w, expr)
    if rule is None or names:
        raise UnsupportedSyntax(
            f"`{expr.name}` of a {kind.cls.__name__} with these arguments",
            w.span,
            "write it with a loop, append, pop and writes by index or key",
        )
    if inspect.isfunction(rule) and rule in INLINED:
        return standin(w, rule, (expr.base, *expr.args))
    result: tuple[Expr, Kind] = rule(w, expr, atom, kind)
    return result


def augment(w: Walker, s: Augment, kind: Box) -> None:
    """``target += values`` of a list, ``target |= other`` of a dict: written in place"""
    base = Var(s.target)
    if kind.cls is list and s.fn is operator.add:
        lists.extend(w, base, kind, s.value)
    elif kind.cls is list and s.fn is operator.mul:
        standin(w, standins.multiply, (base, s.value))
    elif kind.cls is dict and s.fn is operator.or_:
        dicts.merge(w, base, (s.value,))
    else:
        raise UnsupportedSyntax("this augmented assignment to a container", s.span, "write it item by item")
