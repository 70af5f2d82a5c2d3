"""Generators consumed by a loop: the generator's statements are inlined around the loop body.

``for x in walk(a): body`` runs as ``walk`` does, and ``body`` each time that it yields: there is no other order. A
break of the loop leaves the generator, and so does its own return: `left` writes that with a flag. What keeps a
generator, or asks for one item (`next`), is refused.
"""

from __future__ import annotations

import inspect
import operator
import types
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import gast

from tangentx.common import free_variables, source
from tangentx.common.source import Found
from tangentx.frontend import parse, scopes, unsupported
from tangentx.frontend.loop_iterables import Items
from tangentx.frontend.targets import Targets
from tangentx.ir import nodes as ir
from tangentx.ir import walk
from tangentx.ir.check import own_break
from tangentx.ir.rewrite import map_blocks, rename

_SIMPLE = (type(None), bool, int, float, complex, str, bytes)
_DEEPEST = 8


def yielded(value: Any) -> Any:
    """Marker for `Op`: the generator yields `value` here."""
    raise AssertionError("a marker, never run")


def leave() -> Any:
    """Marker for `Op`: control leaves the generator here."""
    raise AssertionError("a marker, never run")


@dataclass(frozen=True)
class Yields:
    """The loop runs over what a call of a generator function yields; with a `start`, numbered from there.

    `before` and `behind` are what it runs over side by side, asked for an item before the generator and after it.
    """

    call: Any
    tree: Any
    function: Any = None
    found: Found | None = None
    start: ir.Atom | None = None
    before: tuple[Items, ...] = ()
    behind: tuple[Items, ...] = ()


def is_generator(tree: Any) -> bool:
    """Whether a definition is that of a generator function."""
    own = scopes.own_nodes(tree) if isinstance(tree, gast.FunctionDef) else ()
    return any(isinstance(node, gast.Yield | gast.YieldFrom) for node in own)


