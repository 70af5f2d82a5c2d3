"""Iterators consumed where they are created, represented as lists."""

from __future__ import annotations

import builtins
import itertools
import operator
import sys
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from tangentx.analysis.library import standard_library
from tangentx.analysis.types.primitives import is_primitive
from tangentx.frontend import resolve
from tangentx.frontend.generators import Generators
from tangentx.frontend.loop_iterables import Items
from tangentx.frontend.targets import Value
from tangentx.ir import markers, walk
from tangentx.ir import nodes as ir

ITERTOOLS: dict[Any, dict[int, Callable[..., Any]]] = {
    itertools.chain.from_iterable: {1: standard_library.chained_all},
    itertools.repeat: {2: standard_library.repeated},
    itertools.product: {2: standard_library.crossed, 3: standard_library.crossed_by_three},
    itertools.combinations: {2: standard_library.combined, 3: standard_library.combined_by_three},
    itertools.permutations: {2: standard_library.ordered},
}
"""For what becomes a list where it is made the stand-ins by the number of arguments."""

FOREVER = ir.Lit(sys.maxsize)
_IN_TURN = (itertools.chain, itertools.islice, itertools.starmap, itertools.pairwise, itertools.accumulate)
"""What is read as Python reads it."""
_CHOOSING = (itertools.combinations, itertools.permutations)
_MAKERS = (zip, enumerate, reversed, map, filter)


