"""``try`` and ``with``: kept whole, or entered again wherever derived code runs."""

from __future__ import annotations

import contextlib
import copy
import operator
import warnings
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from tangentx.frontend import resolve
from tangentx.frontend.emitter import is_named
from tangentx.frontend.match_statements import Patterns
from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tangentx.ir.opaque_ops import Attempt, Handler, live

# ``with``: context managers that can be entered again wherever derived code runs.
#
# They become part of the place of each statement of the block (`Span.around`), so both sweeps, and every derivative of
# them, run under the manager under which the user's statement runs.

# Each with the functions that may be called, of constants, where its block begins: they are part of entering it.
_AGAIN: dict[Any, tuple[Any, ...]] = {
    np.errstate: (np.seterr,),
    np.printoptions: (),
    warnings.catch_warnings: (warnings.simplefilter, warnings.filterwarnings),
}
_HINT = "put the with statement around the call of this function, or move it into one that is marked @tx.primitive"


class Managers(Patterns):
    """Lifts ``with``."""

    def _With(self, node: Any) -> bool:
        outer, body = self.around, node.body
        for item in node.items:
            if self.calls(item.context_expr, contextlib.nullcontext):
                self._nothing(item, node)
                continue
            manager, body = self._manager(item, body)
            self.around = (*self.around, manager)
        ends = self.body(body)
        self.around = outer
        return ends

    def _nothing(self, item: Any, node: Any) -> None:
        """``with nullcontext(value) as name``"""
        given = item.context_expr.args
        value = self.expr(given[0]) if given else ir.Lit(None)
        if item.optional_vars is not None:
            self.bind(item.optional_vars, value, node)

    def _manager(self, item: Any, body: list[Any]) -> tuple[ir.Manager, list[Any]]:
        """The manager of one item, and what is left of the block behind the calls that belong to it."""
        fn = self.outside(item.context_expr.func) if isinstance(item.context_expr, gast.Call) else None
        known = next((which for which in _AGAIN if fn is not None and fn.value is which), None)
        if known is None:
            what = f"the context manager `{fn.name}`" if fn is not None else "this context manager"
            why = "its block may end anywhere" if what.endswith(" `suppress`") else "it cannot be entered again"
            raise self.refuse(item.context_expr, f"{what} is not differentiated: {why}", _HINT)
        call = self._constant_call(item.context_expr)
        if call is None or item.optional_vars is not None:
            message = "a manager with a name, or with arguments that are no constants, is not differentiated"
            raise self.refuse(item.context_expr, message, "write its arguments as constants, and no `as`")
        first = []
        while body and isinstance(body[0], gast.Expr):
            inner = self._constant_call(body[0].value)
            if inner is None or not isinstance(inner.fn, ir.Ext) or inner.fn.value not in _AGAIN[known]:
                break
            first.append(inner)
            body = body[1:]
        return ir.Manager(call, tuple(first)), body

    def _constant_call(self, node: Any) -> ir.Apply | None:
        """The call `node` where its arguments are constants and objects from outside; None for all else."""
        fn = self.outside(node.func) if isinstance(node, gast.Call) else None
        if fn is None:
            return None
        args = [self._constant(arg) for arg in node.args]
        kwargs = [(keyword.arg, self._constant(keyword.value)) for keyword in node.keywords]
        if None in args or any(name is None or value is None for name, value in kwargs):
            return None
        return ir.Apply(fn, tuple(a for a in args if a), tuple((n, a) for n, a in kwargs if n and a))

    def _constant(self, node: Any) -> ir.Atom | None:
        return ir.Lit(node.value) if isinstance(node, gast.Constant) else self.outside(node)


# ``try``: kept whole, since its parts may not take part in a derivative.

_LEAVING = (gast.Return, gast.Break, gast.Continue)
_DEFINING = (gast.FunctionDef, gast.Lambda, gast.ClassDef, gast.Delete, gast.Import, gast.ImportFrom, gast.Try)


