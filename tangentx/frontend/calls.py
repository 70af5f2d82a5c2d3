"""Calls: starred arguments expanded in Python's order of evaluation."""

from __future__ import annotations

import functools
import inspect
import sys
from abc import ABC, abstractmethod
from typing import Any

import gast

from tangentx.common.class_aliases import takes_parameters
from tangentx.frontend import resolve
from tangentx.frontend.expressions import Expressions, Steps
from tangentx.ir import nodes as ir

# What these mean depends on the frame that calls them.
FRAME = (locals, globals, vars, dir, eval, exec, super, sys._getframe, inspect.currentframe, inspect.stack)


class Calls(Expressions, ABC):
    """Lifts calls."""

    def _Call(self, node: Any) -> Steps:
        method, above = None, None
        if isinstance(node.func, gast.Attribute) and self._is_super(node.func.value):
            fn, above = self._super(node.func.value)
            method = node.func.attr
        elif isinstance(node.func, gast.Attribute):
            fn = yield node.func.value
            if isinstance(fn, ir.Ext) and resolve.folds(fn):
                fn = self.resolver.attribute(fn, node.func.attr, self.span(node.func))
            else:
                method = node.func.attr
        else:
            fn = self._with_parameters(node.func) or (yield node.func)
        if method is None and isinstance(fn, ir.Ext) and any(fn.value is frame for frame in FRAME):
            raise self.refuse(node, f"{fn.name} sees the frame that calls it", "name what you need")
        searched = self.searched(fn, method, node)
        if searched is not None:
            return searched
        return (yield from self._with_arguments(fn, method, above, node))

    def _with_parameters(self, node: Any) -> ir.Ext | None:
        """The class of ``Stack[float]``, where it and its parameters are known; None for anything else."""
        if not isinstance(node, gast.Subscript):
            return None
        cls = self.outside(node.value)
        if cls is None or not takes_parameters(cls.value):
            return None
        parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
        named = (isinstance(part, gast.Constant) or self.outside(part) or self._with_parameters(part) for part in parts)
        return cls if all(named) else None

    def _with_arguments(self, fn: ir.Atom, method: str | None, above: ir.Ext | None, node: Any) -> Steps:
        """The call, its arguments evaluated in Python's order."""
        args, kwargs, stars = [], [], []
        rest = [*node.args, *(keyword.value for keyword in node.keywords)]
        held: dict[int, ir.Atom] = {}
        for place, arg in enumerate(node.args):
            if isinstance(arg, gast.Starred):
                stars.append(place)
                if self.is_lazy(arg.value):
                    args.append(self.drained(arg.value))
                else:
                    args.append(self._taken((yield arg.value), tuple, rest[place + 1 :], arg))
            elif self.is_lazy(arg) and place == (1 if _reduces(fn) else 0):
                args.append(self.consumed(fn, method, arg, node, held))
            else:
                args.append(held[id(arg)] if id(arg) in held else (yield arg))
        for place, keyword in enumerate(node.keywords, len(node.args) + 1):
            value = held[id(keyword.value)] if id(keyword.value) in held else (yield keyword.value)
            if keyword.arg is None:
                value = self._taken(value, dict, rest[place:], keyword.value)
            kwargs.append((keyword.arg or "**", value))
        if method is not None:
            return ir.Method(fn, method, tuple(args), tuple(kwargs), tuple(stars), above)
        return ir.Apply(fn, tuple(args), tuple(kwargs), tuple(stars))

    def drained(self, node: Any) -> ir.Atom:
        """A list of what the iterator `node` gives to what takes all of it at once: a pattern, or a star."""
        return self.gathered(node)

    def _is_super(self, node: Any) -> bool:
        return isinstance(node, gast.Call) and not node.keywords and self.calls(node, super)

    def _super(self, node: Any) -> tuple[ir.Atom, ir.Ext]:
        """The object and the class of ``super()``."""
        if len(node.args) == 2:
            above, base = self.outside(node.args[0]), self.atom(node.args[1])
        else:
            first = self.tree.args
            names = [arg.id for arg in (*first.posonlyargs, *first.args)]
            inside = "__class__" in self.resolver.function.__code__.co_freevars and names and not node.args
            above = self.resolver.name("__class__", self.span(node)) if inside else None
            base = ir.Var(names[0]) if names else ir.Lit(None)
        if above is None or not isinstance(above.value, type):
            raise self.refuse(node, "super() of a class that is not known here", "write `super(Class, self)`")
        return base, above

    def _taken(self, items: ir.Atom, cls: type, later: list[Any], node: Any) -> ir.Atom:
        """`items` as Python takes them out, before it evaluates the arguments `later`, which may change them."""
        if not any(isinstance(inner, gast.Call) for arg in later for inner in gast.walk(arg)):
            return items
        return self.copy(ir.Apply(self.resolver.builtin(cls.__name__, cls), (items,)), node)

    def generator(self, node: Any) -> Any:
        """The generator expression that `node`, an iterator, is or stands for as a call of ``map`` or ``filter``.

        The function that a filter is given is evaluated here.
        """
        if self.calls(node, map):
            return one_by_one(self.temp(), node)
        if self.calls(node, filter):
            item = self.temp()
            return _generator(item, node.args[1], [self.kept(node, item)], node)
        return node if isinstance(node, gast.GeneratorExp) else None

    def kept(self, node: Any, item: str) -> Any:
        """The test by which `node`, a call of ``filter``, keeps an item; its function is evaluated here."""
        if len(node.args) != 2 or node.keywords:
            raise self.refuse(node, "filter takes a function and what it filters", "write filter(function, items)")
        fn = self.atom(node.args[0])
        value = named(item, node)
        if fn == ir.Lit(None):
            return value
        return gast.copy_location(gast.Call(named(self.copy(fn, node).name, node), [value], []), node)

    @abstractmethod
    def is_lazy(self, node: Any) -> bool:
        """Whether `node` makes an iterator: a generator expression, or a call of zip, map and their like."""

    @abstractmethod
    def gathered(self, node: Any) -> ir.Atom:
        """A list of all that the iterator `node` gives."""

    @abstractmethod
    def searched(self, fn: ir.Atom, method: str | None, call: Any) -> ir.Expr | None:
        """The call of any, all or next with an iterator that is made there, as a loop that stops where the call does;
        None for any other call."""

    @abstractmethod
    def consumed(self, fn: ir.Atom, method: str | None, node: Any, call: Any, held: dict[int, ir.Atom]) -> ir.Atom:
        """What the iterator `node`, an argument of `call`, of `fn` or of its `method`, gives, as a list. Other
        arguments that have been evaluated for it are `held`."""


def _reduces(fn: ir.Atom) -> bool:
    return isinstance(fn, ir.Ext) and fn.value is functools.reduce


def named(name: str, node: Any, store: bool = False) -> Any:
    """A use of a temporary as a node of the tree, at the place of `node`."""
    context = gast.Store() if store else gast.Load()
    return gast.copy_location(gast.Name(name, context, None, None), node)


def one_by_one(item: str, node: Any) -> Any:
    """The generator expression of all that the iterator `node` gives."""
    return _generator(item, node, [], node)


def _generator(item: str, iterable: Any, tests: list[Any], node: Any) -> Any:
    clause = gast.comprehension(named(item, node, store=True), iterable, tests, 0)
    return gast.copy_location(gast.GeneratorExp(named(item, node), [clause]), node)
