"""Walks over the language: what a statement holds, reads and binds, and renaming.

`reads` and `writes` speak of one statement without its blocks; `bound` and `used` of a block with all it holds.
All but `rename` work without recursion, so the depth of a program does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar, assert_never

from tangentx.ir import nodes as ir


def blocks(stmt: ir.Statement) -> tuple[ir.Block, ...]:
    """The blocks of `stmt`, in the order of the text."""
    match stmt:
        case ir.If():
            return (stmt.body, stmt.orelse)
        case ir.For() | ir.Loop():
            return (stmt.body,)
    return ()


def statements(block: ir.Block) -> Iterator[ir.Statement]:
    """Every statement of `block`, and of the blocks inside it, in the order of the text."""
    stack = list(reversed(block))
    while stack:
        stmt = stack.pop()
        yield stmt
        for inner in reversed(blocks(stmt)):
            stack.extend(reversed(inner))


def key_atoms(key: ir.Key) -> Iterator[ir.Atom]:
    """The atoms of `key`, the bounds of its slices included."""
    for part in key.parts:
        if isinstance(part, ir.Slice):
            yield from (part.start, part.stop, part.step)
        else:
            yield part


def atoms(expr: ir.Expr) -> Iterator[ir.Atom]:
    """The atoms of `expr`, in the order in which they are given."""
    match expr:
        case ir.Var() | ir.Lit() | ir.Ext():
            yield expr
        case ir.Op():
            yield from expr.args
            yield from (value for _, value in expr.kwargs)
        case ir.Apply():
            yield expr.fn
            yield from expr.args
            yield from (value for _, value in expr.kwargs)
        case ir.Method():
            yield expr.base
            yield from expr.args
            yield from (value for _, value in expr.kwargs)
        case ir.Call():
            yield from expr.args
        case ir.Index():
            yield expr.base
            yield from key_atoms(expr.key)
        case ir.Attr() | ir.Pop():
            yield expr.base
        case ir.Make():
            yield from expr.items
        case _:
            assert_never(expr)


def statement_atoms(stmt: ir.Statement) -> Iterator[ir.Atom]:
    """The atoms that `stmt` itself holds, not those of its blocks; a name that it binds is no atom."""
    match stmt:
        case ir.Assign():
            yield from atoms(stmt.value)
        case ir.Augment() | ir.Return() | ir.Raise():
            yield stmt.value
        case ir.Store() | ir.Augstore() | ir.Accumulate():
            yield stmt.base
            yield from key_atoms(stmt.key)
            yield stmt.value
        case ir.Append():
            yield stmt.base
            yield stmt.value
        case ir.Delete():
            yield stmt.base
            yield from key_atoms(stmt.key)
        case ir.If():
            yield stmt.test
        case ir.For():
            yield from (stmt.start, stmt.stop, stmt.step)
        case ir.Loop() | ir.Break() | ir.Continue() | ir.Note():
            return
        case _:
            assert_never(stmt)


def reads(stmt: ir.Statement) -> frozenset[str]:
    """The names that `stmt` itself reads; the target of an `Augment` is one."""
    found = {atom.name for atom in statement_atoms(stmt) if isinstance(atom, ir.Var)}
    if isinstance(stmt, ir.Augment):
        found.add(stmt.target)
    return frozenset(found)


def writes(stmt: ir.Statement) -> frozenset[str]:
    """The names that `stmt` itself binds. Writing into storage binds nothing."""
    match stmt:
        case ir.Assign() | ir.Augment() | ir.For():
            return frozenset((stmt.target,))
    return frozenset()


def bound(block: ir.Block) -> frozenset[str]:
    """The names that anything in `block` binds."""
    return frozenset(name for stmt in statements(block) for name in writes(stmt))


def used(block: ir.Block) -> frozenset[str]:
    """The names that anything in `block` reads."""
    return frozenset(name for stmt in statements(block) for name in reads(stmt))


def exts(function: ir.Function) -> tuple[ir.Ext, ...]:
    """The outside objects of `function`, each once, in the order of the text; callees' are not among them."""
    found: dict[int, ir.Ext] = {}
    for param in function.params:
        if isinstance(param.default, ir.Ext):
            found[id(param.default)] = param.default
    for stmt in statements(function.body):
        for atom in statement_atoms(stmt):
            if isinstance(atom, ir.Ext):
                found.setdefault(id(atom), atom)
    return tuple(found.values())


def map_key(key: ir.Key, change: Callable[[ir.Atom], ir.Atom]) -> ir.Key:
    """`key` with `change` applied to its atoms."""
    parts = tuple(
        ir.Slice(change(part.start), change(part.stop), change(part.step))
        if isinstance(part, ir.Slice)
        else change(part)
        for part in key.parts
    )
    return ir.Key(parts, key.many)


def map_expr(expr: ir.Expr, change: Callable[[ir.Atom], ir.Atom]) -> ir.Expr:
    """`expr` with `change` applied to its atoms; `Pop` must still be left with a variable."""
    match expr:
        case ir.Var() | ir.Lit() | ir.Ext():
            return change(expr)
        case ir.Op():
            return ir.Op(expr.fn, _mapped(expr.args, change), _named(expr.kwargs, change))
        case ir.Apply():
            return ir.Apply(change(expr.fn), _mapped(expr.args, change), _named(expr.kwargs, change))
        case ir.Method():
            return ir.Method(change(expr.base), expr.name, _mapped(expr.args, change), _named(expr.kwargs, change))
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
            return ir.Pop(base)
        case _:
            assert_never(expr)


def _mapped(args: tuple[ir.Atom, ...], change: Callable[[ir.Atom], ir.Atom]) -> tuple[ir.Atom, ...]:
    return tuple(change(atom) for atom in args)


def _named(
    kwargs: tuple[tuple[str, ir.Atom], ...], change: Callable[[ir.Atom], ir.Atom]
) -> tuple[tuple[str, ir.Atom], ...]:
    return tuple((name, change(atom)) for name, atom in kwargs)


Node = TypeVar("Node", bound="ir.Statement | ir.Expr | ir.Block")


def rename(node: Node, mapping: Mapping[str, str]) -> Node:
    """`node` (a statement, a block or an expression) with its names replaced as `mapping` says, bound ones too."""

    def change(atom: ir.Atom) -> ir.Atom:
        if isinstance(atom, ir.Var) and atom.name in mapping:
            return ir.Var(mapping[atom.name])
        return atom

    if isinstance(node, tuple):
        return tuple(_renamed(stmt, mapping, change) for stmt in node)  # type: ignore[return-value]
    if isinstance(node, ir.Statement):
        return _renamed(node, mapping, change)  # type: ignore[return-value]
    return map_expr(node, change)  # type: ignore[return-value]


def map_atoms(block: ir.Block, change: Callable[[ir.Atom], ir.Atom]) -> ir.Block:
    """`block` with `change` applied to every atom that it reads."""
    return tuple(_renamed(stmt, {}, change) for stmt in block)


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
            return replace(stmt, target=mapping.get(stmt.target, stmt.target), value=map_expr(stmt.value, change))
        case ir.Augment():
            return replace(stmt, target=mapping.get(stmt.target, stmt.target), value=change(stmt.value))
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
            return replace(stmt, target=target, start=start, stop=stop, step=step, body=body)
        case ir.Loop():
            return replace(stmt, body=tuple(_renamed(inner, mapping, change) for inner in stmt.body))
        case ir.Return() | ir.Raise():
            return replace(stmt, value=change(stmt.value))
        case ir.Break() | ir.Continue() | ir.Note():
            return stmt
        case _:
            assert_never(stmt)
