"""``with`` statements, placed around the derived code of the user's blocks."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from tangentx.backend import forms
from tangentx.backend.expressions import Writer
from tangentx.backend.statement_groups import Shaped, Unpack
from tangentx.ir.nodes import (
    Append,
    Apply,
    Assign,
    Break,
    Continue,
    Expr,
    Ext,
    Lit,
    Make,
    Manager,
    Note,
    Pop,
    Var,
)

Inside = tuple[object, ...]


def runs(stmts: Sequence[Shaped], inside: Inside) -> Iterator[tuple[Manager | None, list[Shaped]]]:
    """Statements that follow each other under one manager beside those of `inside`, with that manager.

    Where no statement of them can warn there is no need of it: they come with None.
    """
    for _, group in itertools.groupby(stmts, lambda stmt: id(_next(stmt, inside))):
        found = list(group)
        manager = _next(found[0], inside)
        yield (None if all(map(_quiet, found)) else manager), found


def _next(stmt: Shaped, inside: Inside) -> Manager | None:
    """The outermost manager around the statement that is not yet open."""
    around = stmt.span.around
    heading = isinstance(stmt, Note) and stmt.text.startswith("----")
    if heading or len(around) <= len(inside) or any(a is not b for a, b in zip(around, inside, strict=False)):
        return None
    manager = around[len(inside)]
    assert isinstance(manager, Manager)
    return manager


def _quiet(stmt: Shaped) -> bool:
    """Whether the statement only moves values about."""
    match stmt:
        case Note() | Append() | Break() | Continue():
            return True
        case Assign(value=value):
            return _moves(value)
    return isinstance(stmt, Unpack) and _moves(stmt.value)


def _moves(value: Expr) -> bool:
    return isinstance(value, Var | Lit | Ext | Make | Pop)


def statement(writer: Writer, manager: Manager, body: list[ast.stmt]) -> ast.With:
    """``with manager:`` around `body`."""
    first: list[ast.stmt] = [ast.Expr(_call(writer, call)) for call in manager.first]
    match [*first, *body]:
        case [ast.With(items, inner)]:
            return ast.With([ast.withitem(_call(writer, manager.call), None), *items], inner)
    return ast.With([ast.withitem(_call(writer, manager.call), None)], [*first, *forms.filled(body)])


def _call(writer: Writer, call: Apply) -> ast.expr:
    return writer.expression(call, writer.atom)