class Attempts(Managers):
    """Lifts ``try``."""

    def _Try(self, node: Any) -> bool:
        does = any(not isinstance(part, gast.Pass) for part in node.finalbody)
        if does and self._is_unseen(node.finalbody):
            return self.body(_without_finally(node))
        inside = [each for part in gast.iter_child_nodes(node) for each in gast.walk(part)]
        tried = _can_be_tried(node) and not self._is_half_done(node)
        body = {id(each) for part in node.body for each in gast.walk(part)}
        behind = [each for each in inside if isinstance(each, _DEFINING) and id(each) not in body] if tried else []
        self._demand_plain_parts(inside, behind)
        leaving = [inner for inner in inside if isinstance(inner, _LEAVING)]
        if leaving and not tried:
            message = "leaving a try statement from inside is not differentiated"
            raise self.refuse(leaving[0], message, "set a flag in it, and leave the function after it")
        if leaving or behind:
            return self._tried(node)
        with self.block() as otherwise:
            if tried:
                self._tried(node)
        blocks = [self._block(part) for part in (node.body, node.orelse, node.finalbody)]
        handlers = tuple(self._handler(handler) for handler in node.handlers)
        caught = {handler.name for handler in handlers}
        every = (*blocks, *(handler.block for handler in handlers))
        names = sorted({name for block in every for name in walk.bound(block) if is_named(ir.Var(name))} - caught)
        attempt = Attempt(blocks[0], handlers, blocks[1], blocks[2], tuple(names), self.span(node))
        attempt = replace(attempt, otherwise=tuple(otherwise))
        whole = ir.Op(attempt, ())
        if len(names) == 1:
            self.emit(ir.Assign(names[0], whole, self.span(node)))
            return False
        held = self.copy(whole, node)
        for place, name in enumerate(names):
            self.emit(ir.Assign(name, ir.Index(held, ir.Key((ir.Lit(place),))), self.span(node)))
        return False

    def _demand_plain_parts(self, inside: list[Any], behind: list[Any]) -> None:
        """Refuses what a try statement cannot hold; what stands `behind` is done only when the trial is over."""
        for inner in inside:
            if isinstance(inner, _DEFINING) and inner not in behind:
                message = "this statement inside a try statement is not differentiated"
                raise self.refuse(inner, message, "move it before the try statement")
            if id(inner) in self.unbound:
                message = f"a try statement that reads `{self.unbound[id(inner)]}`, which may have no value there"
                raise self.refuse(inner, message, "assign it before the try statement")
            if isinstance(inner, gast.ExceptHandler) and inner.name and inner.name.id in self.unbound.values():
                message = (
                    f"`{inner.name.id}` is read where the handler that binds it may have ended: it has no value then"
                )
                raise self.refuse(inner, message, "keep the exception under another name")

    def _is_unseen(self, final: list[Any]) -> bool:
        """Whether nobody sees that the statements behind ``finally`` are left out where an exception goes on: they bind
        names of the function, and call nothing that shows."""
        inside = [inner for part in final for inner in gast.walk(part)]
        plain = (gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Pass, gast.Expr, gast.If)
        if not all(isinstance(part, plain) for part in inside if isinstance(part, gast.stmt)):
            return False
        stored = [part for part in inside if isinstance(getattr(part, "ctx", None), gast.Store | gast.Del)]
        if not all(isinstance(part, gast.Name | gast.Tuple | gast.List) for part in stored):
            return False
        return not any(self.tells(part) for part in final) and not any(id(inner) in self.unbound for inner in inside)

    def _tried(self, node: Any) -> bool:
        """Emit a trial of the body, and then what is done in each case; whether control never comes past that."""
        caught, span = self.fresh("caught"), self.span(node)
        tried = [*node.body[:-1], *_but_not_left(node.body[-1])]
        names = sorted({name for part in tried for name in resolve.targets(part)})
        self.renamed.append({name: self.fresh(f"{name}_tried") for name in names})  # nothing else is named so
        body = self._block(tried)
        renamed = self.renamed.pop()
        first = live(body, set())
        kept = [ir.Assign(new, ir.Var(old), span) for old, new in renamed.items() if new in first]
        handlers = tuple(
            Handler(self._classes(h), "", (ir.Assign(caught, ir.Lit(number), span),), self.span(h))
            for number, h in enumerate(node.handlers, 1)
        )
        trial = Attempt((*kept, *body, ir.Assign(caught, ir.Lit(0), span)), handlers, (), (), (caught,), span, True)
        self.emit(ir.Assign(caught, ir.Op(trial, ()), span))
        return self._cases_of(caught, [[*node.body, *node.orelse], *(h.body for h in node.handlers)], 0, node)

    def _is_half_done(self, node: Any) -> bool:
        """Whether a name that the body binds before its last statement may be read where that, or another, raised."""
        *first, last = [part for part in node.body if _but_not_left(part)] or [node.body[-1]]
        names = {name for part in first for name in resolve.targets(part)}
        if not isinstance(last, gast.Assign | gast.AnnAssign | gast.AugAssign):
            names |= resolve.targets(last)
        inside = {id(inner) for part in node.body for inner in gast.walk(part)}
        read = {_read(inner) for inner in gast.walk(self.tree) if id(inner) not in inside}
        return any(not _binds_first(handler.body, name) for handler in node.handlers for name in names & read)

    def _cases_of(self, caught: str, cases: list[list[Any]], number: int, node: Any) -> bool:
        if number + 1 == len(cases):
            return self.body(cases[number])
        test = self.copy(ir.Op(operator.eq, (ir.Var(caught), ir.Lit(number))), node)
        with self.block() as body:
            ends = self.body(cases[number])
        with self.block() as orelse:
            others = self._cases_of(caught, cases, number + 1, node)
        self.emit(ir.If(test, tuple(body), tuple(orelse), self.span(node)))
        return ends and others

    def _block(self, nodes: list[Any]) -> ir.Block:
        with self.block() as block:
            self.body(nodes)
        return tuple(block)

    def _handler(self, node: Any) -> Handler:
        name = "" if node.name is None else self.local(node.name.id) or ""
        return Handler(self._classes(node), name, self._block(node.body), self.span(node))

    def _classes(self, node: Any) -> tuple[ir.Atom, ...]:
        """The classes of the exceptions that a handler catches."""
        parts = [] if node.type is None else node.type.elts if isinstance(node.type, gast.Tuple) else [node.type]
        classes = [self.outside(part) for part in parts]
        if None in classes:
            raise self.refuse(
                node.type,
                "this exception class cannot be resolved",
                "use a class that is defined or imported at the top of the module",
            )
        return tuple(c for c in classes if c is not None)


