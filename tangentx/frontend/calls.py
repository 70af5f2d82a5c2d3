"""Calls, with starred arguments taken out in Python's order."""

from __future__ import annotations

from typing import Any

import gast

from tangentx.frontend import resolve
from tangentx.frontend.expressions import Expressions, Steps
from tangentx.ir import nodes as ir

# What these mean depends on the frame that calls them.
FRAME = (locals, globals, vars, dir, eval, exec, super)


class Calls(Expressions):
    """Lifts calls."""

    def _Call(self, node: Any) -> Steps:
        method = None
        if isinstance(node.func, gast.Attribute):
            fn = yield node.func.value
            if isinstance(fn, ir.Ext) and resolve.folds(fn):
                fn = self.resolver.attribute(fn, node.func.attr, self.span(node.func))
            else:
                method = node.func.attr
        else:
            fn = yield node.func
        if method is None and isinstance(fn, ir.Ext) and any(fn.value is frame for frame in FRAME):
            raise self.refuse(node, f"{fn.name} sees the frame that calls it", "name what you need")
        if len(node.args) == 1 and not node.keywords and isinstance(node.args[0], gast.GeneratorExp):
            searched = self.searched(fn, method, node.args[0])
            if searched is not None:
                return searched
        args, kwargs, stars = [], [], []
        rest = [*node.args, *(keyword.value for keyword in node.keywords)]
        for place, arg in enumerate(node.args):
            if isinstance(arg, gast.Starred):
                stars.append(place)
                args.append(self._taken((yield arg.value), tuple, rest[place + 1 :], arg))
            elif place == 0 and self.is_lazy(arg):
                args.append(self.consumed(fn, method, arg, rest[1:]))
            else:
                args.append((yield arg))
        for place, keyword in enumerate(node.keywords, len(node.args) + 1):
            value = yield keyword.value
            if keyword.arg is None:
                value = self._taken(value, dict, rest[place:], keyword.value)
            kwargs.append((keyword.arg or "**", value))
        if method is not None:
            return ir.Method(fn, method, tuple(args), tuple(kwargs), tuple(stars))
        return ir.Apply(fn, tuple(args), tuple(kwargs), tuple(stars))

    def _taken(self, items: ir.Atom, cls: type, later: list[Any], node: Any) -> ir.Atom:
        """`items` as Python takes them out, before it evaluates the arguments `later`, which may change them."""
        if not any(isinstance(inner, gast.Call) for arg in later for inner in gast.walk(arg)):
            return items
        return self.copy(ir.Apply(self.resolver.builtin(cls.__name__, cls), (items,)), node)

    def is_lazy(self, node: Any) -> bool:
        """Whether `node` makes an iterator: a generator expression, or a call of zip, enumerate or reversed."""
        raise NotImplementedError

    def gathered(self, node: Any) -> ir.Atom:
        """A list of all that the iterator `node` gives."""
        raise NotImplementedError

    def searched(self, fn: ir.Atom, method: str | None, node: Any) -> ir.Expr | None:
        """The call of any or all with a generator expression, which looks no further than it must."""
        raise NotImplementedError

    def consumed(self, fn: ir.Atom, method: str | None, node: Any, others: list[Any]) -> ir.Atom:
        """What the iterator `node`, the first argument of a call of `fn` or of its `method`, gives, as a list."""
        raise NotImplementedError
