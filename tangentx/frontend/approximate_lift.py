"""Lifts a function approximately, for analysis only: same kinds and same writes in place of what is unsupported."""

from __future__ import annotations

import time
from collections.abc import Container
from types import FunctionType
from typing import Any

import gast

from tangentx.frontend.lift import lift_as
from tangentx.frontend.scopes import own_nodes
from tangentx.frontend.statements import Statements
from tangentx.ir import nodes as ir

# Approximate forms of unsupported constructs: same kinds, same writes, for analysis only.
#
# For functions that run on Tensors, of which only that has to be known: a generator becomes a list of what it yields,
# an iterator that is kept a list of what it gives, what may end early may or may not.

_ITERATORS = frozenset(("iter", "zip", "enumerate", "reversed", "map", "filter"))
_TAKING = frozenset(("list", "tuple", "dict", "set", "sum", "min", "max", "any", "all", "sorted")) | _ITERATORS
"""What takes the items of an iterator at once."""
_RESIZING = frozenset(("append", "insert", "extend", "pop", "remove", "clear"))


def loosen(tree: Any, outside: Container[str]) -> None:
    """Changes a definition, and those inside it, in place; `outside` are names of the module that it is in."""
    names = {node.id for node in gast.walk(tree) if isinstance(node, gast.Name)}
    bound = {node.id for node in gast.walk(tree) if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load)}
    bound |= {name for name in (*_TAKING, "next") if name in outside}
    yielded = "yielded"
    while yielded in names:
        yielded += "_"
    for node in gast.walk(tree):
        if isinstance(node, gast.FunctionDef) and any(_is_yield(inner) for inner in own_nodes(node)):
            _Generator(yielded).listed(node)
    _Iterators(bound).visit(tree)
    gast.fix_missing_locations(tree)


def _is_yield(node: Any) -> bool:
    return isinstance(node, gast.Yield | gast.YieldFrom)


def _like(text: str, node: Any, **parts: Any) -> list[Any]:
    """Statements of a text at the place of `node`, with expressions for some of its names."""
    made = gast.parse(text).body
    for statement in made:
        for inner in gast.walk(statement):
            gast.copy_location(inner, node)
    return [_Filled(parts).visit(statement) for statement in made]


class _Filled(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, parts: dict[str, Any]) -> None:
        self.parts = parts

    def visit_Name(self, node: Any) -> Any:
        return self.parts.get(node.id, node)


class _Generator(gast.NodeTransformer):  # type: ignore[misc]
    """A generator function as one that returns a list; whoever asks for its items may stop after any of them."""

    def __init__(self, name: str) -> None:
        self.name = name

    def listed(self, tree: Any) -> None:
        """Changes the function."""
        body = [part for node in tree.body for part in _flat(self.visit(node))]
        tree.body = [*_like(f"{self.name} = []", tree), *body, *_like(f"return {self.name}", tree)]

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_Lambda = visit_ClassDef = visit_FunctionDef

    def visit_Return(self, node: Any) -> Any:
        return _like(f"return {self.name}", node)

    def visit_Expr(self, node: Any) -> Any:
        if not _is_yield(node.value):
            return self.generic_visit(node)
        write = "append" if isinstance(node.value, gast.Yield) else "extend"
        value = node.value.value or gast.Constant(None, None)
        stop = f"if len({self.name}) == {10**9}:\n    return {self.name}"
        return [*_like(f"{self.name}.{write}(value)", node, value=value), *_like(stop, node)]


def _resizes(node: Any, name: str) -> bool:
    """Whether it is a method, of what has this name, that changes its length."""
    return isinstance(node, gast.Attribute) and node.attr in _RESIZING and getattr(node.value, "id", "") == name