class Iterators(Generators):
    """Lifts calls of itertools."""

    def is_iterator(self, node: Any) -> bool:
        """Whether `node` is a call of what makes an iterator: zip, map and their like, or one of itertools."""
        fn = self.outside(node.func) if isinstance(node, gast.Call) else None
        return fn is not None and any(resolve.is_same(fn.value, maker) for maker in (*_MAKERS, *_IN_TURN, *ITERTOOLS))

    def made_by_itertools(self, node: Any) -> tuple[ir.Atom, tuple[ir.Atom, ...]] | None:
        """A list of what a call of one of itertools gives, and what has been read for it where Python waits; None for
        any other node."""
        fn = self.outside(node.func) if isinstance(node, gast.Call) else None
        counts = next(
            (found for maker, found in ITERTOOLS.items() if fn is not None and resolve.is_same(fn.value, maker)), None
        )
        if counts is None:
            return None
        count, given, named = len(node.args), node.args, node.keywords
        times = 1
        if fn is not None and fn.value in _CHOOSING and count == 2 and _number(node.args[1]) in (2, 3):
            count, given = _number(node.args[1]), node.args[:1]
        elif fn is not None and fn.value is itertools.product and count == 1 and [k.arg for k in named] == ["repeat"]:
            count = times = _number(named[0].value)
            named = []
        elif fn is not None and fn.value in _CHOOSING:
            count = 0
        standin = counts.get(count)
        if standin is None or named:
            hint = "write the loops out"
            raise self.refuse(node, "this call of itertools is not differentiated", hint)
        if len(given) > 1 and any(self.is_lazy(arg) and self.tells(arg) for arg in given):
            hint = "make a list of each first: list(map(f, items))"
            raise self.refuse(node, "several iterators that call functions are taken together", hint)
        args = tuple(self.gathered(arg) if self.is_lazy(arg) else self.atom(arg) for arg in given) * times
        ext = ir.Ext(standin.__name__, standin, ("object",), standin)
        return self.copy(ir.Apply(ext, args), node), args if standin is standard_library.chained_all else ()

    def in_turn(self, node: Any) -> Items | None:
        """What a call of one of itertools gives, item by item; None for any other node."""
        fn = self.outside(node.func) if isinstance(node, gast.Call) else None
        if fn is None or not any(fn.value is maker for maker in _IN_TURN):
            return None
        count, starred = len(node.args), any(isinstance(arg, gast.Starred) for arg in node.args)
        least, most = {itertools.chain: (1, 99), itertools.islice: (2, 3), itertools.starmap: (2, 2)}.get(
            fn.value, (1, 1 if fn.value is itertools.pairwise else 2)
        )
        named = {word.arg for word in node.keywords}
        if fn.value is itertools.accumulate and count == 1 and "func" in named:
            count = 2
        known = {"func", "initial"} - ({"func"} if len(node.args) > 1 else set())
        if starred or not named <= (known if fn.value is itertools.accumulate else set()) or not least <= count <= most:
            raise self.refuse(node, "this call of itertools is not differentiated", "write the loops out")
        made: Items = getattr(self, f"_{fn.value.__name__}")(node)
        return made

    def _chain(self, node: Any) -> Items:
        """One after the other; each is asked for an item when it is its turn."""
        parts = [self.items(arg) for arg in node.args]
        if len(parts) == 1:
            return parts[0]
        starts = [ir.Lit(0), parts[0].count]
        for part in parts[1:]:
            starts.append(self.copy(ir.Op(operator.add, (starts[-1], part.count)), node))

        def read(index: ir.Atom) -> Value:
            return ir.Var(self._read_of(parts, starts, index, node))

        if any(part.first or part.last for part in parts):
            raise self.refuse(node, "an iterator with a state is chained", "write a loop for each")
        return together(parts, starts[-1], read)

    def _read_of(self, parts: list[Items], starts: list[ir.Atom], index: ir.Atom, node: Any) -> str:
        """The name of the item that one of the parts gives."""
        name = self.temp()
        (part, *others), (start, end, *_) = parts, starts
        place = index if start == ir.Lit(0) else self.copy(ir.Op(operator.sub, (index, start)), node)
        if not others:
            self.emit(ir.Assign(name, self.whole(part.read(place), node), self.span(node)))
            return name
        with self.block() as here:
            self.emit(ir.Assign(name, self.whole(part.read(place), node), self.span(node)))
        with self.block() as later:
            found = self._read_of(others, starts[1:], index, node)
            self.emit(ir.Assign(name, ir.Var(found), self.span(node)))
        test = self.copy(ir.Op(operator.lt, (index, end)), node)
        self.emit(ir.If(test, tuple(here), tuple(later), self.span(node)))
        return name

    def _islice(self, node: Any) -> Items:
        """Some of the items, by their places."""
        inner = self.items(node.args[0])
        bounds = [self.atom(arg) for arg in node.args[1:]]
        start, stop = bounds if len(bounds) == 2 else (ir.Lit(0), bounds[0])
        if start == ir.Lit(None):
            start = ir.Lit(0)
        if inner.first or inner.last or (inner.told and start != ir.Lit(0)):
            hint = "make a list of it first: list(map(f, items))"
            raise self.refuse(node, "a part of an iterator that calls functions", hint)
        self._not_negative(stop, "Stop argument" if len(bounds) == 1 else "Indices", node)
        self._not_negative(start, "Indices", node)
        count = inner.count if stop == ir.Lit(None) else self.copy(ir.Op(builtins.min, (stop, inner.count)), node)
        if start == ir.Lit(0):
            return together([inner], count, inner.read)
        count = self.copy(ir.Op(operator.sub, (count, start)), node)

        def read(index: ir.Atom) -> Value:
            return inner.read(self.copy(ir.Op(operator.add, (index, start)), node))

        return together([inner], count, read)

    def _not_negative(self, bound: ir.Atom, what: str, node: Any) -> None:
        """Raise as islice does where the bound is negative."""
        if isinstance(bound, ir.Lit) and (bound.value is None or (isinstance(bound.value, int) and bound.value >= 0)):
            return
        message = f"{what} for islice() must be None or an integer: 0 <= x <= sys.maxsize."
        with self.block() as raising:
            error = self.copy(ir.Op(ValueError, (ir.Lit(message),)), node)
            self.emit(ir.Raise(error, self.span(node)))
        test = self.copy(ir.Op(operator.lt, (bound, ir.Lit(0))), node)
        self.emit(ir.If(test, tuple(raising), (), self.span(node)))

    def _starmap(self, node: Any) -> Items:
        """The function is called as the loop comes to each item."""
        fn = self.held(node.args[0])
        inner = self.items(node.args[1])

        def read(index: ir.Atom) -> Value:
            value = inner.read(index)
            if isinstance(value, tuple):
                return ir.Apply(fn, tuple(self.hold(self.whole(part, node), node) for part in value))
            return ir.Apply(fn, (self.hold(self.whole(value, node), node),), (), (0,))

        return replace(inner, read=read, counter=False, entries=None, told=True)

    def _pairwise(self, node: Any) -> Items:
        """Each item with the one before it, which is kept from the trip before."""
        inner, kept = self.items(node.args[0]), self.temp()
        if inner.first or inner.last:
            raise self.refuse(
                node, "pairs of an iterator with a state are not differentiated", "make a list of it first"
            )

        def first() -> None:
            with self.block() as body:
                self.emit(ir.Assign(kept, self.whole(inner.read(ir.Lit(0)), node), self.span(node)))
            some = self.copy(ir.Op(operator.gt, (inner.count, ir.Lit(0))), node)
            self.emit(ir.If(some, tuple(body), (), self.span(node)))

        def read(index: ir.Atom) -> Value:
            before = self.copy(ir.Var(kept), node)
            following = self.copy(ir.Op(operator.add, (index, ir.Lit(1))), node)
            value = self.hold(self.whole(inner.read(following), node), node)
            self.emit(ir.Assign(kept, value, self.span(node)))
            return (before, value)

        count = self.copy(ir.Op(operator.sub, (inner.count, ir.Lit(1))), node)
        return replace(together([inner], count, read), first=first)

    def _accumulate(self, node: Any) -> Items:
        """The total as it grows; the first is what it begins with, where that is given."""
        inner, total = self.items(node.args[0]), self.temp()
        named = {word.arg: word.value for word in node.keywords}
        given = node.args[1] if node.args[1:] else named.get("func")
        fn = ir.Lit(None) if given is None else self.held(given)
        start = ir.Lit(None) if "initial" not in named else self.held(named["initial"])
        if inner.first or inner.last:
            raise self.refuse(
                node, "totals of an iterator with a state are not differentiated", "make a list of it first"
            )

        def grow(place: ir.Atom) -> ir.Expr:
            value = self.hold(self.whole(inner.read(place), node), node)
            plain = fn == ir.Lit(None)
            return ir.Op(operator.add, (ir.Var(total), value)) if plain else ir.Apply(fn, (ir.Var(total), value))

        def read(index: ir.Atom) -> Value:
            with self.block() as first:
                begun = self.whole(inner.read(ir.Lit(0)), node) if start == ir.Lit(None) else start
                self.emit(ir.Assign(total, begun, self.span(node)))
            with self.block() as later:
                before = index if start == ir.Lit(None) else self.copy(ir.Op(operator.sub, (index, ir.Lit(1))), node)
                self.emit(ir.Assign(total, grow(before), self.span(node)))
            test = self.copy(ir.Op(operator.eq, (index, ir.Lit(0))), node)
            self.emit(ir.If(test, tuple(first), tuple(later), self.span(node)))
            return ir.Var(total)

        told = inner.told or not (isinstance(fn, ir.Lit) or (isinstance(fn, ir.Ext) and is_primitive(fn.value)))
        count = inner.count if start == ir.Lit(None) else self.copy(ir.Op(operator.add, (inner.count, ir.Lit(1))), node)
        return replace(together([inner], count, read), told=told)

    def held(self, node: Any) -> ir.Atom:
        """A function, evaluated here, whatever is bound to its name later."""
        fn = self.atom(node)
        return self.copy(fn, node) if isinstance(fn, ir.Var) else fn

    def tells(self, node: Any) -> bool:
        """Whether it may show when `node` is evaluated: calls, but for those of what has no effect, and ``:=``."""
        with self.within(node):
            return any(isinstance(part, gast.NamedExpr) or self._call_tells(part) for part in gast.walk(node))

    def calls_tell(self, node: Any) -> bool:
        """As `tells`, of calls alone."""
        with self.within(node):
            return any(self._call_tells(part) for part in gast.walk(node))

    def _call_tells(self, node: Any) -> bool:
        if not isinstance(node, gast.Call):
            return False
        fn = self.outside(node.func)
        if fn is None or any(given.arg == "out" for given in node.keywords):
            return True
        calling = {map: (0, 1), filter: (0, 1), itertools.starmap: (0, 1), itertools.accumulate: (1, 2)}
        which = next((places for maker, places in calling.items() if fn.value is maker), None)
        if which is not None:
            named = [given.value for given in node.keywords if given.arg == "func"]
            return any(self.shows(arg) for arg in (*node.args[slice(*which)], *named))
        lazy = (*_MAKERS, *_IN_TURN, *ITERTOOLS)
        return not is_primitive(fn.value) and not any(resolve.is_same(fn.value, maker) for maker in lazy)

    def shows(self, node: Any) -> bool:
        """Whether it may show when `node`, a function or None, is called."""
        if isinstance(node, gast.Lambda):
            return self.tells(node.body)
        fn = self.outside(node) if isinstance(node, gast.Name | gast.Attribute) else None
        return not (isinstance(node, gast.Constant) or (fn is not None and is_primitive(fn.value)))

    @abstractmethod
    def items(self, node: Any) -> Items:
        """What `node`, an iterable, gives, by place."""

    def stays(self, source: Items, body: ir.Block, node: Any) -> None:
        """Demand that the body of a loop writes into nothing that has been read for it before its time."""
        early, shallow = source.early, source.shallow
        atoms = [atom for stmt in walk.statements(body) for atom in given_away(stmt)]
        if atoms and (early or shallow):
            marked = (ir.Lit(len(early)), ir.Lit(len(shallow)), *early, *shallow, *dict.fromkeys(atoms))
            self.emit(ir.Assign(self.temp(), ir.Op(markers.unwritten, marked), self.span(node)))

    def term(self, start: ir.Atom, step: ir.Atom, index: ir.Atom, node: Any) -> ir.Expr:
        """What ``itertools.count(start, step)`` gives at an index."""
        risen = index if step == ir.Lit(1) else self.copy(ir.Op(operator.mul, (step, index)), node)
        return risen if start == ir.Lit(0) else ir.Op(operator.add, (start, risen))

    def counted(self, node: Any) -> tuple[ir.Atom, ir.Atom] | None:
        """Start and step of ``itertools.count(...)`` of whole numbers; None for any other node."""
        fn = self.outside(node.func) if isinstance(node, gast.Call) else None
        if fn is None or fn.value is not itertools.count:
            return None
        given = [arg.value if isinstance(arg, gast.Constant) else None for arg in node.args]
        start, step = [*given, *(0, 1)[len(given) :]][:2]
        if node.keywords or len(given) > 2 or type(start) is not int or type(step) is not int or step < 1:
            raise self.refuse(
                node,
                "the arguments of itertools.count are not whole numbers that are known here",
                "keep the counter in a variable of your own",
            )
        return ir.Lit(start), ir.Lit(step)


