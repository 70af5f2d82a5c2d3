"""Emission of derived code: statements under construction, and the kinds of their variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tangentx import arrays
from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import BOTTOM, MISSING, Arr, Box, Kind, Num, varied
from tangentx.analysis.types.samples import constant_kind
from tangentx.analysis.types.selection import known_key, slots_alike
from tangentx.common.naming import Names
from tangentx.errors import Span
from tangentx.ir.nodes import (
    Append,
    Assign,
    Atom,
    Ext,
    For,
    If,
    Index,
    Key,
    Lit,
    Loop,
    Make,
    Op,
    Pop,
    Slice,
    Statement,
    Var,
)
from tangentx.ir.value_names import ValueNames, stem, with_stem

VALUE, SHADOW = "value", "shadow"
NONE = Lit(None)
ALIKE = Lit(True)
"""Has a zero cotangent share memory as its primal does."""


def mode(kind: Kind) -> str | None:
    """How the cotangent (or tangent) of a variable of this kind is kept.

    VALUE: a variable that is rebound; SHADOW: storage of the same layout, made in the forward sweep beside the primal;
    None: there is none. An array that nobody writes or indexes is a value.
    """
    if not varied(kind):
        return None
    if isinstance(kind, Num):
        return VALUE
    if isinstance(kind, Arr):
        node = kind.region.root()
        return SHADOW if node.written or node.indexed else VALUE
    return SHADOW


def motion(kind: Kind) -> str | None:
    """How the tangent of a variable of this kind is kept: as `mode` says, but an array that nobody writes is a value
    though it is indexed, for reading an element of a tangent changes nothing. One that may be None keeps its storage.
    """
    only_read = isinstance(kind, Arr) and not kind.none and not kind.region.root().written
    return VALUE if only_read and varied(kind) else mode(kind)


def item_at(box: Box, key: Any) -> Kind:
    """The kind of the item at a key, MISSING where it is not known.

    Where a container is read by keys that are not known, or grows or shrinks, all its slots are alike.
    """
    alike = key is MISSING or slots_alike(box)
    return box.region.any() if alike else box.region.get(key)


def item_of_box(frame: Frame, box: Box, key: Key) -> Kind:
    """The kind of the item of a container that the key selects."""
    part = frame.kind(key.parts[0]) if not isinstance(key.parts[0], Slice) else None
    known = known_key(box, part)
    return item_at(box, known)


def shadow_key(key: Key) -> Key:
    """Where the shadow of a container holds what the key selects: that of an object is a dict."""
    return Key(key.parts, key.many)


def zero_of(atom: Atom, kind: Kind) -> Op:
    """What makes the zero cotangent of a value, in which a container's parts are shared as in that."""
    return Op(arrays.zero, (atom, *([ALIKE] if isinstance(kind, Box) else [])))


class Emitter:
    """A list of statements, with fresh temporaries; every statement carries the span in hand."""

    _count = 0

    def __init__(self, span: Span) -> None:
        self.span = span
        self.block: list[Statement] = []

    def temporary(self) -> str:
        """A new temporary name."""
        Emitter._count += 1
        return f"%d{Emitter._count}"

    def add(self, *statements: Statement) -> None:
        """Appends statements."""
        self.block.extend(statements)

    def assign(self, name: str, value: Any) -> Var:
        """``name = value``"""
        self.add(Assign(name, value, self.span))
        return Var(name)

    def let(self, value: Any) -> Var:
        """A temporary bound to an expression."""
        return self.assign(self.temporary(), value)

    def op(self, fn: Callable[..., Any], *args: Atom) -> Var:
        """A temporary bound to ``fn(*args)``."""
        return self.let(Op(fn, args))

    def zero(self, atom: Atom, kind: Kind) -> Var:
        """A temporary bound to the zero cotangent of a value, in which a container's parts are shared as in that."""
        return self.let(zero_of(atom, kind))

    def item(self, base: Atom, key: Any) -> Var:
        """A temporary bound to ``base[key]`` with a constant key or a `Key`."""
        return self.let(Index(base, key if isinstance(key, Key) else Key((Lit(key),))))

    def append(self, name: str, value: Atom) -> None:
        """``name.append(value)``"""
        self.add(Append(Var(name), value, self.span))

    def pop(self, name: str) -> Var:
        """A temporary bound to ``name.pop()``."""
        return self.let(Pop(Var(name)))

    def key_atom(self, key: Key) -> Atom:
        """The key as one value."""
        parts: list[Atom] = []
        for part in key.parts:
            parts.append(self.op(slice, part.start, part.stop, part.step) if isinstance(part, Slice) else part)
        return self.let(Make(tuple, tuple(parts))) if key.many else parts[0]


