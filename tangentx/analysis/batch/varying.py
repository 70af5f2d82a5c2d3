"""What a batched program tracks: the names, container slots and written arrays that carry the batch axis."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import MISSING, Arr, Bottom, Box, Kind, Num, Region
from tangentx.analysis.types.primitives import hashable
from tangentx.analysis.types.samples import constant_kind
from tangentx.analysis.types.selection import known_key
from tangentx.errors import Span
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Attr,
    Call,
    Expr,
    Ext,
    For,
    If,
    Index,
    Key,
    Lit,
    Make,
    Op,
    Pop,
    Return,
    Slice,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import atoms, key_atoms, statements

ANY = "*"


class Marks:
    """An array that is written, or a copy of it with all that it is kept with, is batched as a whole, whatever name it
    goes by; a slot of a container by its key."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.of_link = {instance.link: instance for instance in program.reached()}
        self.names: set[tuple[Instance, str]] = set()
        self.slots: set[tuple[Region, Any]] = set()
        self.written: set[Region] = set()
        self.results: set[Instance] = set()
        self.changed = True

    def kind(self, instance: Instance, atom: Atom) -> Kind:
        """The kind of one member's value."""
        if isinstance(atom, Var):
            return instance.kinds.get(atom.name, Bottom())
        return self.program.external(atom) if isinstance(atom, Ext) else constant_kind(self.program.valuer, atom.value)

    def holds(self, instance: Instance, atom: Atom) -> bool:
        """Whether an atom is a number or array for each member."""
        if not isinstance(atom, Var):
            return False
        kind = instance.kinds.get(atom.name)
        if isinstance(kind, Arr) and not kind.region.still():
            return kind.region.root() in self.written
        return (instance, atom.name) in self.names

    def slot(self, box: Box, key: Any) -> bool:
        """Whether an item of a container is one for each member; `key` MISSING for any of them."""
        node = box.region.root()
        item = box.region.any() if key is MISSING else box.region.get(key)
        if isinstance(item, Arr) and not item.region.still():
            return item.region.root() in self.written
        if key is MISSING:
            return any((node, k) in self.slots for k in (*node.fields, ANY))
        return (node, key) in self.slots or (node, ANY) in self.slots

    def within(self, kind: Kind, seen: tuple[Region, ...] = ()) -> bool:
        """Whether a container has anything in it that is one for each member."""
        if not isinstance(kind, Box) or kind.region.root() in seen:
            return False
        node = kind.region.root()
        keys = (*node.fields, *(() if isinstance(node.elt, Bottom) else (MISSING,)))
        inside = (*node.fields.values(), node.elt)
        return any(self.slot(kind, k) for k in keys) or any(self.within(k, (*seen, node)) for k in inside)

    def any(self, instance: Instance, atom: Atom) -> bool:
        """Whether an atom is, or holds, anything that is one for each member."""
        return self.holds(instance, atom) or self.within(self.kind(instance, atom))

    def mark(self, instance: Instance, name: str) -> None:
        """A name holds one value for each member."""
        kind = instance.kinds[name]
        if isinstance(kind, Arr) and not kind.region.still():
            self.add(self.written, kind.region.root())
        else:
            self.add(self.names, (instance, name))

    def mark_all(self, instance: Instance, name: str) -> None:
        """All numbers and arrays that a name holds are one for each member."""
        kind = instance.kinds[name]
        if isinstance(kind, Box):
            self.mark_items(kind)
        else:
            self.mark(instance, name)

    def mark_items(self, box: Box, around: tuple[Region, ...] = ()) -> None:
        """All numbers and arrays in a container are one for each member."""
        node = box.region.root()
        for key, item in [*node.fields.items(), (ANY, node.elt)]:
            if isinstance(item, Box):
                if item.region.root() not in (*around, node):
                    self.mark_items(item, (*around, node))
            elif isinstance(item, Arr) and not item.region.still():
                self.add(self.written, item.region.root())
            elif isinstance(item, Num | Arr):
                self.add(self.slots, (node, key))

    def mark_slot(self, box: Box, key: Any) -> None:
        """An item of a container is one for each member."""
        item = box.region.any() if key is MISSING else box.region.get(key)
        if isinstance(item, Arr) and not item.region.still():
            self.add(self.written, item.region.root())
        else:
            self.add(self.slots, (box.region.root(), ANY if key is MISSING else key))

    def add(self, group: set[Any], member: Any) -> None:
        """Notes something new."""
        if member not in group:
            group.add(member)
            self.changed = True

    def key(self, i: Instance, box: Box, key: Key) -> Any:
        """The key of a container where it is known, else MISSING."""
        part = key.parts[0]
        return MISSING if isinstance(part, Slice) else known_key(box, self.kind(i, part))

    def mark_like(self, given: Kind, made: Kind, seen: tuple[Region, ...]) -> None:
        """What is batched in one container is so in another one like it."""
        if not (isinstance(given, Box) and isinstance(made, Box)) or given.region.root() in seen:
            return
        node = given.region.root()
        for key in (*node.fields, *(() if isinstance(node.elt, Bottom) else (MISSING,))):
            if self.slot(given, key):
                self.mark_slot(made, key)
            inner = given.region.any() if key is MISSING else given.region.get(key)
            other = made.region.any() if key is MISSING else made.region.get(key)
            self.mark_like(inner, other, (*seen, node))


