"""Snapshots of what a checkpointed region reads and may change, and their restoration."""

from __future__ import annotations

import builtins
import operator
from dataclasses import dataclass, field

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Instance
from tangentx.analysis.types.kinds import Arr, Box, Kind, Region, describe, reached
from tangentx.derive.emit import SHADOW, VALUE, Emitter, item_at, mode, shadow_key
from tangentx.derive.reverse.calls import instance_of
from tangentx.derive.reverse.context import Reverse
from tangentx.errors import Span, UnsupportedSyntax
from tangentx.ir.nodes import (
    WHOLE,
    Accumulate,
    Append,
    Assign,
    Atom,
    Attr,
    Block,
    Call,
    Delete,
    For,
    If,
    Index,
    Key,
    Lit,
    Make,
    Method,
    Op,
    Pop,
    Statement,
    Store,
    Var,
    attribute_of,
)
from tangentx.ir.walk import statements

# The places that a checkpointed region reads and writes: names, and items of containers.


@dataclass(frozen=True, eq=False)
class Spot:
    """A name, or the item at a key of the container that another spot holds; `sure` where it has a value already."""

    kind: Kind
    how: str | None
    name: str = ""
    other: str = ""
    owner: Spot | None = None
    key: Key = WHOLE
    sure: bool = True
    depth: int = 0

    def read(self, emit: Emitter) -> Atom:
        """What the spot holds."""
        if self.owner is None:
            return Var(self.name)
        base = self.owner.read(emit)
        return emit.let(Attr(base, attribute_of(self.key)) if self.key.attribute else Index(base, self.key))

    def read_bar(self, emit: Emitter) -> Atom:
        """The shadow of that, or the cotangent of an item."""
        if self.owner is None:
            return Var(self.other)
        return emit.let(Index(self.owner.read_bar(emit), shadow_key(self.key)))

    def bind(self, emit: Emitter, value: Atom) -> None:
        """Makes the spot hold something."""
        if self.owner is None:
            emit.assign(self.name, value)
        else:
            emit.add(Store(self.owner.read(emit), self.key, value, emit.span))

    def bind_bar(self, emit: Emitter, value: Atom) -> None:
        """Makes its shadow something."""
        if self.owner is None:
            emit.assign(self.other, value)
        else:
            emit.add(Store(self.owner.read_bar(emit), shadow_key(self.key), value, emit.span))


@dataclass(eq=False)
class Writes:
    """The memory that a block, and what it calls, writes into; of lists those that it appends to and does no more."""

    memory: set[Region] = field(default_factory=set)
    other: set[Region] = field(default_factory=set)

    def grows(self, region: Region) -> bool:
        """Whether a list that is written is only appended to."""
        return region not in self.other


def written(r: Reverse, block: Block) -> Writes:
    """What a block of the function in hand writes into."""
    found = Writes()
    todo: list[tuple[Instance, Block]] = [(r.instance, block)]
    seen: list[Instance] = []
    while todo:
        instance, inner = todo.pop()
        for s in statements(inner):
            base: Atom | None = s.base if isinstance(s, Store | Accumulate | Append | Delete) else None
            if isinstance(s, Assign) and isinstance(s.value, Pop):
                base = s.value.base
            if isinstance(s, Assign) and isinstance(s.value, Call):
                callee = instance_of(r.program, s.value)
                if callee not in seen and callee.link.function is not None:
                    seen.append(callee)
                    todo.append((callee, callee.link.function.body))
            kind = instance.kinds.get(base.name) if isinstance(base, Var) else None
            if isinstance(kind, Arr | Box):
                found.memory.add(kind.region.root())
                found.other |= set() if isinstance(s, Append) else {kind.region.root()}
    return found


# Lists and shadows of a checkpointed region: cut to an earlier length and extended again, cotangents moved.


@dataclass(frozen=True, eq=False)
class Ends:
    """A list cut down to a length, and what its shadow lost."""

    spot: Spot
    length: Atom
    taken: Var | None


def cut(emit: Emitter, spot: Spot, length: Atom) -> Ends:
    """A list, and its shadow, cut down to a length; what the shadow loses is kept, the last first."""
    emit.add(_repeated(emit, spot.read(emit), length, None))
    if spot.how != SHADOW:
        return Ends(spot, length, None)
    end = emit.let(Make(list, ()))
    emit.add(_repeated(emit, spot.read_bar(emit), length, end))
    return Ends(spot, length, end)


def _repeated(emit: Emitter, box: Atom, length: Atom, end: Var | None) -> Statement:
    inner = Emitter(emit.span)
    assert isinstance(box, Var)
    item = inner.let(Pop(box))
    if end is not None:
        inner.append(end.name, item)
    size = emit.op(builtins.len, box)
    return For(emit.temporary(), length, size, Lit(1), False, tuple(inner.block), emit.span)


