"""Walks a function with the kinds of its arguments, and writes it again in closed form.

One round walks every reached function once; rounds repeat until no kind, region or definition changes. The last walk
keeps what it writes: open forms are replaced, decided branches removed, and names that are bound to unrelated values
are told apart (a *web* is a set of definitions that reach a common use; each becomes one variable with one kind).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tangentx.analysis import expressions
from tangentx.analysis.kinds import (
    BOTTOM,
    MISSING,
    Arr,
    Bottom,
    Box,
    Kind,
    Num,
    Obj,
    Region,
    Top,
    is_inexact,
    join,
    varied,
)
from tangentx.analysis.program import Definition, Instance, Program, constant_kind, located
from tangentx.analysis.webs import close
from tangentx.errors import NotResolved, Span, UnsupportedSyntax
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Augment,
    Augstore,
    Block,
    Break,
    Continue,
    Delete,
    Expr,
    For,
    If,
    Index,
    Key,
    Lit,
    Loop,
    Note,
    Op,
    Pop,
    Raise,
    Return,
    Slice,
    Statement,
    Store,
    Var,
)

Env = dict[str, tuple[Definition | None, ...]]


def merge(a: Env | None, b: Env | None) -> Env | None:
    """The definitions that reach a place from two sides; None stands for "unbound", and for a side never left."""
    if a is None or b is None:
        return b if a is None else a
    if a is b:
        return a
    result: Env = {}
    for name in (*a, *(n for n in b if n not in a)):
        left, right = a.get(name, (None,)), b.get(name, (None,))
        result[name] = left if left == right else (*left, *(d for d in right if d not in left))
    return result


@dataclass(eq=False)
class LoopState:
    """Where `break` and `continue` of the loop in hand lead."""

    left: Env | None = None
    again: Env | None = None


@dataclass(eq=False)
class Walker:
    """One walk of one instance."""

    program: Program
    instance: Instance
    env: Env | None = field(default_factory=dict)
    loops: list[LoopState] = field(default_factory=list)
    out: list[Statement] = field(default_factory=list)
    statement: Any = None

    @property
    def span(self) -> Span:
        """The place in hand."""
        return self.statement.span if self.statement is not None else self.instance.source.span

    def run(self) -> None:
        """Walks the body; on the final round leaves the closed function in the instance's link."""
        params = []
        self.env = {}
        for param, kind in zip(self.instance.source.params, self.instance.params, strict=True):
            params.append(self.bind(param.name, kind, ("param", param.name)))
        body = self.block(self.instance.source.body)
        if self.program.final:
            close(self.instance, params, body, self.program.round)

    def block(self, block: Block) -> Block:
        """Walks statements in order; those that cannot be reached are dropped."""
        saved, self.out = self.out, []
        self.inline(block)
        written, self.out = self.out, saved
        return tuple(written)

    def inline(self, block: Block) -> None:
        """Walks statements, adding to the block in hand."""
        outer = self.statement
        for statement in block:
            if self.env is None:
                break
            self.statement = statement
            _STATEMENTS[type(statement)](self, statement)
        self.statement = outer

    def expand(self, tag: Any, build: Callable[[], Block]) -> None:
        """Walks statements that stand for the one in hand, built once and kept, so that they have lasting identities."""
        key = (id(self.statement), tag)
        if key not in self.instance.expansions:
            self.instance.expansions[key] = build()
        self.inline(self.instance.expansions[key])

    def temporary(self) -> str:
        """A new temporary name, for expansions."""
        return f"%e{len(self.instance.expansions)}.{id(self.statement) % 100_000}.{next(_COUNTER)}"

    def fresh(self, tag: Any) -> Callable[[Any], Region]:
        """Regions of what the statement in hand makes, the same ones in each round."""

        def region(path: Any) -> Region:
            key = (id(self.statement), tag, path)
            if key not in self.instance.regions:
                self.instance.regions[key] = self.program.world.region()
            return self.instance.regions[key]

        return region

    def bind(self, name: str, kind: Kind, tag: Any = None) -> str:
        """Binds `name` here; the token stands for the variable until its web is known."""
        key = (id(self.statement), tag if tag is not None else name)
        definitions = self.instance.definitions
        if key not in definitions:
            definitions[key] = Definition(name)
        definition = definitions[key]
        joined = join(definition.kind, kind)
        if joined != definition.kind:
            definition.kind = joined
            self.program.world.changed = True
        definition.round = self.program.round
        assert self.env is not None
        self.env[name] = (definition,)
        return token(definition)

    def read(self, atom: Atom) -> tuple[Atom, Kind]:
        """The atom in closed form and its kind here."""
        if isinstance(atom, Var):
            return self._read_name(atom)
        if isinstance(atom, Lit):
            return atom, constant_kind(self.program, atom.value)
        return atom, self.program.external(atom)

    def _read_name(self, atom: Var) -> tuple[Atom, Kind]:
        assert self.env is not None
        definitions = [d for d in self.env.get(atom.name, ()) if d is not None]
        if not definitions and not self.program.final:
            return atom, BOTTOM
        if not definitions:
            raise NotResolved(
                f"`{atom.name}` is read before it is bound", self.span, "bind it first"
            )
        kind: Kind = BOTTOM
        for definition in definitions:
            definitions[0].unite(definition)
            kind = join(kind, definition.kind)
        if isinstance(kind, Top):
            raise located(kind, self.span)
        return Var(token(definitions[0])), kind

    def key(self, key: Key) -> tuple[Key, tuple[Any, ...]]:
        """The key in closed form, and for each part its kind (for a slice, the kinds of its bounds)."""
        parts: list[Atom | Slice] = []
        kinds: list[Any] = []
        for part in key.parts:
            if isinstance(part, Slice):
                bounds = [self.read(a) for a in (part.start, part.stop, part.step)]
                parts.append(Slice(*(a for a, _ in bounds)))
                kinds.append(tuple(k for _, k in bounds))
            else:
                atom, kind = self.read(part)
                parts.append(atom)
                kinds.append(kind)
        return Key(tuple(parts), key.many), tuple(kinds)


