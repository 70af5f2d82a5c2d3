"""Walks over the language: what a statement holds, reads and binds.

`reads` and `writes` speak of one statement without its blocks; `bound` and `used` of a block with all it holds.
All work without recursion, so the depth of a program does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from tangentx.ir import nodes as ir
from tangentx.ir.functions import Closure, function_of


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


def made_closure(stmt: ir.Statement) -> type[Closure] | None:
    """The class of the function that `stmt` makes, if it makes one."""
    made = stmt.value if isinstance(stmt, ir.Assign) else None
    return made.cls if isinstance(made, ir.Make) and issubclass(made.cls, Closure) else None


def with_inner(function: ir.Function) -> tuple[ir.Function, ...]:
    """`function`, and the functions that are made in it and in those, each once, in the order of the text."""
    found = {function: None}
    todo = [function]
    while todo:
        for stmt in statements(todo.pop().body):
            cls = made_closure(stmt)
            if cls is not None and (inner := function_of(cls)) not in found:
                found[inner] = None
                todo.append(inner)
    return tuple(found)


def exts(function: ir.Function) -> tuple[ir.Ext, ...]:
    """The outside objects of `function` and of those made in it, each once, in the order of the text; callees' are
    not among them."""
    found: dict[int, ir.Ext] = {}
    for each in with_inner(function):
        for param in each.params:
            if isinstance(param.default, ir.Ext):
                found[id(param.default)] = param.default
        for stmt in statements(each.body):
            for atom in statement_atoms(stmt):
                if isinstance(atom, ir.Ext):
                    found.setdefault(id(atom), atom)
    return tuple(found.values())