def lengthened(emit: Emitter, end: Ends) -> None:
    """The cotangents that were taken off stand in the shadow again."""
    if end.taken is None:
        return
    inner, index = Emitter(emit.span), Var(emit.temporary())
    bar, item = end.spot.read_bar(emit), item_of(end.spot)
    value = inner.let(Pop(end.taken))
    if mode(item) == SHADOW:
        copied(inner, item, inner.let(Index(bar, Key((index,)))), value)
    else:
        inner.add(Store(bar, Key((index,)), value, emit.span))
    # Of two names for one list only the first has taken anything.
    size = emit.op(operator.add, end.length, emit.op(builtins.len, end.taken))
    emit.add(For(index.name, end.length, size, Lit(1), False, tuple(inner.block), emit.span))


def item_of(spot: Spot) -> Kind:
    """The kind of what a container holds."""
    assert isinstance(spot.kind, Box)
    return spot.kind.region.any()


def copied(emit: Emitter, kind: Kind, to: Atom, source: Atom) -> None:
    """The content of one shadow to another of the same layout."""
    if isinstance(kind, Arr):
        emit.add(Store(to, WHOLE, source, emit.span))
        return
    assert isinstance(kind, Box)
    node = kind.region.root()
    if not node.open or kind.cls not in (list, tuple, dict):
        for key in node.fields:
            _item_copied(emit, item_at(kind, key), to, source, Key((Lit(key),)))
        return
    inner, index = Emitter(emit.span), Var(emit.temporary())
    keys: Atom = emit.let(Op(builtins.list, (source,))) if kind.cls is dict else source
    at: Atom = inner.let(Index(keys, Key((index,)))) if kind.cls is dict else index
    _item_copied(inner, kind.region.any(), to, source, Key((at,)))
    if any(not isinstance(s, Assign) for s in inner.block):
        count = emit.op(builtins.len, keys)
        emit.add(For(index.name, Lit(0), count, Lit(1), False, tuple(inner.block), emit.span))


def _item_copied(emit: Emitter, item: Kind, to: Atom, source: Atom, key: Key) -> None:
    if mode(item) == VALUE:
        emit.add(Store(to, key, emit.let(Index(source, key)), emit.span))
    elif mode(item) == SHADOW:
        copied(emit, item, emit.let(Index(to, key)), emit.let(Index(source, key)))


# Snapshots of what a checkpointed region may change, and their restoration.
#
# Of a spot that may be bound anew a snapshot keeps what it holds, and the shadow of that; of an array that may be
# written, a copy; of a list or dict that may be written, its items. Put back, each is the object that it was, with the
# content that it had, so that whatever shares its memory does so still.

Found = list[tuple[Spot, Atom]]


@dataclass(eq=False)
class State:
    """Spots that may be bound anew, those of arrays and those of lists and dicts that may be written.

    Of `logs`, lists that are only appended to, the length is all that has to be known.
    """

    bound: list[Spot] = field(default_factory=list)
    arrays: list[Spot] = field(default_factory=list)
    boxes: list[Spot] = field(default_factory=list)
    logs: list[Spot] = field(default_factory=list)

    def kept(self, emit: Emitter) -> list[Atom]:
        """What a snapshot of it holds."""
        held: list[Atom] = []
        for spot in self.bound:
            held += [spot.read(emit), *([spot.read_bar(emit)] if spot.how == SHADOW else [])]
        held += [emit.op(np.copy if spot.sure else arrays.clone, spot.read(emit)) for spot in self.arrays]
        for spot in self.boxes:
            held.append(_items(emit, spot.read(emit)))
            held += [_items(emit, spot.read_bar(emit))] if spot.how == SHADOW else []
        return held + [emit.op(builtins.len, spot.read(emit)) for spot in self.logs]

    def taken(self, emit: Emitter, snapshot: Var, first: int) -> list[Atom]:
        """What a snapshot holds of it, from an item on: the names are bound again, the rest has names of its own."""
        held: list[Atom] = []
        for spot in self.bound:
            name = emit.temporary() if spot.owner is not None else spot.name
            bar = [emit.temporary() if spot.owner is not None else spot.other] if spot.how == SHADOW else []
            for each in (name, *bar):
                held.append(emit.assign(each, Index(snapshot, Key((Lit(first + len(held)),)))))
        count = len(self.kept(Emitter(emit.span))) - len(held)
        return held + [emit.item(snapshot, first + len(held) + k) for k in range(count)]

    def put_back(self, emit: Emitter, taken: list[Atom]) -> list[Ends]:
        """Makes it what it was when the snapshot was taken; gives what is taken off the ends of the lists for that."""
        held = iter(taken)
        for spot in self.bound:
            for bind in (spot.bind, *([spot.bind_bar] if spot.how == SHADOW else [])):
                value = next(held)
                if spot.owner is not None:
                    bind(emit, value)
        for spot in self.arrays:
            content = next(held)
            inner = Emitter(emit.span)
            inner.add(Store(spot.read(inner), WHOLE, content, emit.span))
            _if_there(emit, spot, content, inner)
        for spot in self.boxes:
            _fill(emit, spot, spot.read(emit), next(held))
            if spot.how == SHADOW:
                _fill(emit, spot, spot.read_bar(emit), next(held))
        return [cut(emit, spot, length) for spot, length in zip(self.logs, held, strict=True)]

    def cotangents(self, emit: Emitter) -> Found:
        """The cotangents that lie in memory which is another one when the block has been run once more."""
        found: Found = []
        for spot in self.bound:
            if spot.how == SHADOW or (spot.how == VALUE and spot.owner is not None):
                found.append((spot, emit.let(spot.read_bar(emit))))
        return found + [(s, _items(emit, s.read_bar(emit))) for s in self.boxes if s.how == SHADOW]

    def hand_over(self, emit: Emitter, found: Found, ends: list[Ends]) -> None:
        """Gives those cotangents to the shadows of the memory that is there now."""
        for spot, bar in found:
            inner = Emitter(emit.span)
            if spot.how == VALUE:
                spot.bind_bar(inner, bar)
            elif spot in self.boxes and mode(item_of(spot)) != SHADOW:
                _fill(inner, spot, spot.read_bar(inner), bar)
            else:
                copied(inner, spot.kind, spot.read_bar(inner), bar)
            _if_there(emit, spot, bar, inner)
        for end in ends:
            lengthened(emit, end)