class Generators(Targets):
    """Lifts loops over calls of generator functions."""

    def __init__(self, function: Any, found: Any, tree: Any, outer: Any = None) -> None:
        super().__init__(function, found, tree, outer)
        self.generators: dict[str, Any] = {}  # generator functions that are defined here
        self.yields = False  # whether what is lifted is a generator, to be put in the place of a loop
        self.running: tuple[Any, ...] = () if outer is None else outer.running  # the trees of those around

    def generated(self, node: Any) -> Yields | None:
        """What a call of a generator function yields; None for any other node."""
        if not isinstance(node, gast.Call):
            return None
        if isinstance(node.func, gast.Name) and self.local(node.func.id) == node.func.id:
            tree = self.generators.get(node.func.id)
            return None if tree is None else Yields(node, tree)
        fn = self.outside(node.func)
        if fn is None or not (isinstance(fn.value, types.FunctionType) and inspect.isgeneratorfunction(fn.value)):
            return None
        found = source.find(fn.value)
        return Yields(node, parse.parse(found), fn.value, found)

    def is_generated(self, node: Any) -> bool:
        """Whether `node` is a call of a generator function."""
        return self.generated(node) is not None

    def run_generator(self, yields: Yields, target: Any, body: Callable[[], object], node: Any) -> None:
        """Emit the statements of the generator, with the assignment to `target` and `body` where it yields."""
        if len(self.running) > _DEEPEST or any(_same(tree, yields.tree) for tree in self.running):
            hint = "collect the values in a list"
            raise self.refuse(node, "a generator that runs itself is not differentiated", hint)
        given = self._arguments_of(yields)
        inner, statements = self._lifted_generator(yields)
        names = {name: self._own_name(name) for name in sorted(walk.bound(statements) | set(given))}
        names |= {mine: outer for outer, mine in getattr(inner, "slots", {}).items()}
        for name, atom in given.items():
            self.emit(ir.Assign(names[name], atom, self.span(node)))
        start = ir.Lit(0) if yields.before or yields.behind else yields.start
        counter = self.temp()
        if start is not None:
            self.emit(ir.Assign(counter, start, self.span(node)))

        def turn(value: ir.Atom) -> ir.Block:
            with self.block() as out:
                self._leave_where_ended(yields.behind, ir.Var(counter), node)
                self.bind(target, self._yielded_item(yields, value, counter, node), node)
                body()
            with self.block() as last:
                if start is not None:
                    self.emit(ir.Assign(counter, ir.Op(operator.add, (ir.Var(counter), ir.Lit(1))), self.span(node)))
                self._leave_where_ended(yields.before, ir.Var(counter), node)
            return (*_turned(tuple(out), self, node), *last)

        flag = self.temp()
        with self.block() as empty:
            self._leave_where_ended(yields.before, ir.Lit(0), node)
        filled = (*empty, *_filled(rename(statements, names), turn))
        if any(_leaves(s) for s in filled):
            self.emit(ir.Assign(flag, ir.Lit(False), self.span(node)))
            filled = left(filled, flag, self.temp, False)
        if any(_is_endless(s) for s in walk.statements(filled)):
            raise self.refuse(node, "nothing leaves this loop over a generator that has no end", "give it a break")
        for statement in filled:
            self.emit(statement)

    def _yielded_item(self, yields: Yields, value: ir.Atom, counter: str, node: Any) -> Any:
        """What the target is bound to."""
        if yields.start is None and not (yields.before or yields.behind):
            return value
        place = self.copy(ir.Var(counter), node)
        if yields.start is not None:
            return (place, value)
        return (*(p.read(place) for p in yields.before), value, *(p.read(place) for p in yields.behind))

    def _leave_where_ended(self, parts: tuple[Items, ...], place: ir.Atom, node: Any) -> None:
        """Leave where nothing is left of one of the parts."""
        for part in parts:
            test = self.copy(ir.Op(operator.ge, (place, part.count)), node)
            self.emit(ir.If(test, (_leaving(self.span(node)),), (), self.span(node)))

    def _own_name(self, name: str) -> str:
        return self.temp() if name.startswith("%") else self.fresh(name)

    def _lifted_generator(self, yields: Yields) -> tuple[Any, ir.Block]:
        """The lifter of the generator's text, and its statements."""
        self._demand_plain(yields)
        if yields.found is None:
            inner: Any = type(self)(self.resolver.function, self.found, yields.tree, self)
        else:
            unsupported.check(yields.tree, yields.found, yields=True)
            inner = type(self)(yields.function, yields.found, yields.tree)
        inner.yields, inner.running = True, (*self.running, yields.tree)
        with inner.block() as out:
            for own, known in inner.known.items():
                if own in scopes.free(yields.tree):
                    out.append(ir.Assign(own, known.made(), self.span(yields.call)))
            inner.body(yields.tree.body)
        out[:0] = inner.openings()
        params = tuple(ir.Param(name) for name in inner.slots.values())
        whole = inner.shared(ir.Function("generator", params, tuple(out), self.span(yields.call)))
        return inner, tuple(_returning(whole.body))

    def _demand_plain(self, yields: Yields) -> None:
        """Refuses a generator in which more happens than its statements say."""
        for node in scopes.own_nodes(yields.tree):
            within = list(gast.walk(node)) if isinstance(node, gast.Try | gast.With) else ()
            if any(isinstance(part, gast.Yield | gast.YieldFrom) for part in within):
                hint = "collect the values in a list"
                raise self.refuse(yields.call, "a generator yields inside of a `try` or a `with`", hint)
            if isinstance(node, gast.Nonlocal):
                raise self.refuse(yields.call, "a generator binds names of the function around it", "return a list")

    def _arguments_of(self, yields: Yields) -> dict[str, ir.Atom]:
        """The arguments by parameter, evaluated in Python's order, and the defaults."""
        node = yields.call
        hint = "give each argument for itself"
        if any(isinstance(arg, gast.Starred) for arg in node.args) or any(k.arg is None for k in node.keywords):
            raise self.refuse(node, "a generator is given arguments with a star", hint)
        positional = [self.atom(arg) for arg in node.args]
        named = {keyword.arg: self.atom(keyword.value) for keyword in node.keywords}
        try:
            bound = _signature(yields.tree).bind(*positional, **named)
        except TypeError as error:
            raise self.refuse(node, f"these arguments do not fit the generator: {error}", "check the call") from None
        found: dict[str, ir.Atom] = dict(bound.arguments)
        for param in _signature(yields.tree).parameters.values():
            if param.kind in (param.VAR_POSITIONAL, param.VAR_KEYWORD):
                raise self.refuse(node, "a generator gathers its arguments", "give it a list")
            if param.name not in found:
                found[param.name] = self._default_of(yields, param)
        return found

    def _default_of(self, yields: Yields, param: inspect.Parameter) -> ir.Atom:
        if yields.function is None:
            if isinstance(param.default, gast.Constant):
                return ir.Lit(param.default.value)
            raise self.refuse(yields.call, f"the default of `{param.name}` is computed", "give the argument")
        value = free_variables.defaults(yields.function)[param.name]
        if type(value) in _SIMPLE:
            return ir.Lit(value)
        return ir.Ext(param.name, value, ("default", param.name), yields.function)

    def give(self, node: Any) -> None:
        """A ``yield`` or ``yield from`` that stands alone."""
        if not self.yields:
            raise self.refuse(node, *unsupported.YIELD)
        if isinstance(node, gast.Yield):
            value = ir.Lit(None) if node.value is None else self.atom(node.value)
            self.emit(ir.Assign(self.temp(), ir.Op(yielded, (value,)), self.span(node)))
            return
        item = self.temp()
        target = gast.copy_location(gast.Name(item, gast.Store(), None, None), node)
        value = ir.Var(item)

        def body() -> None:
            self.emit(ir.Assign(self.temp(), ir.Op(yielded, (value,)), self.span(node)))

        self.loop(target, self.iterable(node.value), body, node)

    def _Name(self, node: Any) -> Any:
        if node.id in self.generators and self.local(node.id) == node.id:
            raise self.refuse(node, "a generator is kept, or given to somebody", "loop over it where it is called")
        return super()._Name(node)

    def _Yield(self, node: Any) -> Any:
        raise self.refuse(node, "what is sent to a generator is not differentiated", "yield in a statement of its own")

    _YieldFrom = _Yield

    @abstractmethod
    def iterable(self, node: Any) -> Any:
        """Evaluate `node`, the iterable of a loop."""

    @abstractmethod
    def loop(self, target: Any, source: Any, body: Callable[[], object], node: Any) -> None:
        """Emit a loop."""