def token(definition: Definition) -> str:
    """A name for the definition that cannot clash."""
    return f"{definition.name}#{id(definition)}"


class _Counter:
    def __init__(self) -> None:
        self.value = 0

    def __next__(self) -> int:
        self.value += 1
        return self.value


_COUNTER = _Counter()


def _assign(w: Walker, s: Assign) -> None:
    expr, kind = expressions.walk(w, s.value)
    if w.env is None:
        return
    w.out.append(Assign(w.bind(s.target, kind), expr, s.span))


def _augment(w: Walker, s: Augment) -> None:
    _, kind = w.read(Var(s.target))
    _, value = w.read(s.value)
    if isinstance(kind, Arr) and not kind.loose and not isinstance(value, Bottom):
        _check_cast(w, s.fn, kind, value)

        def build() -> Block:
            t = w.temporary()
            whole = Key((Lit(Ellipsis),))
            return (
                Assign(t, Op(s.fn, (Var(s.target), s.value)), s.span),
                Store(Var(s.target), whole, Var(t), s.span),
            )

        w.expand("array", build)
    elif isinstance(kind, Box) and kind.cls in (list, dict):
        raise UnsupportedSyntax("augmented assignment to a container", s.span, "append the items one by one")
    else:
        w.expand("number", lambda: (Assign(s.target, Op(s.fn, (Var(s.target), s.value)), s.span),))


def _check_cast(w: Walker, fn: Any, kind: Arr, value: Kind) -> None:
    """An in-place operation that NumPy refuses (a real added to an integer array) is refused here too."""
    if not is_inexact(kind) and is_inexact(value):
        raise UnsupportedSyntax(
            f"numpy cannot write the real result of `{fn.__name__}` into an array of {kind.dtype}",
            w.span,
            "make the array one of floats",
        )


def _store(w: Walker, s: Store) -> None:
    base, base_kind = w.read(s.base)
    key, parts = w.key(s.key)
    value, kind = w.read(s.value)
    if isinstance(base_kind, Bottom) or isinstance(kind, Bottom):
        return
    if isinstance(base_kind, Arr) and isinstance(kind, Box) and kind.cls in (list, tuple):
        w.expand("listed", lambda: _store_list(w, s))
        return
    store_into(w, base_kind, key, parts, kind)
    w.out.append(Store(base, key, value, s.span))


