"""List, dict and set displays, f-strings and comprehensions, and what in them has no effect."""

from __future__ import annotations

import builtins
import functools
import math
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

import gast
import numpy as np

from tangentx.analysis.types.primitives import is_primitive
from tangentx.common import source
from tangentx.common.naming import Names
from tangentx.errors import TangentxError
from tangentx.frontend import parse, resolve, scopes
from tangentx.frontend.calls import one_by_one
from tangentx.frontend.expressions import CONVERSIONS, Steps, leaf
from tangentx.frontend.loops import Loops
from tangentx.ir import markers
from tangentx.ir import nodes as ir

# Effect analysis of source code: expressions and functions that write nothing.

_WRITING = (
    gast.NamedExpr, gast.Global, gast.Nonlocal, gast.Delete, gast.Yield, gast.YieldFrom, gast.Await, gast.With,
    gast.Import, gast.ImportFrom,
)  # fmt: skip
_DEPTH = 3
_ITERATORS = (map, filter, zip, enumerate, reversed)
_READING = frozenset("sum mean dot copy astype reshape ravel transpose max min std var prod cumsum clip round".split())


def is_quiet(node: Any, outside: Callable[[Any], ir.Ext | None], depth: int = _DEPTH) -> bool:
    """Whether nothing is written where `node` is evaluated, or the function that it is is called. `outside` gives what
    a name of the module's means."""
    if isinstance(node, gast.Name | gast.Attribute) and depth == _DEPTH:
        found = outside(node)
        return found is not None and _called_quietly(found.value, depth)
    return all(_part(part, outside, depth) for part in gast.walk(node))


def _part(node: Any, outside: Callable[[Any], ir.Ext | None], depth: int) -> bool:
    if isinstance(node, _WRITING):
        return False
    if isinstance(node, gast.Subscript | gast.Attribute) and not isinstance(node.ctx, gast.Load):
        return False
    if isinstance(node, gast.AugAssign):
        return False
    if not isinstance(node, gast.Call):
        return True
    if any(given.arg == "out" for given in node.keywords):
        return False
    fn = outside(node.func)
    if fn is None:
        return isinstance(node.func, gast.Attribute) and node.func.attr in _READING
    if any(fn.value is maker for maker in _ITERATORS):
        functions = node.args[:1] if fn.value in (map, filter) else []
        return all(isinstance(f, gast.Lambda | gast.Constant) or is_quiet(f, outside) for f in functions)
    return _called_quietly(fn.value, depth - 1)


def _called_quietly(fn: Any, depth: int) -> bool:
    """Whether a call of an object writes nothing."""
    if is_primitive(fn):
        return True
    if not isinstance(fn, FunctionType) or depth < 0 or fn.__closure__:
        return False
    try:
        found = source.find(fn)
        tree = parse.parse(found)
    except TangentxError:
        return False
    names, own = fn.__globals__, resolve.own(tree)

    def outside(node: Any) -> ir.Ext | None:
        value = None
        if isinstance(node, gast.Name) and node.id not in own:
            value = names.get(node.id, getattr(builtins, node.id, None))
        elif isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name) and node.value.id not in own:
            value = getattr(names.get(node.value.id), node.attr, None)
        return None if value is None else ir.Ext("called", value, ("object",), None)

    body = tree.body if isinstance(tree.body, list) else [tree.body]
    return all(_part(part, outside, depth) for each in body for part in gast.walk(each))


# List, dict and set displays, f-strings and comprehensions.

# These take all that a generator gives before they return, so a list does as well.
CONSUMERS = (sum, list, tuple, max, min, sorted, dict, set, frozenset, math.fsum, math.prod, functools.reduce)
TAKERS = ("join", "update", "extend")  # methods of texts, dicts and lists that do, too