def state_of(
    r: Reverse, names: list[str], carried: frozenset[str], sure: frozenset[str], block: Block, span: Span
) -> State:
    """What the block may change of all that `names` reach, which may have values when it begins (surely: those in
    `sure`); `carried` are those of them that it binds. Refuses containers of which that is not known."""
    found = State()
    writes = written(r, block)
    for name in names:
        kind, how = r.frame.kinds[name], r.how(name)
        other = r.frame.other(name) if how is not None else ""
        spot = Spot(kind, how, name, other, sure=name in sure and not getattr(kind, "none", False))
        if name in carried:
            found.bound.append(spot)
        _reach(spot, writes, found, span)
    return found


def _reach(spot: Spot, writes: Writes, found: State, span: Span) -> None:
    kind, memory = spot.kind, writes.memory
    if isinstance(kind, Arr):
        found.arrays += [spot] if kind.region.root() in memory else []
    if not isinstance(kind, Box) or not memory & set(reached((kind,))):
        return
    node = kind.region.root()
    inside = memory & set(reached((*node.fields.values(), node.elt)))
    if not spot.sure or node in inside or spot.depth > _DEEPEST:
        raise _refused(kind, span)
    if kind.cls in (list, dict) and (node.open or node.resized or not _has_slots(kind)):
        if inside:
            raise _refused(kind, span)
        log = kind.cls is list and writes.grows(node) and spot not in found.bound
        (found.logs if log else found.boxes).append(spot)
        return
    if not _has_slots(kind):
        raise _refused(kind, span)
    for key in node.fields:
        item = item_at(kind, key)
        cell = kind.cls is list and len(node.fields) == 1  # what a closure shares has no value before it is bound
        inner = Spot(item, mode(item), owner=spot, key=_key(kind, key), depth=spot.depth + 1, sure=not cell)
        if node in memory:
            found.bound.append(inner)
        _reach(inner, writes, found, span)


_DEEPEST = 4


def _key(kind: Box, key: object) -> Key:
    return Key((Lit(key),), attribute=kind.cls is not dict and isinstance(key, str))


def _has_slots(kind: Box) -> bool:
    """Whether it is known what a container holds, always at the same keys."""
    node = kind.region.root()
    if node.open or node.resized:
        return False
    return issubclass(kind.cls, tuple | list) or set(node.fields) <= set(node.always or ())


def _refused(kind: Kind, span: Span) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"a checkpointed loop writes into {describe(kind)}, or into what that holds",
        span,
        "let its body write into arrays, and into lists and dicts of numbers and of arrays that stay as they are",
    )


def _items(emit: Emitter, box: Atom) -> Atom:
    """A list or dict of the items that another one has."""
    return emit.let(Method(box, "copy", ()))


def _fill(emit: Emitter, spot: Spot, box: Atom, items: Atom) -> None:
    """Makes the items of a list or dict those of another one."""
    emit.let(Method(box, "clear", ()))
    assert isinstance(spot.kind, Box)
    emit.let(Method(box, "update" if spot.kind.cls is dict else "extend", (items,)))


def _if_there(emit: Emitter, spot: Spot, value: Atom, inner: Emitter) -> None:
    """What is done with a spot, where it may have no value if it has one."""
    done: list[Statement] = inner.block
    emit.add(*(done if spot.sure else [If(emit.op(arrays.there, value), tuple(done), (), emit.span)]))
