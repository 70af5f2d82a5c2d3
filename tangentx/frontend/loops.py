"""``for`` loops over ranges and over other iterables."""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from tangentx import arrays
from tangentx.analysis.library import standard_library
from tangentx.analysis.types.primitives import is_primitive
from tangentx.frontend import resolve
from tangentx.frontend.emitter import is_named
from tangentx.frontend.generators import Yields
from tangentx.frontend.iterators import FOREVER, Iterators, together
from tangentx.frontend.loop_iterables import Items, Range
from tangentx.frontend.targets import Column, Value
from tangentx.ir import markers, walk
from tangentx.ir import nodes as ir
from tangentx.ir.check import own_break

VIEWS = frozenset("items keys values".split())
RESIZING = frozenset("append extend insert pop remove clear".split())


class Loops(Iterators):
    """Lifts `for` loops, those of comprehensions too."""

    def iterable(self, node: Any) -> Range | Items | Yields:
        """Evaluate `node`, the iterable of a loop."""
        if (yields := self._yields(node)) is not None:
            return yields
        if (counted := self.counted(node)) is not None:
            return Range(counted[0], FOREVER, counted[1])
        if (bounds := self._range(node)) is not None:
            return bounds
        if self.calls(node, reversed) and _plain(node, 1, 1):
            inner = self._range(node.args[0])
            if inner is not None:
                return Range(inner.start, inner.stop, inner.step, True)
            items = self._sequence(node.args[0])
            return Items(items.count, items.read, items.over, True)
        return self.items(node)

    def _yields(self, node: Any) -> Yields | None:
        """What a generator function yields, numbered too; None for any other iterable."""
        if self.calls(node, enumerate) and _plain(node, 1, 2, "start"):
            found = self.generated(node.args[0])
            starts = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
            return found and replace(found, start=self.atom(starts[0]) if starts else ir.Lit(0))
        if self.calls(node, zip) and sum(map(self.is_generated, node.args)) == 1 and not node.keywords:
            place = next(i for i, arg in enumerate(node.args) if self.is_generated(arg))
            parts = [None if i == place else self.items(arg) for i, arg in enumerate(node.args)]
            found = self.generated(node.args[place])
            before, behind = (tuple(p for p in side if p) for side in (parts[:place], parts[place + 1 :]))
            if any(part.first or part.last or part.told for part in (*before, *behind)):
                raise self.refuse(
                    node,
                    "iterators that call functions, beside a generator, are not differentiated",
                    "write the loop out",
                )
            return found and replace(found, before=before, behind=behind)
        return self.generated(node)

    def _range(self, node: Any) -> Range | None:
        if not self.calls(node, range) or not _plain(node, 1, 3):
            return None
        bounds = [self.atom(arg) for arg in node.args]
        if len(bounds) == 1:
            bounds.insert(0, ir.Lit(0))
        start, stop, step = [*bounds, ir.Lit(1)][:3]
        return Range(start, stop, step)

    def items(self, node: Any) -> Items:
        if self.calls(node, enumerate) and _plain(node, 1, 2, "start"):
            return self._enumerate(node)
        if self.calls(node, zip):
            return self._zip(node)
        if self.calls(node, reversed) and _plain(node, 1, 1):
            return self._reversed(node)
        if self.calls(node, map):
            return self._map(node)
        if self.calls(node, filter):
            hint = "iterate over what is filtered, and test each item with if"
            raise self.refuse(node, "a filter that is iterated here is not differentiated", hint)
        if (counted := self.counted(node)) is not None:
            start, step = counted
            return Items(FOREVER, lambda index: self.term(start, step, index, node), frozenset())
        taken = self.in_turn(node)
        if taken is not None:
            return taken
        made = self.made_by_itertools(node)
        if made is not None:
            return replace(self._of(made[0], node), early=made[1])
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and self.outside(node.func) is None:
            if node.func.attr in VIEWS and not node.args and not node.keywords:
                return self._view(node)
        return self._sequence(node)

    def _map(self, node: Any) -> Items:
        """The function is called as the loop comes to each item."""
        if len(node.args) < 2:
            raise self.refuse(node, "map takes a function and what it is called with", "write map(function, items)")
        fn = self.held(node.args[0])
        parts = self._zip(node, 1)

        def read(index: ir.Atom) -> Value:
            values = parts.read(index)
            assert isinstance(values, tuple)
            return ir.Apply(fn, tuple(self.hold(self.whole(value, node), node) for value in values))

        told = parts.told or not (isinstance(fn, ir.Ext) and is_primitive(fn.value))
        return replace(parts, read=read, told=told)

    def _view(self, node: Any) -> Items:
        """A loop over ``d.items()``, ``d.keys()`` or ``d.values()``: over the keys of a dict, the values read as it
        goes; over what the method gives of an object of the user's own class, which only the analysis tells apart."""
        table = self.fixed(self.atom(node.func.value), node.func.value)
        which = ir.Lit(node.func.attr)
        found = self.copy(ir.Op(ir.keys, (table, which)), node)
        count = self.copy(ir.Op(builtins.len, (found,)), node)

        def read(index: ir.Atom) -> Value:
            if which.value == "keys":
                return ir.Index(found, ir.Key((index,)))
            held = self.copy(ir.Op(markers.entry_key, (table, which, found, index)), node)
            value = ir.Op(markers.entry_value, (table, which, found, index, held))
            return value if which.value == "values" else (held, value)

        entries = (table, which, found) if which.value == "items" else None
        return Items(count, read, frozenset(), lengths=((table, count, table), (found, count, found)), entries=entries)

    def _sequence(self, node: Any) -> Items:
        return self._of(self.atom(node), node)

    def _of(self, whole: ir.Atom, node: Any) -> Items:
        """The items of a value."""
        found = self.copy(ir.Op(ir.sequence, (whole,)), node)
        count = self.copy(ir.Op(builtins.len, (found,)), node)
        over = frozenset((whole.name,)) if isinstance(whole, ir.Var) else frozenset()
        pair = (whole if isinstance(whole, ir.Var) else found, count, found)
        return Items(count, lambda index: ir.Index(found, ir.Key((index,))), over, lengths=(pair,))

    def _enumerate(self, node: Any) -> Items:
        inner = self.items(node.args[0])
        starts = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
        start = self.atom(starts[0]) if starts else ir.Lit(0)
        if start == ir.Lit(0):
            return replace(inner, read=lambda index: (index, inner.read(index)), counter=True, entries=None)
        if is_named(start):
            start = self.copy(start, node)

        def numbered(index: ir.Atom) -> Value:
            return (ir.Op(operator.add, (start, index)), inner.read(index))

        return replace(inner, read=numbered, counter=False, entries=None)

    def _zip(self, node: Any, first: int = 0) -> Items:
        """The arguments from the `first` on, side by side."""
        strict = [keyword.value for keyword in node.keywords if keyword.arg == "strict"]
        known = len(strict) == len(node.keywords) and all(isinstance(value, gast.Constant) for value in strict)
        stars = any(isinstance(arg, gast.Starred) for arg in node.args)
        if stars and not first and not node.keywords and len(node.args) == 1:
            return self._columns(node)
        if not known or not node.args or stars:
            message = "zip is called with unknown keywords, without arguments, or with several starred ones"
            raise self.refuse(node, message, "write zip(a, b), or zip(*rows) with all rows in one list")
        parts = [self.items(arg) for arg in node.args[first:]]
        count = parts[0].count
        if len(parts) > 1:
            shortest = arrays.equal_lengths if strict and strict[0].value else builtins.min
            count = self.copy(ir.Op(shortest, tuple(part.count for part in parts)), node)
        return self._side_by_side(parts, count, node)

    def _side_by_side(self, parts: list[Items], count: ir.Atom, node: Any) -> Items:
        """The parts read one after the other; what one has given when a later one ends is lost, but has been read."""
        found = together(parts, count, lambda index: tuple(part.read(index) for part in parts))
        firsts = [part.first for part in parts if part.first is not None]
        if len(parts) > 1 and found.told and (firsts or any(part.last for part in parts)):
            raise self.refuse(
                node,
                "iterators with a state that call functions, side by side, are not differentiated",
                "write the loop out",
            )

        def first() -> None:
            for each in firsts:
                each()

        last = parts[0].last if len(parts) == 1 else functools.partial(self._lost, parts, count, node)
        lost = len(parts) == 1 or any(part.told for part in parts[:-1])
        return replace(found, first=first if firsts else None, last=last if lost else None)

    def _lost(self, parts: list[Items], count: ir.Atom, node: Any) -> None:
        """Read what those before the one that ends first give once more."""
        if len(parts) == 1 or not any(part.told for part in parts[:-1]):
            return
        with self.block() as body:
            if parts[0].told:
                self.hold(self.whole(parts[0].read(count), node), node)
            self._lost(parts[1:], count, node)
        test = self.copy(ir.Op(operator.lt, (count, parts[0].count)), node)
        self.emit(ir.If(test, tuple(body), (), self.span(node)))

    def _columns(self, node: Any) -> Items:
        """``zip(*rows)``: the columns, as many as the shortest row has."""
        rows = self.atom(node.args[0].value)
        found = self.copy(ir.Op(ir.sequence, (rows,)), node)
        shortest = ir.Ext("shortest", standard_library.shortest, ("object",), standard_library.shortest)
        count = self.copy(ir.Apply(shortest, (found,)), node)
        return Items(count, lambda index: Column(found, index), frozenset(), shallow=(found,))

    def _reversed(self, node: Any) -> Items:
        inner = self._sequence(node.args[0])
        last = self.copy(ir.Op(operator.sub, (inner.count, ir.Lit(1))), node)

        def read(index: ir.Atom) -> Value:
            return inner.read(self.copy(ir.Op(operator.sub, (last, index)), node))

        return together([inner], inner.count, read)

    def loop(self, target: Any, source: Range | Items | Yields, body: Callable[[], object], node: Any) -> None:
        """Emit the loop over `source` that assigns to `target` and then does `body`, for statement `node`."""
        if isinstance(source, Yields):
            self.run_generator(source, target, body, node)
            return
        with self.block() as inner:
            body()
        first, rest = target, None
        if isinstance(source, Items):
            self._same_length(source, tuple(inner), node)
            first, rest = _counted(target) if source.counter else (None, None)
        name = self._free(first, rest, tuple(inner))
        index = ir.Var(name or self.temp())
        entries = None if isinstance(source, Range) else source.entries
        if isinstance(source, Items) and source.first is not None:
            source.first()
        with self.block() as head:
            self._still(source, tuple(inner), node)
            if entries is None or not self._bind_entry(target, entries, index, node):
                value: Value = index if isinstance(source, Range) else source.read(index)
                if name is None:
                    self.bind(target, value, node)
                elif isinstance(value, tuple):
                    self.bind(rest, value[1], node)
        block = (*head, *inner)
        bounds = source if isinstance(source, Range) else Range(ir.Lit(0), source.count, ir.Lit(1), source.backward)
        written = walk.bound(block) | {index.name}
        start, stop, step = (self.safe(atom, written, node) for atom in (bounds.start, bounds.stop, bounds.step))
        many = source.snapshots and self.safe(source.snapshots, written, node)
        self.emit(ir.For(index.name, start, stop, step, bounds.backward, block, self.span(node), many))
        if isinstance(source, Items):
            self._over(source, tuple(inner), block, node)
        for whole, count, found in source.lengths if isinstance(source, Items) else ():
            asked = found if isinstance(whole, ir.Var) and whole.name in written else whole
            self.emit(ir.Assign(self.temp(), ir.Op(arrays.same_length, (asked, count)), self.span(node)))

    def _over(self, source: Items, inner: ir.Block, block: ir.Block, node: Any) -> None:
        """What is read where nothing is left; and the demand that nothing was written that had been read."""
        if source.last is not None:
            if own_break(inner):
                message = "a loop that a break may leave, over iterators side by side that call functions"
                raise self.refuse(node, message, "make lists of them first: list(map(f, items))")
            source.last()
        self.stays(source, block, node)

    def _still(self, source: Range | Items, inner: ir.Block, node: Any) -> None:
        """Where the body may make shorter what is iterated: ask before each item is read, not at the end alone."""
        given = [atom for stmt in walk.statements(inner) for atom in resized(stmt)]
        for whole, count, _ in source.lengths if isinstance(source, Items) and given else ():
            if isinstance(whole, ir.Var):
                asked = (whole, count, *dict.fromkeys(given))
                self.emit(ir.Assign(self.temp(), ir.Op(markers.unresized, asked), self.span(node)))

    def _bind_entry(self, target: Any, entries: tuple[ir.Atom, ...], index: ir.Atom, node: Any) -> bool:
        """Assign a key to the first name of `target`, and the value that it has to the second; False for others."""
        parts: list[Any] = getattr(target, "elts", [])
        names = [self.local(part.id) for part in parts if isinstance(part, gast.Name)]
        if len(parts) != 2 or len(names) != 2 or names[0] == names[1] or names[0] is None:
            return False
        self.bind(parts[0], ir.Op(markers.entry_key, (*entries, index)), node)
        self.bind(parts[1], ir.Op(markers.entry_value, (*entries, index, ir.Var(names[0]))), node)
        return True

    def _same_length(self, source: Items, body: ir.Block, node: Any) -> None:
        """Refuse a body that makes longer or shorter what is iterated: its length is asked once."""
        for stmt in walk.statements(body):
            call = stmt.value if isinstance(stmt, ir.Assign) else None
            if isinstance(call, ir.Method) and call.name in RESIZING and isinstance(call.base, ir.Var):
                if call.base.name in source.over:
                    message = f"{call.base.name} is iterated and changes its length (line {stmt.span.line})"
                    raise self.refuse(node, message, f"iterate over a copy: list({call.base.name})")

    def _free(self, first: Any, rest: Any, body: ir.Block) -> str | None:
        """The variable `first` if the loop can count with it: nothing in `body` or target `rest` assigns it."""
        if not isinstance(first, gast.Name):
            return None
        name = self.local(first.id)
        others = frozenset() if rest is None else resolve.targets(rest)
        return None if first.id in others or name in walk.bound(body) else name


def resized(stmt: ir.Statement) -> list[ir.Atom]:
    """What the statement may make longer or shorter; functions of the program's among them, that may do so."""
    match stmt:
        case ir.Assign(value=ir.Method(base=base, name=name)):
            return [base] if name in RESIZING or name in ("popitem", "setdefault", "update") else []
        case ir.Assign(value=ir.Apply(fn=ir.Var() as fn)):
            return [fn]
        case ir.Delete() | ir.Store():
            return [stmt.base]
    return []


def _counted(target: Any) -> tuple[Any, Any]:
    """The counter and the other target of ``for i, x in enumerate(...)``."""
    pair = isinstance(target, gast.Tuple | gast.List) and len(target.elts) == 2
    return tuple(target.elts) if pair else (None, None)


def _plain(node: Any, least: int, most: int, keyword: str = "") -> bool:
    """Whether the call has from `least` to `most` arguments, one of which may be given by name."""
    starred = any(isinstance(arg, gast.Starred) for arg in node.args)
    if starred or any(given.arg != keyword for given in node.keywords) or not node.args:
        return False
    return least <= len(node.args) + len(node.keywords) <= most