class Displays(Loops):
    """Lifts what makes tuples, lists, dicts and strings."""

    def _Tuple(self, node: Any) -> Steps:
        return (yield from self._made(tuple, node.elts, node))

    def _List(self, node: Any) -> Steps:
        return (yield from self._made(list, node.elts, node))

    def _made(self, cls: type, elements: list[Any], node: Any) -> Steps:
        parts: list[ir.Expr] = []
        items: list[ir.Atom] = []
        for element in _spliced(elements):
            if isinstance(element, gast.Starred):
                value = self.drained(element.value) if self.is_lazy(element.value) else (yield element.value)
                starred = ir.Apply(self.resolver.builtin(cls.__name__, cls), (value,))
                parts += [ir.Make(cls, tuple(items)), self.copy(starred, element)]
                items = []
            else:
                items.append((yield element))
        parts.append(ir.Make(cls, tuple(items)))
        parts = [part for part in parts if not (isinstance(part, ir.Make) and not part.items)] or parts[:1]
        return self._joined(operator.add, parts, node)

    def _joined(self, join: Callable[..., Any], parts: Sequence[ir.Expr], node: Any) -> ir.Expr:
        """The parts joined in pairs, these again: an item is copied as often as the logarithm of their number."""
        while len(parts) > 1:
            held = [self.hold(part, node) for part in parts]
            pairs = [ir.Op(join, (a, b)) for a, b in zip(held[::2], held[1::2], strict=False)]
            parts = [*pairs, *held[2 * len(pairs) :]]
        return parts[0]

    def _Dict(self, node: Any) -> Steps:
        parts: list[ir.Atom] = []
        keys, items = [], []
        for place, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            if key is not None:
                keys.append((yield key))
                items.append((yield value))
                continue
            if keys:
                parts.append(self.hold(self._entries(keys, items, node), node))
            parts.append(self._taken((yield value), dict, [e for e in (*node.keys, *node.values)[place:] if e], value))
            keys, items = [], []
        if not parts:
            return self._entries(keys, items, node)
        if keys:
            parts.append(self.hold(self._entries(keys, items, node), node))
        if len(parts) == 1:
            return ir.Apply(self.resolver.builtin("dict", dict), (parts[0],))
        return self._joined(operator.or_, parts, node)

    def _entries(self, keys: list[ir.Atom], items: list[ir.Atom], node: Any) -> ir.Expr:
        """A new dict of single entries."""
        constants = [key.value for key in keys if isinstance(key, ir.Lit)]
        if len(constants) == len(keys) == len(set(constants)):
            return ir.Make(dict, tuple(items), tuple(constants))
        made = self.copy(ir.Make(dict, (), ()), node)
        for key, item in zip(keys, items, strict=True):
            self.emit(ir.Store(made, ir.Key((key,)), item, self.span(node)))
        return made

    def _Set(self, node: Any) -> Steps:
        items = yield from self._made(list, node.elts, node)
        return ir.Op(builtins.set, (self.hold(items, node),))

    @leaf
    def _SetComp(self, node: Any) -> ir.Expr:
        return ir.Op(builtins.set, (self._collected(node),))

    @leaf
    def _DictComp(self, node: Any) -> ir.Expr:
        result: list[ir.Var] = []

        def begin() -> None:
            result.append(self.copy(ir.Make(dict, (), ()), node))

        def leaf() -> None:
            key = self.atom(node.key)
            self.emit(ir.Store(result[0], ir.Key((key,)), self.atom(node.value), self.span(node)))

        self._comprehend(node, begin, leaf)
        return result[0]

    def _JoinedStr(self, node: Any) -> Steps:
        text: ir.Atom | None = None
        for piece in node.values:
            if getattr(piece, "value", None) == "":  # some Pythons end a format with an empty text
                continue
            part = yield piece
            text = part if text is None else self.hold(ir.Op(operator.add, (text, part)), node)
        return ir.Lit("") if text is None else text

    def _FormattedValue(self, node: Any) -> Steps:
        value = yield node.value
        if node.conversion in CONVERSIONS:
            value = self.hold(ir.Op(CONVERSIONS[node.conversion], (value,)), node)
        spec: ir.Atom = ir.Lit("")
        if node.format_spec is not None:
            spec = yield node.format_spec
        return ir.Op(builtins.format, (value, spec))

    @leaf
    def _Starred(self, node: Any) -> ir.Expr:
        raise self.refuse(node, "a starred item here is not differentiated", "write the items out")

    @leaf
    def _ListComp(self, node: Any) -> ir.Expr:
        return self._collected(node)

    @leaf
    def _GeneratorExp(self, node: Any) -> ir.Expr:
        hint = "write a list comprehension, or give the generator to sum, max, min, list, tuple, sorted, any or all"
        raise self.refuse(node, "a generator expression here is not differentiated", hint)

    def is_lazy(self, node: Any) -> bool:
        return isinstance(node, gast.GeneratorExp) or self.is_iterator(node) or self.is_generated(node)

    def searched(self, fn: ir.Atom, method: str | None, call: Any) -> ir.Expr | None:
        value = fn.value if isinstance(fn, ir.Ext) and method is None else None
        if call.keywords or not call.args:
            return None
        first, *others = call.args
        if value is next and len(others) < 2:
            if self.calls(first, iter) and len(first.args) == 1:
                return self._first(one_by_one(self.temp(), first.args[0]), others)
            return self._first(self._generated(first), others) if self.is_lazy(first) else None
        found = self.generator(first) if (value is any or value is all) and not others else None
        return None if found is None else self._searched(value is any, found)

    def consumed(self, fn: ir.Atom, method: str | None, node: Any, call: Any, held: dict[int, ir.Atom]) -> ir.Atom:
        value = fn.value if isinstance(fn, ir.Ext) and method is None else None
        whole = value is np.fromiter and len(call.args) < 3 and all(k.arg != "count" for k in call.keywords)
        if method not in TAKERS and not whole and not any(value is consumer for consumer in CONSUMERS):
            raise self.refuse(node, "the callee may stop before the iterator ends", "pass a list: [... for ...]")
        others = [arg for arg in (*call.args, *(keyword.value for keyword in call.keywords)) if arg is not node]
        if any(map(self.calls_tell, others)):
            message = "an iterator beside an argument that is a call: which runs first cannot be kept"
            raise self.refuse(node, message, "give the other argument a name first")
        tells = self.tells(node)
        self._demand_apart(value, call, tells, node)
        if not tells or not others or value is functools.reduce:
            found = self.drained(node)
        else:
            found = self._collected(self._generated(node), lambda: self._evaluate(others, held))
        if method in ("update", "extend"):
            self._demand_blind(fn, node)
        return found

    def _evaluate(self, others: list[Any], held: dict[int, ir.Atom]) -> None:
        """The other arguments, which Python evaluates before it asks the iterator for its first item."""
        for other in others:
            if isinstance(other, gast.Starred):
                raise self.refuse(
                    other,
                    "a starred argument beside an iterator is not differentiated",
                    "make a list of the iterator first",
                )
            atom = self.atom(other)
            held[id(other)] = self.copy(atom, other) if isinstance(atom, ir.Var) else atom

    def _demand_apart(self, value: Any, call: Any, tells: bool, node: Any) -> None:
        """Refuse a function that is called between two items, where that shows."""
        between = [keyword.value for keyword in call.keywords if keyword.arg == "key" and value in (max, min)]
        between += call.args[:1] if value is functools.reduce else []
        for fn in between:
            shown = self.shows(fn)
            if (shown and not self._is_quiet(fn)) or (tells and not self._is_quiet(node) and self._looks_out(fn)):
                message = "a function that is called between the items of an iterator, and may tell"
                raise self.refuse(node, message, "make a list of the iterator first")

    def _looks_out(self, fn: Any) -> bool:
        """Whether a function may read what an iterator writes: any but a primitive, or a lambda of its arguments."""
        if isinstance(fn, gast.Lambda):
            return any(self.local(name) is not None for name in scopes.free(fn)) or self.tells(fn.body)
        return self.shows(fn)

    def _is_quiet(self, node: Any) -> bool:
        """Whether nothing is written where `node` is evaluated, or called."""
        with self.within(node):
            return is_quiet(node, self.outside)

    def _demand_blind(self, base: ir.Atom, node: Any) -> None:
        """Demand that the iterator does not look at the list or dict `base`, which Python fills as it goes."""
        names = [part for part in gast.walk(node) if isinstance(part, gast.Name)]
        own = {part.id for part in names if not isinstance(part.ctx, gast.Load)}
        read = [part for part in names if part.id not in own]
        local = sorted({name for name in (self.local(part.id) for part in read) if name is not None})
        called = [ext for ext in map(self.outside, read) if ext is not None and callable(ext.value)]
        asked = (base, *map(ir.Var, local), *(ext for ext in called if not is_primitive(ext.value)))
        self.emit(ir.Assign(self.temp(), ir.Op(markers.blind, asked), self.span(node)))

    def gathered(self, node: Any) -> ir.Atom:
        return self._collected(self._generated(node))

    def _generated(self, node: Any) -> Any:
        """The generator expression that `node`, an iterator, is or stands for."""
        return self.generator(node) or one_by_one(self.temp(), node)

    def _collected(self, node: Any, begun: Callable[[], None] | None = None) -> ir.Var:
        """A list of what a comprehension gives; `begun` is done before its first item is asked for."""
        result: list[ir.Var] = []

        def begin() -> None:
            if begun is not None:
                begun()
            result.append(self.copy(ir.Make(list, ()), node))

        def leaf() -> None:
            value = self.atom(node.elt)
            self.emit(ir.Append(result[0], value, self.span(node.elt)))

        self._comprehend(node, begin, leaf)
        return result[0]

    def _searched(self, wanted: bool, node: Any) -> ir.Var:
        """``any(...)`` and ``all(...)`` stop at the first element that decides."""
        name = self.temp()

        def begin() -> None:
            self.emit(ir.Assign(name, ir.Lit(not wanted), self.span(node)))

        def leaf() -> None:
            test, span = self.test(node.elt), self.span(node.elt)
            found: ir.Block = (ir.Assign(name, ir.Lit(wanted), span), ir.Break(span))
            self.emit(ir.If(test, found, (), span) if wanted else ir.If(test, (), found, span))

        def leave() -> None:
            left: ir.Block = (ir.Break(self.span(node)),)
            self.emit(ir.If(ir.Var(name), left if wanted else (), () if wanted else left, self.span(node)))

        self._comprehend(node, begin, leaf, leave)
        return ir.Var(name)

    def _first(self, node: Any, default: list[Any]) -> ir.Var:
        """``next(...)``: the first item, or else the default, or StopIteration."""
        name = self.temp()
        found = self.temp() if not default or len(node.generators) > 1 else None

        def begin() -> None:
            if default:
                self.emit(ir.Assign(name, self.atom(default[0]), self.span(node)))
            if found is not None:
                self.emit(ir.Assign(found, ir.Lit(False), self.span(node)))

        def leaf() -> None:
            span = self.span(node.elt)
            self.emit(ir.Assign(name, self.atom(node.elt), span))
            if found is not None:
                self.emit(ir.Assign(found, ir.Lit(True), span))
            self.emit(ir.Break(span))

        def leave() -> None:
            if found is not None:
                self.emit(ir.If(ir.Var(found), (ir.Break(self.span(node)),), (), self.span(node)))

        self._comprehend(node, begin, leaf, leave)
        if found is not None and not default:
            with self.block() as raising:
                error = self.copy(ir.Op(StopIteration, ()), node)
                self.emit(ir.Raise(error, self.span(node)))
            self.emit(ir.If(ir.Var(found), (), tuple(raising), self.span(node)))
        return ir.Var(name)

    def _comprehend(
        self, node: Any, begin: Callable[[], None], leaf: Callable[[], None], leave: Callable[[], None] | None = None
    ) -> None:
        """Emit the loops of comprehension `node`: the first iterable belongs to the scope outside, all else inside.
        Behind each inner loop `leave` ends the loop around it, where the inner one was ended by a break of `leaf`."""
        first = self.iterable(node.generators[0].iter)
        begin()
        variables, captured = self._variables(node)
        for name in captured:
            self.emit(ir.Assign(name, ir.Op(markers.renewed, ()), self.span(node)))
        self.renamed.append(variables)
        self.apart.append(isinstance(node, gast.GeneratorExp) or sys.version_info < (3, 12))
        try:
            self._generator(node.generators, 0, first, leaf, leave or _stay)
        finally:
            self.renamed.pop()
            self.apart.pop()

    def _variables(self, node: Any) -> tuple[dict[str, str], list[str]]:
        """The comprehension's variables, renamed where the function or a comprehension around has the name, and those
        of them that functions in it capture. No other comprehension has their names: the functions outlive this one."""
        taken = set(self.scope.names).union(*(renamed.values() for renamed in self.renamed))
        free = {name for part in gast.walk(node) if isinstance(part, resolve.SCOPES) for name in scopes.free(part)}
        found: dict[str, str] = {}
        for generator in node.generators:
            for name in sorted(resolve.targets(generator.target) - found.keys()):
                others = self.comprehended if name in free else self.captured
                found[name] = Names(taken | others).fresh(name)
                taken.add(found[name])
        captured = [own for name, own in found.items() if name in free]
        self.comprehended.update(found.values())
        self.captured.update(captured)
        return found, captured

    def _generator(
        self, generators: list[Any], number: int, source: Any, leaf: Callable[[], None], leave: Callable[[], None]
    ) -> None:
        generator = generators[number]

        def body() -> None:
            self._filtered(generator.ifs, inner)

        def inner() -> None:
            if number + 1 == len(generators):
                leaf()
            else:
                following = self.iterable(generators[number + 1].iter)
                self._generator(generators, number + 1, following, leaf, leave)
                leave()

        self.loop(generator.target, source, body, generator.target)

    def _filtered(self, conditions: list[Any], inner: Callable[[], None]) -> None:
        if not conditions:
            inner()
            return
        test = self.test(conditions[0])
        with self.block() as body:
            self._filtered(conditions[1:], inner)
        self.emit(ir.If(test, tuple(body), (), self.span(conditions[0])))


def _stay() -> None:
    """No loop of a comprehension ends before its time."""


def _spliced(elements: list[Any]) -> Iterator[Any]:
    """The elements of a display; in the place of a display with a star stand its elements."""
    for element in elements:
        if isinstance(element, gast.Starred) and isinstance(element.value, gast.List | gast.Tuple):
            yield from _spliced(element.value.elts)
        else:
            yield element