def _same(one: Any, other: Any) -> bool:
    return (one.name, one.lineno) == (other.name, other.lineno)


def _signature(tree: Any) -> inspect.Signature:
    """The parameters of a definition, with the expressions of their defaults."""
    args, kinds = tree.args, inspect.Parameter
    positional: list[tuple[str, Any]] = [(a.id, kinds.POSITIONAL_ONLY) for a in args.posonlyargs]
    positional += [(a.id, kinds.POSITIONAL_OR_KEYWORD) for a in args.args]
    lacking = len(positional) - len(args.defaults)
    found = [
        kinds(name, kind, default=args.defaults[i - lacking] if i >= lacking else kinds.empty)
        for i, (name, kind) in enumerate(positional)
    ]
    if args.vararg is not None:
        found.append(kinds(args.vararg.id, kinds.VAR_POSITIONAL))
    for a, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        found.append(kinds(a.id, kinds.KEYWORD_ONLY, default=kinds.empty if default is None else default))
    if args.kwarg is not None:
        found.append(kinds(args.kwarg.id, kinds.VAR_KEYWORD))
    return inspect.Signature(found)


def _is_endless(s: ir.Statement) -> bool:
    """Whether a loop is left by nothing."""
    if not isinstance(s, ir.Loop) or own_break(s.body):
        return False
    return not any(isinstance(inner, ir.Return | ir.Raise) for inner in walk.statements(s.body))