class Frame:
    """Facts and names of one instance that both modes need."""

    def __init__(
        self, program: Program, instance: Instance, suffix: str, rule: Callable[[Kind], str | None] = mode
    ) -> None:
        assert instance.link.function is not None
        self.program = program
        self.instance = instance
        self.function = instance.link.function
        self.kinds: dict[str, Kind] = dict(instance.kinds)
        self.names = Names(name for name in self.kinds if not name.startswith("%"))
        self.called = ValueNames(self.function.body)
        self.suffix = suffix
        self.rule = rule
        self._others: dict[str, str] = {}
        self.rebound = rebound(self.function.body, [p.name for p in self.function.params])

    def kind(self, atom: Atom) -> Kind:
        """The kind of an atom."""
        if isinstance(atom, Var):
            return self.kinds.get(atom.name, BOTTOM)
        if isinstance(atom, Ext):
            return self.program.external(atom)
        return constant_kind(self.program.valuer, atom.value)

    def mode(self, atom: Atom) -> str | None:
        """The mode of an atom; a constant and an object from outside have none."""
        return self.rule(self.kind(atom)) if isinstance(atom, Var) else None

    def other(self, name: str) -> str:
        """The name of the cotangent (or tangent) of `name`."""
        if name not in self._others:
            if name.startswith("%"):
                called = self.called.cotangent_of(name, self.suffix)
                self._others[name] = with_stem(f"{name}{self.suffix}", called)
            else:
                self._others[name] = self.names.fresh(name + self.suffix)
        return self._others[name]

    def zero(self, emit: Emitter, atom: Atom, kind: Kind) -> Atom:
        """A zero cotangent for a value of the kind."""
        zero = self.zero_value(atom, kind)
        if isinstance(zero, Lit):
            return zero
        called = stem(self.other(atom.name)) if isinstance(atom, Var) and isinstance(kind, Arr) else None
        return emit.assign(with_stem(emit.temporary(), called), zero)

    def zero_value(self, atom: Atom, kind: Kind) -> Lit | Op:
        """What makes a zero cotangent for a value of the kind."""
        if isinstance(kind, Num):
            return Lit(0.0)
        if not isinstance(kind, Arr):
            return zero_of(atom, kind)
        fn = arrays.zeros_as if kind.none and self.rule(kind) == SHADOW else arrays.real_zero
        return Op(fn, (atom,))

    def slot_kinds(self, box: Box) -> list[tuple[Any, Kind]]:
        """Known keys of a container with the kinds of their items."""
        return [(key, box.region.get(key)) for key in box.region.root().fields]


def rebound(body: tuple[Statement, ...], params: Iterable[str]) -> frozenset[str]:
    """Names that may be bound already where some statement binds them: bound twice, or inside a loop."""
    count: dict[str, int] = dict.fromkeys(params, 1)

    def visit(block: tuple[Statement, ...], weight: int) -> None:
        for s in block:
            if isinstance(s, Assign):
                count[s.target] = count.get(s.target, 0) + weight
            elif isinstance(s, For):
                count[s.target] = count.get(s.target, 0) + weight
                visit(s.body, 2)
            elif isinstance(s, Loop):
                visit(s.body, 2)
            elif isinstance(s, If):
                visit(s.body, weight)
                visit(s.orelse, weight)

    visit(body, 1)
    return frozenset(name for name, n in count.items() if n > 1)