def _store_list(w: Walker, s: Store) -> Block:
    """A list written into an array is made an array first, as NumPy does."""
    made = w.temporary()
    return (Assign(made, Op(np.array, (s.value,)), s.span), Store(s.base, s.key, Var(made), s.span))


def store_into(w: Walker, base: Kind, key: Key, parts: tuple[Any, ...], value: Kind) -> None:
    """Notes the facts of ``base[key] = value``."""
    demand_own(w, base)
    if isinstance(base, Arr) and not base.loose:
        base.region.mark("written")
        if varied(value) and is_inexact(base):
            base.region.mark("varied")
        if isinstance(value, Box | Obj) or (isinstance(value, Num | Arr) and value_is_complex(value, base)):
            raise UnsupportedSyntax("this value cannot be stored in the array", w.span, "store a number or an array")
        return
    if isinstance(base, Box) and base.cls in (list, dict) and not key.many:
        base.region.mark("written")
        known = expressions.known_key(base, parts[0])
        if base.cls is dict and known is MISSING:
            base.region.mark("open")
        if known is MISSING:
            base.region.put_any(value)
        else:
            base.region.put(known, value)
        return
    raise UnsupportedSyntax("this kind of value cannot be written by index", w.span, "use a list, a dict or an array")


def demand_own(w: Walker, base: Kind) -> None:
    """Refuses a write that may go to an object from outside, where such objects should have become parameters."""
    if w.program.closed_to_outside and w.program.final and isinstance(base, Arr | Box) and base.region.root().external:
        raise UnsupportedSyntax(
            "this may write into an argument and into an object from outside (a global, a closure's or a default)",
            w.span,
            "pass the object as an argument, or write into a copy of it",
        )


def value_is_complex(value: Num | Arr, base: Arr) -> bool:
    """Whether a complex value would lose its imaginary part in a real array."""
    kind = value.dtype.kind if isinstance(value, Arr) else ("c" if issubclass(value.type, complex) else "")
    return kind == "c" and base.dtype.kind != "c"


def _augstore(w: Walker, s: Augstore) -> None:
    _, base = w.read(s.base)
    _, value = w.read(s.value)
    if isinstance(base, Bottom) or isinstance(value, Bottom):
        return
    if isinstance(base, Arr):
        _check_cast(w, s.fn, base, value)

    def build() -> Block:
        old, new = w.temporary(), w.temporary()
        return (
            Assign(old, Index(s.base, s.key), s.span),
            Assign(new, Op(s.fn, (Var(old), s.value)), s.span),
            Store(s.base, s.key, Var(new), s.span),
        )

    def inner() -> Block:
        item = w.temporary()
        return (Assign(item, Index(s.base, s.key), s.span), Augment(item, s.fn, s.value, s.span))

    item = expressions.item_kind(w, base, w.key(s.key)[1]) if isinstance(base, Box) else BOTTOM
    w.expand("inner", inner) if isinstance(item, Arr) and not item.loose else w.expand("item", build)


def _accumulate(w: Walker, s: Accumulate) -> None:
    base, base_kind = w.read(s.base)
    key, parts = w.key(s.key)
    value, kind = w.read(s.value)
    if isinstance(base_kind, Bottom) or isinstance(kind, Bottom):
        return
    store_into(w, base_kind, key, parts, kind)
    w.out.append(Accumulate(base, key, value, s.span, expressions.may_repeat(parts)))


def _append(w: Walker, s: Append) -> None:
    base, base_kind = w.read(s.base)
    value, kind = w.read(s.value)
    if isinstance(base_kind, Bottom):
        return
    append_to(w, base_kind, kind)
    w.out.append(Append(base, value, s.span))


def append_to(w: Walker, base: Kind, value: Kind) -> None:
    """Notes the facts of ``base.append(value)``."""
    demand_own(w, base)
    if not (isinstance(base, Box) and base.cls is list):
        raise UnsupportedSyntax("append to something that is not a list", w.span, "use a list")
    base.region.mark("written", "open", "resized")
    base.region.put_any(value)


def _delete(w: Walker, s: Delete) -> None:
    base, base_kind = w.read(s.base)
    key, _ = w.key(s.key)
    if isinstance(base_kind, Box):
        base_kind.region.mark("written", "resized")
        w.out.append(Delete(base, key, s.span))