def _marks(statement: ir.Statement, marker: Any) -> bool:
    return isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Op) and statement.value.fn is marker


def _leaving(span: Any) -> ir.Statement:
    return ir.Assign("%left", ir.Op(leave, ()), span)


def _returning(block: ir.Block) -> Iterator[ir.Statement]:
    """The statements of a generator, of which a return leaves it."""
    for s in block:
        yield _leaving(s.span) if isinstance(s, ir.Return) else map_blocks(s, lambda inner: tuple(_returning(inner)))


def _turned(block: ir.Block, lifter: Any, node: Any) -> ir.Block:
    """The body of a loop where the generator yields: its break leaves the generator, its continue leaves the body."""
    changed = tuple(_breaking(block))
    if not any(_continues(s) for s in block):
        return changed
    return (ir.For(lifter.temp(), ir.Lit(0), ir.Lit(1), ir.Lit(1), False, changed, lifter.span(node), None),)


def _breaking(block: ir.Block) -> Iterator[ir.Statement]:
    for s in block:
        if isinstance(s, ir.Break):
            yield _leaving(s.span)
        elif isinstance(s, ir.If):
            yield replace(s, body=tuple(_breaking(s.body)), orelse=tuple(_breaking(s.orelse)))
        else:
            yield s


def _continues(s: ir.Statement) -> bool:
    """Whether a statement of a loop's body goes on with the next trip of that very loop."""
    inside = (*s.body, *s.orelse) if isinstance(s, ir.If) else ()
    return isinstance(s, ir.Continue) or any(map(_continues, inside))


def _filled(block: ir.Block, turn: Callable[[ir.Atom], ir.Block]) -> Iterator[ir.Statement]:
    """The statements with what `turn` makes of each value in the place where it is yielded."""
    for s in block:
        if _marks(s, yielded):
            assert isinstance(s, ir.Assign) and isinstance(s.value, ir.Op)
            yield from turn(s.value.args[0])
        else:
            yield map_blocks(s, lambda inner: tuple(_filled(inner, turn)))


def _leaves(s: ir.Statement) -> bool:
    return _marks(s, leave) or any(_leaves(inner) for block in walk.blocks(s) for inner in block)


def left(block: ir.Block, flag: str, fresh: Callable[[], str], inside: bool) -> ir.Block:
    """The statements where those that leave set a flag: it is asked behind each loop, and before what follows.

    `inside`: they are in a loop, which a break leaves. What follows may set the flag itself, and no block binds what
    governs it, so a `fresh` name is asked there.
    """
    out: list[ir.Statement] = []
    for i, s in enumerate(block):
        if _marks(s, leave):
            ending: ir.Block = (ir.Break(s.span),) if inside else ()
            return (*out, ir.Assign(flag, ir.Lit(True), s.span), *ending)
        if not _leaves(s):
            out.append(s)
            continue
        looping = isinstance(s, ir.For | ir.Loop)
        out.append(map_blocks(s, partial(left, flag=flag, fresh=fresh, inside=looping or inside)))
        rest = block[i + 1 :]
        if inside and looping:
            out.append(ir.If(ir.Var(flag), (ir.Break(s.span),), (), s.span))
        elif not inside:
            following = left(rest, flag, fresh, False)
            asked = ir.Var(fresh())
            more = (ir.Assign(asked.name, ir.Var(flag), s.span), ir.If(asked, (), following, s.span))
            return (*out, *more) if following else tuple(out)
    return tuple(out)
