"""Definite assignment analysis: where a local name may still be unbound.

Python raises UnboundLocalError there. A text in which a name is bound to nothing at the top, so that it can be
recorded, or in which a statement that nobody needs is dropped, would not: such a read asks for itself
(`arrays.demand_bound`). The walk is pessimistic where it does not look into a test or a loop's bounds; the analysis
drops the question where all definitions that reach the place bind the name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from tangentx.common.syntax_trees import children
from tangentx.frontend import resolve

Bound = set[str] | None
"""The names that are bound at a place for certain; None where control never comes."""

_BRANCHING = (gast.BoolOp, gast.IfExp, *resolve.COMPREHENSIONS)


def reads(tree: Any, names: frozenset[str]) -> dict[int, str]:
    """The identities of the nodes of function `tree` that read (or delete) one of `names`, its own variables, where
    that may have no value, each with the name."""
    args = tree.args
    params = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    walk = _Walk(names)
    given = {param.id for param in params if param is not None}
    if isinstance(tree, gast.Lambda):
        walk.expressions([tree.body], given)
    else:
        walk.block(tree.body, given)
    return walk.found


def deleted(nodes: Iterable[Any]) -> set[str]:
    """The names that the statements delete, or that end with one of their handlers."""
    found = set()
    for node in nodes:
        for inner in gast.walk(node):
            if isinstance(inner, gast.Name) and isinstance(inner.ctx, gast.Del):
                found.add(inner.id)
            elif isinstance(inner, gast.ExceptHandler) and inner.name is not None:
                found.add(inner.name.id)
    return found


def _joined(ways: Iterable[Bound]) -> Bound:
    known = [way for way in ways if way is not None]
    return set.intersection(*known) if known else None


class _Walk:
    """One walk of a function's own statements."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names
        self.found: dict[int, str] = {}
        self.left: list[list[Bound]] = []  # for each loop that is open, what is bound where it is left

    def block(self, nodes: list[Any], bound: set[str]) -> Bound:
        """What is bound after the statements; `bound` is before them, and is changed."""
        now: Bound = bound
        for node in nodes:
            if now is None:
                return None
            special = getattr(self, f"_{type(node).__name__}", None)
            now = self._plain(node, now) if special is None else special(node, now)
        return now

    def expressions(self, nodes: Iterable[Any], bound: set[str]) -> None:
        """Notes what reads too early; what is certainly evaluated and does not raise has values from here on."""
        for node in nodes:
            parts = list(_own(node))
            asked = [part for part in parts if isinstance(part, gast.Name) and not isinstance(part.ctx, gast.Store)]
            early = [part for part in asked if part.id in self.names and part.id not in bound]
            self.found.update((id(part), part.id) for part in early)
            if not any(isinstance(part, _BRANCHING) or _chained(part) for part in parts):
                bound.update(part.id for part in early)
                bound.update(part.target.id for part in parts if isinstance(part, gast.NamedExpr))

    def _plain(self, node: Any, bound: set[str]) -> Bound:
        """Assignments, expressions, and what has no parts: values first, then targets."""
        self.expressions([node], bound)
        if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
            if node.target.id in self.names - bound:
                self.found[id(node.target)] = node.target.id
        if not (isinstance(node, gast.AnnAssign) and node.value is None):
            bound |= _stored(node)
        return bound

    def _Return(self, node: Any, bound: set[str]) -> Bound:
        self.expressions([node], bound)
        return None

    _Raise = _Return

    def _Assert(self, node: Any, bound: set[str]) -> Bound:
        self.expressions([node.test], bound)
        self.expressions([] if node.msg is None else [node.msg], set(bound))
        return bound

    def _Break(self, node: Any, bound: set[str]) -> Bound:
        self.left[-1].append(bound)
        return None

    def _Continue(self, node: Any, bound: set[str]) -> Bound:
        return None

    def _Delete(self, node: Any, bound: set[str]) -> Bound:
        self.expressions(node.targets, bound)
        return bound - deleted([node])

    def _FunctionDef(self, node: Any, bound: set[str]) -> Bound:
        self.expressions(resolve.outside_parts(node), bound)
        return bound | {node.name}

    _ClassDef = _AsyncFunctionDef = _FunctionDef

    def _If(self, node: Any, bound: set[str]) -> Bound:
        """A chain of elif, without recursion."""
        ways: list[Bound] = []
        now = bound
        while True:
            self.expressions([node.test], now)
            ways.append(self.block(node.body, set(now)))
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], gast.If):
                return _joined([*ways, self.block(node.orelse, now)])
            node = node.orelse[0]

    def _For(self, node: Any, bound: set[str]) -> Bound:
        self.expressions([node.iter], bound)
        bound -= deleted(node.body)
        inside = set(bound)
        self.expressions([node.target], inside)
        return self._loop(node, inside | _stored(node.target), bound)

    def _While(self, node: Any, bound: set[str]) -> Bound:
        bound -= deleted(node.body)
        self.expressions([node.test], bound)
        forever = isinstance(node.test, gast.Constant) and bool(node.test.value)
        return self._loop(node, set(bound), None if forever else bound)

    def _loop(self, node: Any, inside: set[str], after: Bound) -> Bound:
        self.left.append([])
        self.block(node.body, inside)
        left = self.left.pop()
        return _joined([*left, None if after is None else self.block(node.orelse, after)])

    def _With(self, node: Any, bound: set[str]) -> Bound:
        for item in node.items:
            self.expressions([item.context_expr], bound)
            bound |= set() if item.optional_vars is None else _stored(item.optional_vars)
        return self.block(node.body, bound)

    def _Try(self, node: Any, bound: set[str]) -> Bound:
        before = bound - deleted(node.body)
        done = self.block(node.body, bound)
        ways = [None if done is None else self.block(node.orelse, done)]
        for handler in node.handlers:
            name = set() if handler.name is None else {handler.name.id}
            self.expressions([] if handler.type is None else [handler.type], before)
            caught = self.block(handler.body, before | name)
            ways.append(None if caught is None else caught - name)
        joined = _joined(ways)
        final = self.block(node.finalbody, set(before - deleted([node])))
        return None if joined is None or final is None else joined | final

    _TryStar = _Try

    def _Match(self, node: Any, bound: set[str]) -> Bound:
        self.expressions([node.subject], bound)
        ways: list[Bound] = [bound]
        for case in node.cases:
            inside = set(bound)
            for part in gast.walk(case.pattern):
                inside |= resolve.captured(part)
            self.expressions([] if case.guard is None else [case.guard], inside)
            ways.append(self.block(case.body, inside))
        return _joined(ways)


def _own(node: Any) -> Iterable[Any]:
    """The nodes of an expression or a plain statement, but for the bodies of functions in it."""
    todo = [node]
    while todo:
        part = todo.pop()
        yield part
        if isinstance(part, resolve.SCOPES):
            todo.extend(resolve.outside_parts(part))
        else:
            todo.extend(children(part))


def _stored(node: Any) -> set[str]:
    """The names that a statement or a target binds, comprehensions in it aside."""
    found, todo = set(), [node]
    while todo:
        part = todo.pop()
        if isinstance(part, gast.Name) and isinstance(part.ctx, gast.Store):
            found.add(part.id)
        if not isinstance(part, (*resolve.SCOPES, *resolve.COMPREHENSIONS, gast.NamedExpr)):
            todo.extend(children(part))
    return found


def _chained(node: Any) -> bool:
    """Whether it is a comparison that may end before its last operand."""
    return isinstance(node, gast.Compare) and len(node.ops) > 1