def _truth(kind: Kind) -> bool | None:
    if isinstance(kind, Num) and kind.value is not MISSING:
        return bool(kind.value)
    if isinstance(kind, Obj):
        return bool(kind.value)
    return None


def _if(w: Walker, s: If) -> None:
    test, kind = w.read(s.test)
    if isinstance(kind, Bottom):
        w.env = None
        return
    truth = _truth(kind)
    if truth is not None:
        w.inline(s.body if truth else s.orelse)
        return
    assert w.env is not None
    before = dict(w.env)
    body = w.block(s.body)
    after, w.env = w.env, before
    orelse = w.block(s.orelse)
    w.env = merge(after, w.env)
    w.out.append(If(test, body, orelse, s.span))


def _looped(w: Walker, s: For | Loop, enter: Callable[[], str | None]) -> tuple[str | None, Block, LoopState]:
    """Walks the body of a loop from all that reaches its head; the head's state is kept from round to round."""
    backs = w.instance.backs
    w.env = dict(merge(w.env, backs.get(id(s))) or {})
    state = LoopState()
    w.loops.append(state)
    target = enter()
    body = w.block(s.body)
    state.again = merge(state.again, w.env)
    w.loops.pop()
    old = backs.get(id(s))
    new = merge(old, state.again)
    if new != old:
        backs[id(s)] = dict(new) if new is not None else None
        w.program.world.changed = True
    return target, body, state


def _for(w: Walker, s: For) -> None:
    bounds = [w.read(a) for a in (s.start, s.stop, s.step)]
    for _, kind in bounds:
        if isinstance(kind, Bottom):
            w.env = None
            return
        if not (isinstance(kind, Num) and issubclass(kind.type, int) or _is_whole(kind)):
            raise NotResolved("the bounds of a range must be whole numbers", s.span, "convert them with int()")
    assert w.env is not None
    before = dict(w.env)

    def enter() -> str | None:
        return w.bind(s.target, Num(int))

    target, body, state = _looped(w, s, enter)
    assert target is not None
    values = [k.value for _, k in bounds if isinstance(k, Num) and k.value is not MISSING]
    entered = len(values) == 3 and values[2] != 0 and len(range(*values)) > 0
    w.env = merge(state.again if entered else merge(before, state.again), state.left)
    start, stop, step = (a for a, _ in bounds)
    w.out.append(For(target, start, stop, step, s.backward, body, s.span))


def _is_whole(kind: Kind) -> bool:
    return isinstance(kind, Num) and issubclass(kind.type, np.integer)


def _loop(w: Walker, s: Loop) -> None:
    _, body, state = _looped(w, s, lambda: None)
    w.env = state.left
    w.out.append(Loop(body, s.span))


def _break(w: Walker, s: Break) -> None:
    w.loops[-1].left = merge(w.loops[-1].left, w.env)
    w.env = None
    w.out.append(s)


def _continue(w: Walker, s: Continue) -> None:
    w.loops[-1].again = merge(w.loops[-1].again, w.env)
    w.env = None
    w.out.append(s)


def _return(w: Walker, s: Return) -> None:
    value, kind = w.read(s.value)
    joined = join(w.instance.result, kind)
    if isinstance(joined, Top):
        raise located(joined, s.span)
    if joined != w.instance.result:
        w.instance.result = joined
        w.program.world.changed = True
    w.env = None
    w.out.append(Return(value, s.span))


def _raise(w: Walker, s: Raise) -> None:
    value, _ = w.read(s.value)
    w.env = None
    w.out.append(Raise(value, s.span))


def _note(w: Walker, s: Note) -> None:
    w.out.append(s)


_STATEMENTS: dict[type, Callable[[Walker, Any], None]] = {
    Assign: _assign,
    Augment: _augment,
    Store: _store,
    Augstore: _augstore,
    Accumulate: _accumulate,
    Append: _append,
    Delete: _delete,
    If: _if,
    For: _for,
    Loop: _loop,
    Break: _break,
    Continue: _continue,
    Return: _return,
    Raise: _raise,
    Note: _note,
}

__all__ = ["Expr", "Pop", "Walker", "operator"]