def _without_finally(node: Any) -> list[Any]:
    """The statement without its ``finally``, which stands behind it and before each statement that leaves it."""
    final = node.finalbody

    def before(parts: list[Any], looping: bool) -> list[Any]:
        return [each for part in parts for each in leaving(part, looping)]

    def leaving(part: Any, looping: bool) -> list[Any]:
        if isinstance(part, gast.Return) and part.value is not None:
            kept = "%returned"
            target = gast.copy_location(gast.Name(kept, gast.Store(), None, None), part)
            value = gast.copy_location(gast.Name(kept, gast.Load(), None, None), part)
            bound = gast.copy_location(gast.Assign([target], part.value, None), part)
            return [bound, *copy.deepcopy(final), gast.copy_location(gast.Return(value), part)]
        if isinstance(part, gast.Return) or (isinstance(part, gast.Break | gast.Continue) and not looping):
            return [*copy.deepcopy(final), part]
        if isinstance(part, gast.If | gast.For | gast.While | gast.With | gast.Try):
            changed = copy.copy(part)
            inside = looping or isinstance(part, gast.For | gast.While)
            changed.body = before(part.body, inside)
            if hasattr(part, "orelse"):
                changed.orelse = before(part.orelse, looping)
            if isinstance(part, gast.Try):
                changed.handlers = [with_body(h, before(h.body, looping)) for h in part.handlers]
            return [changed]
        return [part]

    def with_body(handler: Any, body: list[Any]) -> Any:
        changed = copy.copy(handler)
        changed.body = body
        return changed

    body, orelse = before(node.body, False), before(node.orelse, False)
    if not node.handlers:
        return [*body, *orelse, *final]
    handlers = [with_body(h, before(h.body, False)) for h in node.handlers]
    return [gast.copy_location(gast.Try(body, handlers, orelse, []), node), *final]


def _can_be_tried(node: Any) -> bool:
    """Whether a trial can tell what the statement does: only the end of the body leaves it, and no handler reads the
    exception."""
    early = [inner for part in node.body[:-1] for inner in gast.walk(part)]
    last = node.body[-1]
    early += [] if isinstance(last, _LEAVING) else list(gast.walk(last))
    names = {h.name.id for h in node.handlers if h.name is not None}
    read = (inner for h in node.handlers for part in h.body for inner in gast.walk(part))
    asked = any(isinstance(inner, gast.Name) and inner.id in names for inner in read)
    return not (node.finalbody or asked or any(isinstance(inner, _LEAVING) for inner in early))


def _read(node: Any) -> str | None:
    """The name that the node reads."""
    name = node.target if isinstance(node, gast.AugAssign) else node
    reads = name is not node or isinstance(getattr(node, "ctx", None), gast.Load)
    return name.id if reads and isinstance(name, gast.Name) else None


def _binds_first(body: list[Any], name: str) -> bool:
    """Whether the statements bind the name, or leave the function, before they read it."""
    for part in body:
        if any(_read(inner) == name for inner in gast.walk(part)):
            return False
        if isinstance(part, gast.Return | gast.Raise):
            return True
        if isinstance(part, gast.Assign) and any(name in _plain_names(target) for target in part.targets):
            return True
    return False


def _plain_names(target: Any) -> set[str]:
    """The names that a target is, or is a display of."""
    return {part.id for part in (target, *getattr(target, "elts", ())) if isinstance(part, gast.Name)}


def _but_not_left(node: Any) -> list[Any]:
    """The last statement of a body that is tried, of which only counts whether it raises."""
    if not isinstance(node, _LEAVING):
        return [node]
    value = getattr(node, "value", None)
    return [] if value is None else [gast.copy_location(gast.Expr(value), node)]
