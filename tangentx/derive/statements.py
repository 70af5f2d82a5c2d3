"""Reverse mode, statement by statement: what the forward sweep adds, and what the reverse sweep does."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx import arrays, templates
from tangentx.analysis.kinds import MISSING, Arr, Box, Kind, Num, is_inexact, varied
from tangentx.analysis.selection import is_basic, known_key, may_repeat
from tangentx.derive.calls import call
from tangentx.derive.emit import NONE, SHADOW, VALUE, Emitter, mode
from tangentx.derive.gifts import give_slot
from tangentx.derive.reverse import Reverse
from tangentx.derive.rules import cotangents
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Attr,
    Call,
    Delete,
    Expr,
    Ext,
    If,
    Index,
    Key,
    Lit,
    Make,
    Op,
    Pop,
    Slice,
    Statement,
    Store,
    Var,
)

Undo = Callable[[Emitter], None]


def _assign(r: Reverse, s: Assign, forward: Emitter, reverse: Emitter) -> None:
    match s.value:
        case Call():
            call(r, s, s.value, forward, reverse)
        case Pop(base=base):
            _pop(r, s, base, forward, reverse)
        case _:
            _bind(r, s, forward, reverse)


def _bind(r: Reverse, s: Assign, forward: Emitter, reverse: Emitter) -> None:
    """A name bound to what an expression gives: the value first, then its shadow, then both names."""
    kind = r.frame.kinds[s.target]
    how = mode(kind)
    restore = r.record(forward, s.target)
    if how == SHADOW:
        value = forward.let(s.value)
        shadow, shared = _shadow(r, s.value, value, kind, forward)
        forward.assign(s.target, value)
        forward.assign(r.frame.other(s.target), shadow)
    else:
        shared = None
        forward.add(s)
    if how is None:
        restore(reverse)
        return
    other = Var(r.frame.other(s.target))
    ans = reverse.let(Var(s.target)) if s.target in r.frame.rebound else Var(s.target)
    t = reverse.let(other) if s.target in r.frame.rebound else other
    flag = shared(reverse) if shared is not None else None
    restore(reverse)
    inner = Emitter(s.span)
    _contribute(r, s.value, ans, t, kind, inner)
    if flag is None:
        reverse.add(*inner.block)
    elif inner.block:
        reverse.add(If(flag, (), tuple(inner.block), s.span))


def _contribute(r: Reverse, value: Expr, ans: Atom, t: Atom, kind: Kind, emit: Emitter) -> None:
    """Gives the cotangent `t` of the expression to its operands."""
    match value:
        case Var():
            if mode(kind) == VALUE:
                r.give(emit, value, t)
        case Op():
            _contribute_op(r, value, ans, t, emit)
        case Index(base=base, key=key):
            _contribute_index(r, base, key, t, kind, emit)
        case Attr(base=base, name=name):
            _contribute_slot(r, base, name, t, emit)
        case Make(items=items, keys=keys):
            for key, item in zip(keys if keys is not None else range(len(items)), items, strict=True):
                if isinstance(kind, Box) and mode(kind.region.get(key)) == VALUE and r.frame.mode(item):
                    r.give(emit, item, emit.item(t, key))


def _contribute_op(r: Reverse, op: Op, ans: Atom, t: Atom, emit: Emitter) -> None:
    template = templates.find(op.fn)
    if template is None or template.kind == "constant":
        return
    for operand, cotangent in cotangents(
        r.program.lift, emit, op, template, ans, t, lambda a: r.frame.mode(a) is not None
    ):
        r.give(emit, operand, cotangent)


def _contribute_index(r: Reverse, base: Atom, key: Key, t: Atom, kind: Kind, emit: Emitter) -> None:
    base_kind = r.frame.kind(base)
    if r.frame.mode(base) is None:
        return
    if isinstance(base_kind, Arr):
        if not (mode(kind) == SHADOW and is_view(kind, base_kind) and is_basic(_parts(r, key))):
            emit.add(Accumulate(r.other(base), key, t, emit.span))
        return
    assert isinstance(base_kind, Box)
    item = _item(r, base_kind, key)
    if mode(item) == VALUE:
        give_slot(emit, item, r.other(base), key, emit.let(Index(base, key)), t)


def _contribute_slot(r: Reverse, base: Atom, name: str, t: Atom, emit: Emitter) -> None:
    base_kind = r.frame.kind(base)
    if r.frame.mode(base) is None or not isinstance(base_kind, Box):
        return
    item = base_kind.region.get(name)
    if mode(item) == VALUE:
        give_slot(emit, item, r.other(base), Key((Lit(name),)), emit.let(Attr(base, name)), t)


def is_view(kind: Kind, base: Kind) -> bool:
    """Whether the two may share memory."""
    return isinstance(kind, Arr) and isinstance(base, Arr) and kind.region.root() is base.region.root()


def _item(r: Reverse, box: Box, key: Key) -> Kind:
    part = r.frame.kind(key.parts[0]) if not isinstance(key.parts[0], Slice) else None
    known = known_key(box, part)
    return box.region.any() if known is MISSING else box.region.get(known)


def _parts(r: Reverse, key: Key) -> tuple[Any, ...]:
    return tuple(() if isinstance(p, Slice) else r.frame.kind(p) for p in key.parts)


def _shadow(
    r: Reverse, value: Expr, new: Var, kind: Kind, forward: Emitter
) -> tuple[Atom, Callable[[Emitter], Atom] | None]:
    """The shadow of a new storage, and for a possible view what tells in the reverse sweep whether it is one."""
    match value:
        case Var():
            return r.shadow(forward, value), None
        case Index(base=base, key=key) if r.frame.mode(base) == SHADOW:
            base_kind = r.frame.kind(base)
            if isinstance(base_kind, Box):
                if mode(_item(r, base_kind, key)) == SHADOW:
                    return forward.let(Index(r.other(base), key)), None
            elif is_view(kind, base_kind) and is_basic(_parts(r, key)):
                return forward.let(Index(r.other(base), key)), None
        case Attr(base=base, name=name) if r.frame.mode(base) == SHADOW:
            return forward.item(r.other(base), name), None
        case Make(items=items, keys=keys):
            return _shadow_of_made(r, value, items, keys, kind, forward), None
        case Op():
            return _shadow_of_op(r, value, new, kind, forward)
    return r.frame.zero(forward, new, kind), None


def _shadow_of_made(
    r: Reverse, value: Make, items: tuple[Atom, ...], keys: tuple[Any, ...] | None, kind: Kind, forward: Emitter
) -> Atom:
    assert isinstance(kind, Box)
    names = keys if keys is not None else tuple(range(len(items)))
    slots = tuple(slot(r, kind.region.get(key), item, forward) for key, item in zip(names, items, strict=True))
    return forward.let(Make(list, slots) if keys is None else Make(dict, slots, keys))


def slot(r: Reverse, item: Kind, atom: Atom, forward: Emitter) -> Atom:
    """What a shadow container holds for an item: a zero for a value, the shadow of a storage, None for anything else."""
    how = mode(item)
    if how == VALUE:
        return r.frame.zero(forward, atom, r.frame.kind(atom))
    return r.shadow(forward, atom) if how == SHADOW else NONE


def _shadow_of_op(
    r: Reverse, op: Op, new: Var, kind: Kind, forward: Emitter
) -> tuple[Atom, Callable[[Emitter], Atom] | None]:
    """A result that may be a view of an operand: NumPy is asked at run time, and the shadow follows."""
    base = next((a for a in op.args if r.frame.mode(a) == SHADOW and is_view(kind, r.frame.kind(a))), None)
    if base is None:
        _refuse_hidden_views(r, op, kind, forward)
        return r.frame.zero(forward, new, kind), None
    flag = r.frame.names.fresh("shared")
    r.unbound[flag] = None
    tape = r.tape(flag)
    forward.append(tape, Var(flag))
    shared = forward.assign(flag, Op(arrays.shares, (new, base)))
    name = forward.temporary()
    view, own = Emitter(forward.span), Emitter(forward.span)
    other = tuple(r.other(a) if a is base else a for a in op.args)
    view.assign(name, Op(op.fn, other, op.kwargs))
    own.assign(name, r.frame.zero(own, new, kind))
    forward.add(If(shared, tuple(view.block), tuple(own.block), forward.span))

    def tell(emit: Emitter) -> Atom:
        was = emit.let(Var(flag))
        emit.assign(flag, emit.pop(tape))
        return was

    return Var(name), tell


def _refuse_hidden_views(r: Reverse, op: Op, kind: Kind, emit: Emitter) -> None:
    if not isinstance(kind, Box):
        return
    inside = [k for k in (*kind.region.root().fields.values(), kind.region.root().elt) if isinstance(k, Arr)]
    for atom in op.args:
        if any(is_view(k, r.frame.kind(atom)) and mode(k) == SHADOW for k in inside):
            raise UnsupportedSyntax(
                f"`{op.fn.__name__}` returns several views of an array that is written or indexed",
                emit.span,
                "take the views one by one with slices",
            )


def _pop(r: Reverse, s: Assign, base: Var, forward: Emitter, reverse: Emitter) -> None:
    box = r.frame.kind(base)
    assert isinstance(box, Box)
    item = mode(box.region.any())
    shadowed = r.frame.mode(base) == SHADOW
    restore = r.record(forward, s.target)
    taken = forward.let(s.value)
    taken_bar = forward.let(Pop(r.other(base))) if shadowed else None
    forward.assign(s.target, taken)
    how = mode(r.frame.kinds[s.target])
    if how == SHADOW:
        forward.assign(r.frame.other(s.target), taken_bar if taken_bar is not None else forward.op(arrays.zero, taken))
    ans = reverse.let(Var(s.target))
    t = reverse.let(Var(r.frame.other(s.target))) if how is not None else NONE
    if how == VALUE and s.target not in r.frame.rebound:
        reverse.assign(r.frame.other(s.target), r.frame.zero(reverse, ans, r.frame.kinds[s.target]))
    restore(reverse)
    reverse.add(Append(base, ans, s.span))
    if shadowed:
        reverse.add(Append(r.other(base), t if item is not None and how is not None else NONE, s.span))


def _store(r: Reverse, s: Store, forward: Emitter, reverse: Emitter) -> None:
    kind = r.frame.kind(s.base)
    if isinstance(kind, Box):
        _store_item(r, s, kind, forward, reverse)
        return
    tape = r.tape(_stem(s.base))
    forward.append(tape, forward.op(arrays.clone, forward.let(Index(s.base, s.key))))
    forward.add(s)
    reverse.add(Store(s.base, s.key, reverse.pop(tape), s.span))
    if r.frame.mode(s.base) != SHADOW:
        return
    bar = r.other(s.base)
    if _may_repeat(r, s.key):
        t = reverse.op(arrays.winners, bar, reverse.key_atom(s.key))
    else:
        t = reverse.op(arrays.clone, reverse.let(Index(bar, s.key)))
    reverse.add(Store(bar, s.key, Lit(0.0), s.span))
    r.give(reverse, s.value, t)


def _stem(base: Atom) -> str:
    return base.name if isinstance(base, Var | Ext) else "t"


def _may_repeat(r: Reverse, key: Key) -> bool:
    return may_repeat(_parts(r, key))


def _store_item(r: Reverse, s: Store, box: Box, forward: Emitter, reverse: Emitter) -> None:
    """An item of a list or dict: a new key of a dict is taken away again in reverse."""
    item = _item(r, box, s.key)
    if box.cls is not dict:
        undo = _old_item(r, s, item, forward)
        _put_item(r, s, item, forward)
        t = _take_item(r, s, item, reverse)
        undo(reverse)
    else:
        had = forward.op(operator.contains, s.base, _one(s.key))
        had_tape = r.tape(f"{_stem(s.base)}_had")
        forward.append(had_tape, had)
        old, back, absent = Emitter(s.span), Emitter(s.span), Emitter(s.span)
        undo = _old_item(r, s, item, old)
        forward.add(If(had, tuple(old.block), (), s.span))
        _put_item(r, s, item, forward)
        was = reverse.pop(had_tape)
        t = _take_item(r, s, item, reverse)
        undo(back)
        absent.add(Delete(s.base, s.key, s.span))
        if r.frame.mode(s.base) == SHADOW:
            absent.add(Delete(r.other(s.base), s.key, s.span))
        reverse.add(If(was, tuple(back.block), tuple(absent.block), s.span))
    if t is not None:
        r.give(reverse, s.value, t)


def _one(key: Key) -> Atom:
    assert not isinstance(key.parts[0], Slice)
    return key.parts[0]


def _put_item(r: Reverse, s: Store, item: Kind, forward: Emitter) -> None:
    forward.add(s)
    if r.frame.mode(s.base) == SHADOW:
        forward.add(Store(r.other(s.base), s.key, slot(r, item, s.value, forward), s.span))


def _take_item(r: Reverse, s: Store, item: Kind, reverse: Emitter) -> Atom | None:
    if r.frame.mode(s.base) == SHADOW and mode(item) == VALUE:
        return reverse.let(Index(r.other(s.base), s.key))
    return None


def _old_item(r: Reverse, s: Store, item: Kind, forward: Emitter) -> Undo:
    """Records the item that is about to be replaced, and its shadow."""
    tape = r.tape(_stem(s.base))
    forward.append(tape, forward.let(Index(s.base, s.key)))
    bar = r.other(s.base) if r.frame.mode(s.base) == SHADOW else None
    bar_tape = None
    if bar is not None and mode(item) == SHADOW:
        bar_tape = r.tape(_stem(bar))
        forward.append(bar_tape, forward.let(Index(bar, s.key)))

    def undo(emit: Emitter) -> None:
        old = emit.pop(tape)
        emit.add(Store(s.base, s.key, old, s.span))
        if bar_tape is not None:
            assert bar is not None
            emit.add(Store(bar, s.key, emit.pop(bar_tape), s.span))
        elif bar is not None and mode(item) == VALUE:
            emit.add(Store(bar, s.key, r.frame.zero(emit, old, item), s.span))

    return undo


def _accumulate(r: Reverse, s: Accumulate, forward: Emitter, reverse: Emitter) -> None:
    tape = r.tape(_stem(s.base))
    forward.append(tape, forward.op(arrays.clone, forward.let(Index(s.base, s.key))))
    forward.add(s)
    reverse.add(Store(s.base, s.key, reverse.pop(tape), s.span))
    if r.frame.mode(s.base) == SHADOW:
        t = reverse.op(arrays.clone, reverse.let(Index(r.other(s.base), s.key)))
        r.give(reverse, s.value, t)


def _append(r: Reverse, s: Append, forward: Emitter, reverse: Emitter) -> None:
    box = r.frame.kind(s.base)
    assert isinstance(box, Box)
    shadowed = r.frame.mode(s.base) == SHADOW
    item = box.region.any()
    forward.add(s)
    assert isinstance(s.base, Var)
    reverse.let(Pop(s.base))
    if shadowed:
        forward.add(Append(r.other(s.base), slot(r, item, s.value, forward), s.span))
        t = reverse.let(Pop(r.other(s.base)))
        if mode(item) == VALUE:
            r.give(reverse, s.value, t)


def _delete(r: Reverse, s: Delete, forward: Emitter, reverse: Emitter) -> None:
    box = r.frame.kind(s.base)
    assert isinstance(box, Box)
    tape = r.tape(_stem(s.base))
    forward.append(tape, forward.let(Index(s.base, s.key)))
    shadowed = r.frame.mode(s.base) == SHADOW
    bar_tape = r.tape(f"{_stem(s.base)}_slot") if shadowed else ""
    if shadowed:
        forward.append(bar_tape, forward.let(Index(r.other(s.base), s.key)))
        forward.add(Delete(r.other(s.base), s.key, s.span))
    forward.add(s)
    reverse.add(Store(s.base, s.key, reverse.pop(tape), s.span))
    if shadowed:
        reverse.add(Store(r.other(s.base), s.key, reverse.pop(bar_tape), s.span))


RULES: dict[type[Statement], Callable[[Reverse, Any, Emitter, Emitter], None]] = {
    Assign: _assign,
    Store: _store,
    Accumulate: _accumulate,
    Append: _append,
    Delete: _delete,
}

__all__ = ["RULES", "Num", "is_inexact", "np", "slot", "varied"]