def _flat(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [found]


class _Iterators(gast.NodeTransformer):  # type: ignore[misc]
    """Iterators that are kept as lists, ``except*`` as ``except``, `suppress` as ``try``; a bare ``raise`` named.

    `bound` are names that the definition gives a meaning of its own.
    """

    def __init__(self, bound: set[str]) -> None:
        self.bound = bound

    def _name(self, node: Any) -> str:
        """The function of Python's that is called, or nothing."""
        named = isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id not in self.bound
        return node.func.id if named else ""

    def visit_Call(self, node: Any) -> Any:
        name = self._name(node)
        if name in _TAKING:
            node.args = [self._taken(arg) for arg in node.args]
        else:
            self.generic_visit(node)
        if name == "next" and node.args:
            default = "value if len(it) == 0 else it[0]" if len(node.args) > 1 else "it[0]"
            return _like(default, node, it=node.args[0], value=node.args[-1])[0].value
        if name in _ITERATORS and node.args:
            value = node.args[0] if name == "iter" else node
            return _like("list(value)", node, value=value)[0].value
        return node

    def _taken(self, node: Any) -> Any:
        """An iterator whose items are taken where it is made stays one."""
        if self._name(node) not in _ITERATORS:
            return self.visit(node)
        node.args = [self._taken(arg) for arg in node.args]
        return node

    def visit_comprehension(self, node: Any) -> Any:
        taken = self._taken(node.iter)
        self.generic_visit(node)
        node.iter = taken
        return node

    def visit_For(self, node: Any) -> Any:
        taken = node.iter = self._taken(node.iter)
        node.body = [part for inner in node.body for part in _flat(self.visit(inner))]
        node.orelse = [part for inner in node.orelse for part in _flat(self.visit(inner))]
        if isinstance(taken, gast.Name) and any(_resizes(inner, taken.id) for inner in gast.walk(node)):
            node.iter = _like("list(value)", node, value=taken)[0].value
        elif isinstance(node.iter, gast.Set):
            node.iter = gast.copy_location(gast.List(node.iter.elts, gast.Load()), node.iter)
        return node

    def visit_TryStar(self, node: Any) -> Any:
        self.generic_visit(node)
        return gast.copy_location(gast.Try(node.body, node.handlers, node.orelse, node.finalbody), node)

    def visit_With(self, node: Any) -> Any:
        self.generic_visit(node)
        manager = node.items[0].context_expr
        name = getattr(manager.func, "id", getattr(manager.func, "attr", "")) if isinstance(manager, gast.Call) else ""
        if len(node.items) != 1 or name != "suppress":
            return node
        (made,) = _like("try:\n    pass\nexcept Exception:\n    pass", node)
        made.body = node.body
        return made

    def visit_Raise(self, node: Any) -> Any:
        self.generic_visit(node)
        if node.exc is None:
            node.exc = gast.copy_location(gast.Name("RuntimeError", gast.Load(), None, None), node)
        return node


# Lifts a function approximately, for analysis only: ``try`` as branches, unsupported constructs approximated.
#
# What such a function gives, and what it writes, is found by the analysis as of any other; it runs on Tensors.

_ANSWER = ir.Ext("perf_counter", time.perf_counter, ("object",), time.perf_counter)
"""A function whose answer nobody knows before it is asked."""


def loosely(function: FunctionType) -> ir.Function:
    """As `lift.lift`, of a function in which ``try`` may hold anything, and what `loosened` knows other words for."""
    return lift_as(function, Loosely, lambda tree: loosen(tree, function.__globals__))


class Loosely(Statements):
    """Lifts ``try`` as its body, or some of its body and one of the handlers."""

    def _Try(self, node: Any) -> bool:
        with self.block() as whole:
            through = self.body([*node.body, *node.orelse])
        with self.block() as handled:
            ended = self._handled(node, node.handlers)
        self.emit(ir.If(self._unknown(node), tuple(whole), tuple(handled), self.span(node)))
        return self.body(node.finalbody) or (through and ended)

    def _handled(self, node: Any, handlers: list[Any]) -> bool:
        """Some of the body, and one of the handlers; whether control never comes past it."""
        if not handlers:
            self.emit(ir.Raise(self._unknown(node), self.span(node)))
            return True
        test, partly = self._unknown(node), self._unknown(node)
        with self.block() as tried:
            self.body(node.body)
        with self.block() as caught:
            self.emit(ir.If(partly, tuple(tried), (), self.span(node)))
            if handlers[0].name is not None:
                self.bind(handlers[0].name, self._unknown(node), node)
            ended = self.body(handlers[0].body)
        with self.block() as others:
            rest = self._handled(node, handlers[1:])
        self.emit(ir.If(test, tuple(caught), tuple(others), self.span(node)))
        return ended and rest

    def _unknown(self, node: Any) -> ir.Var:
        return self.copy(ir.Apply(_ANSWER, ()), node)
