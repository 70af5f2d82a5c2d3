"""The IR verifier: invariants that every stage relies on, checked after each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn, get_args

from tangentx.ir import nodes as ir
from tangentx.ir import show, walk
from tangentx.ir.functions import FunctionValue
from tangentx.ir.markers import MARKS
from tangentx.ir.opaque_ops import Attempt, Observed

_STATEMENTS = get_args(ir.Statement)
_EXPRESSIONS = get_args(ir.Expr)
_ATOMS = get_args(ir.Atom)
_OPEN = (ir.Apply, ir.Method, ir.Augment, ir.Augstore)
_ENDS = (ir.Break, ir.Continue, ir.Return, ir.Raise)


class IRError(AssertionError):
    """A stage of the compiler has written a program that breaks the grammar: a defect of tangentx."""


def check(function: ir.Function, closed: bool = False) -> None:
    """Raise `IRError` where `function`, or a function that it calls, breaks a rule of the grammar.

    With `closed`, the open forms (`Apply`, `Method`, `Augment`, `Augstore`, the markers, function values) are errors
    too.
    """
    seen: set[int] = set()
    todo = [function]
    while todo:
        current = todo.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        _classes(current)
        _names(current)
        _blocks(current)
        _ways(current)
        for stmt in walk.statements(current.body):
            if closed:
                _closed(current, stmt)
            if isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Call):
                todo.append(_callee(current, stmt.value, stmt))


def _fail(function: ir.Function, message: str, stmt: ir.Statement | None = None) -> NoReturn:
    where = "" if stmt is None else f" at `{show.statement(stmt)}` (line {stmt.span.line})"
    raise IRError(f"{function.name}: {message}{where}")


def _classes(function: ir.Function) -> None:
    """Only classes of the grammar, each where it may stand."""
    todo = [function.body]
    while todo:
        block = todo.pop()
        if not isinstance(block, tuple):
            _fail(function, f"a block is a {type(block).__name__}, not a tuple")
        for stmt in block:
            if type(stmt) not in _STATEMENTS:
                _fail(function, f"{type(stmt).__name__} is no statement")
            if isinstance(stmt, ir.Assign) and type(stmt.value) not in _EXPRESSIONS:
                _fail(function, f"{type(stmt.value).__name__} is no expression")
            for atom in walk.statement_atoms(stmt):
                if type(atom) not in _ATOMS:
                    _fail(function, f"{type(atom).__name__} is no atom")
            if isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Make):
                keys = stmt.value.keys
                if keys is not None and len(keys) != len(stmt.value.items):
                    _fail(function, "as many keys as items", stmt)
            for key in _keys(stmt):
                if not key.many and len(key.parts) != 1:
                    _fail(function, "a key that is no tuple has one part", stmt)
            todo.extend(walk.blocks(stmt))


def _keys(stmt: ir.Statement) -> Iterator[ir.Key]:
    if isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Index):
        yield stmt.value.key
    elif isinstance(stmt, ir.Store | ir.Augstore | ir.Accumulate | ir.Delete):
        yield stmt.key


def _names(function: ir.Function) -> None:
    """Whatever is read is a parameter or bound somewhere; parameters differ."""
    params = [param.name for param in function.params]
    if len(set(params)) != len(params):
        _fail(function, "two parameters have one name")
    known = walk.bound(function.body) | set(params)
    for stmt in walk.statements(function.body):
        unknown = sorted(walk.reads(stmt) - known)
        if unknown:
            _fail(function, f"{unknown[0]} is read and never bound", stmt)


def _blocks(function: ir.Function) -> None:
    """Tests and bounds keep their value in the blocks they govern; exits of loops stand in loops."""
    inside: list[tuple[ir.Block, bool, frozenset[str]]] = [(function.body, False, frozenset())]
    while inside:
        block, loop, fixed = inside.pop()
        for stmt in block:
            broken = sorted(walk.writes(stmt) & fixed)
            if broken:
                _fail(function, f"{broken[0]} is bound in a block that it governs", stmt)
            if isinstance(stmt, ir.Break | ir.Continue) and not loop:
                _fail(function, "outside of every loop", stmt)
            if isinstance(stmt, ir.If):
                inside.extend((inner, loop, fixed | walk.reads(stmt)) for inner in walk.blocks(stmt))
            elif isinstance(stmt, ir.For):
                if stmt.target in walk.reads(stmt):
                    _fail(function, "a bound is the target", stmt)
                inside.append((stmt.body, True, fixed | walk.reads(stmt)))
            elif isinstance(stmt, ir.Loop):
                inside.append((stmt.body, True, fixed))


def _ways(function: ir.Function) -> None:
    """Nothing stands where control never comes, every `Loop` can be left, and the function ends by Return or Raise."""
    ends: dict[int, bool] = {}

    def leaves(block: ir.Block) -> bool:
        return any(ends[id(stmt)] for stmt in block)

    for stmt in reversed(list(walk.statements(function.body))):
        ends[id(stmt)] = isinstance(stmt, _ENDS)
        for block in walk.blocks(stmt):
            _reached(function, block, ends)
        if isinstance(stmt, ir.If):
            ends[id(stmt)] = leaves(stmt.body) and leaves(stmt.orelse)
        elif isinstance(stmt, ir.Loop):
            breaks = own_break(stmt.body)
            ends[id(stmt)] = not breaks
            if not breaks and not any(map(_may_leave, walk.statements(stmt.body))):
                _fail(function, "nothing leaves this loop", stmt)
    _reached(function, function.body, ends)
    if not leaves(function.body):
        _fail(function, "the end is reached without Return")


def _may_leave(stmt: ir.Statement) -> bool:
    """Whether a statement returns or raises; unknown code raises where it gives what was not known to come."""
    unknown = isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Op) and isinstance(stmt.value.fn, Observed)
    return unknown or isinstance(stmt, ir.Return | ir.Raise)


def _reached(function: ir.Function, block: ir.Block, ends: dict[int, bool]) -> None:
    for before, after in zip(block, block[1:], strict=False):
        if ends[id(before)] and not isinstance(after, ir.Note):
            _fail(function, "never reached", after)


def own_break(block: ir.Block) -> bool:
    """Whether `block`, the body of a loop, has a `Break` of that very loop."""
    todo = list(block)
    while todo:
        stmt = todo.pop()
        if isinstance(stmt, ir.Break):
            return True
        if isinstance(stmt, ir.If):
            todo.extend(stmt.body + stmt.orelse)
    return False


def _closed(function: ir.Function, stmt: ir.Statement) -> None:
    value = stmt.value if isinstance(stmt, ir.Assign) else stmt
    if isinstance(value, ir.Op) and isinstance(value.fn, Attempt) and value.fn.given is None:
        _fail(function, "an open form is left", stmt)
    marked = isinstance(value, ir.Op) and any(value.fn is marker for marker in (*ir.MARKERS, *MARKS))
    function_value = isinstance(value, ir.Make) and issubclass(value.cls, FunctionValue)
    if isinstance(value, _OPEN) or marked or function_value:
        _fail(function, "an open form is left", stmt)


def _callee(function: ir.Function, call: ir.Call, stmt: ir.Statement) -> ir.Function:
    callee = call.link.function
    if callee is None:
        _fail(function, f"{call.link.name} was never completed", stmt)
    if len(call.args) != len(callee.params):
        _fail(function, f"{callee.name} takes {len(callee.params)} arguments", stmt)
    return callee