def together(parts: list[Items], count: ir.Atom, read: Callable[[ir.Atom], Value]) -> Items:
    """The items that `read` makes of those of the parts."""
    over = frozenset().union(*(part.over for part in parts))
    return Items(
        count,
        read,
        over,
        lengths=tuple(pair for part in parts for pair in part.lengths),
        told=any(part.told for part in parts),
        early=tuple(atom for part in parts for atom in part.early),
        shallow=tuple(atom for part in parts for atom in part.shallow),
    )


def _number(node: Any) -> int:
    """The whole number that is written there; 0 for anything else."""
    value = getattr(node, "value", None) if isinstance(node, gast.Constant) else None
    return value if type(value) is int else 0


def given_away(stmt: ir.Statement) -> list[ir.Atom]:
    """What the statement may write into, or gives to what may."""
    match stmt:
        case ir.Assign(value=ir.Apply(fn=fn, args=args, kwargs=kwargs)):
            known = isinstance(fn, ir.Ext) and is_primitive(fn.value)
            found = [atom for name, atom in kwargs if not known or name == "out"]
            return [*(() if known else (fn, *args)), *found]
        case ir.Assign(value=ir.Method(base=base, args=args)):
            return [base, *args]
        case ir.Augment():
            return [ir.Var(stmt.target)]
        case ir.Store() | ir.Augstore() | ir.Accumulate() | ir.Append() | ir.Delete():
            return [stmt.base]
    return []
