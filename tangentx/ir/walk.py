"""Traversal of the IR: what a statement contains, reads and binds, and where in a block."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import chain
from typing import Any

from tangentx.ir import markers
from tangentx.ir import nodes as ir
from tangentx.ir.functions import Closure, function_of
from tangentx.ir.nodes import Statement

# Traversal of the IR: what a statement contains, reads and binds.
#
# `reads` and `writes` speak of one statement without its blocks; `bound` and `used` of a block with all it holds.
# All work without recursion, so the depth of a program does not matter.


def blocks(stmt: ir.Statement) -> tuple[ir.Block, ...]:
    """The blocks of `stmt`, in the order of the text."""
    if type(stmt) is ir.If:
        return (stmt.body, stmt.orelse)
    if type(stmt) is ir.For or type(stmt) is ir.Loop:
        return (stmt.body,)
    return ()


def statements(block: ir.Block) -> Iterator[ir.Statement]:
    """Every statement of `block`, and of the blocks inside it, in the order of the text."""
    stack: list[Iterator[ir.Statement]] = [iter(block)]
    while stack:
        for stmt in stack[-1]:
            yield stmt
            if type(stmt) in WITH_BLOCKS:
                stack.append(chain.from_iterable(blocks(stmt)))
                break
        else:
            stack.pop()


WITH_BLOCKS: frozenset[type] = frozenset((ir.If, ir.For, ir.Loop))
BINDING: frozenset[type] = frozenset((ir.Assign, ir.Augment, ir.For))


def key_atoms(key: ir.Key) -> Sequence[ir.Atom]:
    """The atoms of `key`, the bounds of its slices included."""
    found: list[ir.Atom] = []
    for part in key.parts:
        if isinstance(part, ir.Slice):
            found += (part.start, part.stop, part.step)
        else:
            found.append(part)
    return found


def atoms(expr: ir.Expr) -> Sequence[ir.Atom]:
    """The atoms of `expr`, in the order in which they are given."""
    return _ATOMS[type(expr)](expr)


def _given(expr: ir.Op | ir.Apply | ir.Method) -> tuple[ir.Atom, ...]:
    """Arguments, by position and by name."""
    return (*expr.args, *(value for _, value in expr.kwargs)) if expr.kwargs else expr.args


# Tables by class: passes ask these questions more often than all others together.
_ATOMS: dict[type, Callable[[Any], Sequence[ir.Atom]]] = {
    ir.Var: lambda e: (e,),
    ir.Lit: lambda e: (e,),
    ir.Ext: lambda e: (e,),
    ir.Op: _given,
    ir.Apply: lambda e: (e.fn, *_given(e)),
    ir.Method: lambda e: (e.base, *_given(e)),
    ir.Call: lambda e: e.args,
    ir.Index: lambda e: (e.base, *key_atoms(e.key)),
    ir.Attr: lambda e: (e.base,),
    ir.Pop: lambda e: (e.base,),
    ir.Make: lambda e: e.items,
}


def statement_atoms(stmt: ir.Statement) -> Sequence[ir.Atom]:
    """The atoms that `stmt` itself holds, not those of its blocks; a name that it binds is no atom."""
    if type(stmt) is ir.Assign:
        return _ATOMS[type(stmt.value)](stmt.value)
    return _STATEMENT_ATOMS[type(stmt)](stmt)


def _element(stmt: ir.Store | ir.Augstore | ir.Accumulate) -> tuple[ir.Atom, ...]:
    return (stmt.base, *key_atoms(stmt.key), stmt.value)


def _none(_: ir.Statement) -> tuple[ir.Atom, ...]:
    return ()


_STATEMENT_ATOMS: dict[type, Callable[[Any], Sequence[ir.Atom]]] = {
    ir.Assign: lambda s: atoms(s.value),
    ir.Augment: lambda s: (s.value,),
    ir.Return: lambda s: (s.value,),
    ir.Raise: lambda s: (s.value,) if s.cause is None else (s.value, s.cause),
    ir.Store: _element,
    ir.Augstore: lambda s: _element(s) if s.old is None else (*_element(s), s.old),
    ir.Accumulate: _element,
    ir.Append: lambda s: (s.base, s.value),
    ir.Delete: lambda s: (s.base, *key_atoms(s.key)),
    ir.If: lambda s: (s.test,),
    ir.For: lambda s: (s.start, s.stop, s.step) if s.snapshots is None else (s.start, s.stop, s.step, s.snapshots),
    ir.Loop: _none,
    ir.Break: _none,
    ir.Continue: _none,
    ir.Note: _none,
}


def reads(stmt: ir.Statement) -> frozenset[str]:
    """The names that `stmt` itself reads; the target of an `Augment` is one."""
    found = frozenset([atom.name for atom in statement_atoms(stmt) if type(atom) is ir.Var])
    return found | {stmt.target} if type(stmt) is ir.Augment else found


def writes(stmt: ir.Statement) -> frozenset[str]:
    """The names that `stmt` itself binds. Writing into storage binds nothing."""
    return frozenset((stmt.target,)) if type(stmt) in BINDING else frozenset()  # type: ignore[union-attr]


def empties(stmt: ir.Statement) -> bool:
    """Whether the statement leaves its name without a value."""
    return isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Op) and stmt.value.fn is markers.emptied


def written_name(stmt: ir.Statement) -> str | None:
    """The name that `stmt` binds, or into whose value it writes."""
    if type(stmt) in BINDING:
        return stmt.target  # type: ignore[union-attr]
    if isinstance(stmt, ir.Store | ir.Augstore | ir.Accumulate | ir.Append | ir.Delete):
        return stmt.base.name if isinstance(stmt.base, ir.Var) else None
    return None


def bound(block: ir.Block) -> frozenset[str]:
    """The names that anything in `block` binds."""
    return frozenset([s.target for s in statements(block) if type(s) in BINDING])  # type: ignore[union-attr]


def used(block: ir.Block) -> frozenset[str]:
    """The names that anything in `block` reads."""
    found: set[str] = set()
    for stmt in statements(block):
        for atom in statement_atoms(stmt):
            if type(atom) is ir.Var:
                found.add(atom.name)
        if type(stmt) is ir.Augment:
            found.add(stmt.target)
    return frozenset(found)


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


RESOLVED = "resolved"
"""The note of a function that has all outside objects that its text names, those among them that no statement has."""


def exts(function: ir.Function) -> tuple[ir.Ext, ...]:
    """The outside objects of `function` and of those made in it, each once, in the order of the text; callees' are
    not among them."""
    found: dict[int, ir.Ext] = {id(ext): ext for ext in function.notes.get(RESOLVED, ())}
    for each in with_inner(function):
        for param in each.params:
            if isinstance(param.default, ir.Ext):
                found[id(param.default)] = param.default
        for stmt in statements(each.body):
            for atom in statement_atoms(stmt):
                if isinstance(atom, ir.Ext):
                    found.setdefault(id(atom), atom)
    return tuple(found.values())


# An index of where the names of a block are read and bound, so that passes need not scan for it.
#
# A statement stands for all that its own blocks hold. A pass that moves statements tells the index of it.


def names_of(s: Statement) -> tuple[frozenset[str], frozenset[str]]:
    """The names that are read in a statement and its blocks, and those that are bound there."""
    if type(s) in WITH_BLOCKS:
        return used((s,)), frozenset(bound((s,)))
    return reads(s), writes(s)


class Positions:
    """For each name, the positions in the block at which it is read, and those at which it is bound, in order."""

    def __init__(self, block: Sequence[Statement]) -> None:
        self.read: dict[str, list[int]] = defaultdict(list)
        self.bound: dict[str, list[int]] = defaultdict(list)
        for i, s in enumerate(block):
            reading, binding = names_of(s)
            for name in reading:
                self.read[name].append(i)
            for name in binding:
                self.bound[name].append(i)

    def next_read(self, name: str, after: int) -> int | None:
        """The first position after `after` at which the name is read."""
        return _next(self.read.get(name, ()), after)

    def is_bound_between(self, names: Iterable[str], first: int, last: int) -> bool:
        """Whether one of the names is bound after position `first` and before position `last`."""
        for name in names:
            places = self.bound.get(name, ())
            if bisect_left(places, last) > bisect_right(places, first):
                return True
        return False

    def move_reads(self, names: Set[str], source: int, target: int) -> None:
        """What was read at one position is read at another now."""
        for name in names:
            self.read[name].remove(source)
            if target not in self.read[name]:
                insort(self.read[name], target)


def _next(places: Sequence[int], after: int) -> int | None:
    at = bisect_right(places, after)
    return places[at] if at < len(places) else None