SHAPES = ("shape", "size", "ndim", "dtype")


class Unbatchable(Exception):
    """What has no rule for batches; the program is run once for each member instead."""

    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span


class Batched(Marks):
    """The names, slots of containers and written arrays that hold one value for each member of a batch.

    An array that is written is batched as a whole, whatever name it goes by; a slot of a container by its key.
    `params` of the root are batched, and so is all of its result, or with `item` this item of it, and no other.
    """

    def __init__(self, program: Program, root: Instance, params: Sequence[int], item: int | None = None) -> None:
        super().__init__(program)
        for i in params:
            self.mark_all(root, root.link.function.params[i].name)  # type: ignore[union-attr]
        self._mark_result(root, item)
        while self.changed:
            self.changed = False
            for instance in self.of_link.values():
                assert instance.link.function is not None
                for s in statements(instance.link.function.body):
                    self._statement(instance, s)

    def _mark_result(self, root: Instance, item: int | None) -> None:
        result = root.result
        if not isinstance(result, Box):
            self.results.add(root)
        elif item is None:
            self.mark_items(result)
        elif isinstance(inner := result.region.get(item), Box):
            self.mark_items(inner)
        elif isinstance(inner, Num | Arr):
            self.mark_slot(result, item)

    def _statement(self, i: Instance, s: Statement) -> None:
        match s:
            case Assign(target=target, value=value):
                if self.value(i, value, i.kinds[target], s.span):
                    self.mark(i, target)
            case Store(base=base, key=key, value=value) | Accumulate(base=base, key=key, value=value):
                self._store(i, base, key, value)
            case Append(base=base, value=value):
                box = self.kind(i, base)
                if self.holds(i, value) and isinstance(box, Box):
                    self.mark_slot(box, MISSING)
            case If(test=test):
                self._demand_common(i, (test,), "a test depends on the batch", s.span)
            case For(start=start, stop=stop, step=step):
                self._demand_common(i, (start, stop, step), "the length of a loop depends on the batch", s.span)
            case Return(value=value):
                if self.holds(i, value) and i not in self.results:
                    self.add(self.results, i)

    def _demand_common(self, i: Instance, given: Sequence[Atom], reason: str, span: Span) -> None:
        if any(self.any(i, atom) for atom in given):
            raise Unbatchable(reason, span)

    def _store(self, i: Instance, base: Atom, key: Key, value: Atom) -> None:
        kind = self.kind(i, base)
        if isinstance(kind, Arr) and (self.holds(i, value) or any(self.holds(i, a) for a in key_atoms(key))):
            self.add(self.written, kind.region.root())
        elif isinstance(kind, Box) and self.holds(i, value):
            self.mark_slot(kind, self.key(i, kind, key))

    def value(self, i: Instance, value: Expr, kind: Kind, span: Span) -> bool:
        """Whether an expression gives one number or array for each member; notes what it makes."""
        match value:
            case Var() | Lit() | Ext():
                return self.holds(i, value)
            case Index(base=base, key=key):
                box = self.kind(i, base)
                if isinstance(box, Box):
                    self._demand_common(i, key_atoms(key), "the key of a container depends on the batch", span)
                    return isinstance(kind, Num | Arr) and self.slot(box, self.key(i, box, key))
                return any(self.any(i, atom) for atom in (base, *key_atoms(key)))
            case Attr(base=base, name=name):
                box = self.kind(i, base)
                if isinstance(box, Box):
                    return isinstance(kind, Num | Arr) and self.slot(box, name)
                return name not in SHAPES and self.holds(i, base)
            case Make(items=items, keys=keys):
                assert isinstance(kind, Box)
                for key_, item in zip(keys if keys is not None else range(len(items)), items, strict=True):
                    if self.holds(i, item):
                        self.mark_slot(kind, key_)
                return False
            case Pop(base=base):
                box = self.kind(i, base)
                return isinstance(box, Box) and isinstance(kind, Num | Arr) and self.slot(box, MISSING)
            case Call(link=link, args=args):
                return self._call(i, self.of_link[link], args)
            case Op():
                return self._op(i, value, kind, span)
        raise Unbatchable("this has no rule for batches", span)

    def _call(self, i: Instance, callee: Instance, args: Sequence[Atom]) -> bool:
        assert callee.link.function is not None
        for param, atom in zip(callee.link.function.params, args, strict=True):
            if self.holds(i, atom):
                self.mark(callee, param.name)
        return callee in self.results

    def _op(self, i: Instance, op: Op, kind: Kind, span: Span) -> bool:
        found = any(self.any(i, atom) for atom in atoms(op))
        if isinstance(kind, Box) and (found or self.within(kind)):
            if not (op.fn in hashable(_ASKING, op.fn) or self._made_like(i, op, kind)):
                raise Unbatchable(f"`{getattr(op.fn, '__name__', op.fn)}` of a batch gives several values", span)
            return False
        if isinstance(kind, Arr) and not kind.region.still() and kind.region.root() in self.written:
            return True
        return found and op.fn not in hashable(_ASKING, op.fn) and isinstance(kind, Num | Arr)

    def _made_like(self, i: Instance, op: Op, kind: Box) -> bool:
        """Marks what a copy of a container, or zeros like it, have for each member. A copy that gets it later has it of
        what it is copied from."""
        if op.fn not in hashable(_COPYING, op.fn) or len(op.args) < STRUCTURAL[op.fn] + 1:
            return False
        given = self.kind(i, op.args[STRUCTURAL[op.fn]])
        self.mark_like(given, kind, ())
        if op.fn is arrays.entry_copy:
            self.mark_like(kind, given, ())
        return True


class Moving(Batched):
    """As `Batched`: the names, slots and written arrays that tangents flow into."""

    def _made_like(self, i: Instance, op: Op, kind: Box) -> bool:
        place = _TANGENTS.get(op.fn) if op.fn in hashable(_LAID_OUT, op.fn) else None
        if place is not None and len(op.args) > place:
            self.mark_like(self.kind(i, op.args[place]), kind, ())
        else:
            self.mark_items(kind)
        return True


SHAPING: dict[Any, Any] = {
    builtins.len: arrays.each_length,
    np.shape: arrays.each_shape,
    np.size: arrays.each_size,
}
"""Operations that ask an array for its shape, and what asks a batch for that of its members."""
STRUCTURAL: dict[Any, int] = {arrays.zero: 0, arrays.real_zero: 0, arrays.entry_copy: 0, arrays.filled: 0}
"""Operations whose result is a container like one of their arguments, at this position."""
_TANGENTS: dict[Any, int] = {**STRUCTURAL, arrays.tangent_as: 0, arrays.copied_tangent: 0}
"""As above, for the structures of tangents."""
_LAID_OUT = frozenset(_TANGENTS)
_ASKING = frozenset(SHAPING)
_COPYING = frozenset(STRUCTURAL)
