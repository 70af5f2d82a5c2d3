"""Rewriting: replaces atoms, names and calls, and keeps everything else."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar, assert_never

from tangentx.errors import Span
from tangentx.ir import nodes as ir


def map_key(key: ir.Key, change: Callable[[ir.Atom], ir.Atom]) -> ir.Key:
    """`key` with `change` applied to its atoms."""
    parts = tuple(
        ir.Slice(change(part.start), change(part.stop), change(part.step))
        if isinstance(part, ir.Slice)
        else change(part)
        for part in key.parts
    )
    return ir.Key(parts, key.many, key.attribute)


def map_expr(expr: ir.Expr, change: Callable[[ir.Atom], ir.Atom]) -> ir.Expr:
    """`expr` with `change` applied to its atoms; `Pop` must still be left with a variable.

    An operation whose atoms stay is given back itself.
    """
    match expr:
        case ir.Op():
            args, kwargs = _mapped(expr.args, change), _named(expr.kwargs, change)
            return expr if args is expr.args and kwargs is expr.kwargs else ir.Op(expr.fn, args, kwargs)
        case ir.Var() | ir.Lit() | ir.Ext():
            return change(expr)
        case ir.Apply():
            return ir.Apply(change(expr.fn), _mapped(expr.args, change), _named(expr.kwargs, change), expr.stars)
        case ir.Method():
            args, kwargs = _mapped(expr.args, change), _named(expr.kwargs, change)
            return ir.Method(change(expr.base), expr.name, args, kwargs, expr.stars, expr.above)
        case ir.Call():
            return ir.Call(expr.link, _mapped(expr.args, change))
        case ir.Index():
            return ir.Index(change(expr.base), map_key(expr.key, change))
        case ir.Attr():
            return ir.Attr(change(expr.base), expr.name)
        case ir.Make():
            return ir.Make(expr.cls, _mapped(expr.items, change), expr.keys)
        case ir.Pop():
            base = change(expr.base)
            assert isinstance(base, ir.Var)
            return replace(expr, base=base)
        case _:
            assert_never(expr)


def _mapped(args: tuple[ir.Atom, ...], change: Callable[[ir.Atom], ir.Atom]) -> tuple[ir.Atom, ...]:
    new = tuple([change(atom) for atom in args])
    return args if all(map(operator.is_, args, new)) else new


def _named(
    kwargs: tuple[tuple[str, ir.Atom], ...], change: Callable[[ir.Atom], ir.Atom]
) -> tuple[tuple[str, ir.Atom], ...]:
    return tuple((name, change(atom)) for name, atom in kwargs) if kwargs else kwargs


Node = TypeVar("Node", bound="ir.Statement | ir.Expr | ir.Block")


def rename(node: Node, mapping: Mapping[str, str], literals: Mapping[str, ir.Lit] = MappingProxyType({})) -> Node:
    """`node` (a statement, a block or an expression) with its names replaced as `mapping` says, bound ones too, and
    with constants for the names of `literals`, which it only reads."""

    def change(atom: ir.Atom) -> ir.Atom:
        if type(atom) is not ir.Var:
            return atom
        name = mapping.get(atom.name)
        return literals.get(atom.name, atom) if name is None else ir.Var(name)

    if isinstance(node, tuple):
        return tuple(_renamed(stmt, mapping, change) for stmt in node)  # type: ignore[return-value]
    if isinstance(node, ir.Statement):
        return _renamed(node, mapping, change)  # type: ignore[return-value]
    return map_expr(node, change)  # type: ignore[return-value]


def map_atoms(block: ir.Block, change: Callable[[ir.Atom], ir.Atom]) -> ir.Block:
    """`block` with `change` applied to every atom that it reads."""
    return tuple(_renamed(stmt, {}, change) for stmt in block)


def with_span(block: ir.Block, span: Span) -> ir.Block:
    """`block` with `span` for the place of every statement."""
    out: list[ir.Statement] = []
    for stmt in block:
        match stmt:
            case ir.If():
                body, orelse = with_span(stmt.body, span), with_span(stmt.orelse, span)
                out.append(replace(stmt, body=body, orelse=orelse, span=span))
            case ir.For() | ir.Loop():
                out.append(replace(stmt, body=with_span(stmt.body, span), span=span))
            case _:
                out.append(replace(stmt, span=span))
    return tuple(out)


def map_blocks(stmt: ir.Statement, change: Callable[[ir.Block], ir.Block]) -> ir.Statement:
    """`stmt` with `change` applied to each block inside it; the very same one where none changes."""
    match stmt:
        case ir.If():
            body, orelse = change(stmt.body), change(stmt.orelse)
            return stmt if (body, orelse) == (stmt.body, stmt.orelse) else replace(stmt, body=body, orelse=orelse)
        case ir.For() | ir.Loop():
            body = change(stmt.body)
            return stmt if body == stmt.body else replace(stmt, body=body)
    return stmt


def map_calls(block: ir.Block, change: Callable[[ir.Call], ir.Call]) -> ir.Block:
    """`block` with `change` applied to every call of a function of the language."""
    out: list[ir.Statement] = []
    for stmt in block:
        match stmt:
            case ir.Assign(value=ir.Call()):
                assert isinstance(stmt.value, ir.Call)
                out.append(replace(stmt, value=change(stmt.value)))
            case ir.If():
                out.append(replace(stmt, body=map_calls(stmt.body, change), orelse=map_calls(stmt.orelse, change)))
            case ir.For() | ir.Loop():
                out.append(replace(stmt, body=map_calls(stmt.body, change)))
            case _:
                out.append(stmt)
    return tuple(out)


def _renamed(stmt: ir.Statement, mapping: Mapping[str, str], change: Callable[[ir.Atom], ir.Atom]) -> ir.Statement:
    match stmt:
        case ir.Assign():
            return ir.Assign(mapping.get(stmt.target, stmt.target), map_expr(stmt.value, change), stmt.span)
        case ir.Augment():
            return replace(stmt, target=mapping.get(stmt.target, stmt.target), value=change(stmt.value))
        case ir.Augstore() if stmt.old is not None:
            key, old = map_key(stmt.key, change), change(stmt.old)
            assert isinstance(old, ir.Var)
            return replace(stmt, base=change(stmt.base), key=key, value=change(stmt.value), old=old)
        case ir.Store() | ir.Augstore() | ir.Accumulate():
            return replace(stmt, base=change(stmt.base), key=map_key(stmt.key, change), value=change(stmt.value))
        case ir.Append():
            return replace(stmt, base=change(stmt.base), value=change(stmt.value))
        case ir.Delete():
            return replace(stmt, base=change(stmt.base), key=map_key(stmt.key, change))
        case ir.If():
            return replace(
                stmt,
                test=change(stmt.test),
                body=tuple(_renamed(inner, mapping, change) for inner in stmt.body),
                orelse=tuple(_renamed(inner, mapping, change) for inner in stmt.orelse),
            )
        case ir.For():
            body = tuple(_renamed(inner, mapping, change) for inner in stmt.body)
            start, stop, step = change(stmt.start), change(stmt.stop), change(stmt.step)
            target = mapping.get(stmt.target, stmt.target)
            many = None if stmt.snapshots is None else change(stmt.snapshots)
            return replace(stmt, target=target, start=start, stop=stop, step=step, body=body, snapshots=many)
        case ir.Loop():
            return replace(stmt, body=tuple(_renamed(inner, mapping, change) for inner in stmt.body))
        case ir.Return():
            return replace(stmt, value=change(stmt.value))
        case ir.Raise():
            cause = None if stmt.cause is None else change(stmt.cause)
            return replace(stmt, value=change(stmt.value), cause=cause)
        case ir.Break() | ir.Continue() | ir.Note():
            return stmt
        case _:
            assert_never(stmt)
