"""Reverse mode of writes: restores what was overwritten, takes the cotangent of what was written, and zeroes it."""

from __future__ import annotations

import operator
from collections.abc import Callable

from tangentx import arrays
from tangentx.analysis.types.kinds import Box, Kind
from tangentx.analysis.types.selection import known_key, may_repeat
from tangentx.common.naming import is_identifier
from tangentx.derive.emit import NONE, SHADOW, VALUE, Emitter, item_of_box, mode, shadow_key
from tangentx.derive.reverse.accumulate import turned
from tangentx.derive.reverse.context import Reverse
from tangentx.derive.reverse.shadows import parts_of, slot
from tangentx.derive.reverse.tape import restored
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Attr,
    Delete,
    Expr,
    Ext,
    If,
    Index,
    Key,
    Lit,
    Pop,
    Slice,
    Store,
    Var,
    attribute_of,
)

Undo = Callable[[Emitter], None]


def pop(r: Reverse, s: Assign, base: Var, forward: Emitter, reverse: Emitter) -> None:
    """Reverse of ``y = base.pop()``: the item is appended again."""
    box = r.frame.kind(base)
    assert isinstance(box, Box)
    item = mode(box.region.any())
    shadowed = r.frame.mode(base) == SHADOW
    restore = r.record(forward, s.target)
    taken = forward.let(s.value)
    taken_bar = forward.let(Pop(r.other(base))) if shadowed and base.name not in r.stacks else None
    forward.assign(s.target, taken)
    how = mode(r.frame.kinds[s.target])
    if how == SHADOW:
        zero = taken_bar if taken_bar is not None else forward.zero(taken, r.frame.kinds[s.target])
        forward.assign(r.frame.other(s.target), zero)
    ans = reverse.let(Var(s.target))
    t = reverse.let(Var(r.frame.other(s.target))) if how is not None else NONE
    if how == VALUE and s.target not in r.frame.rebound:
        reverse.assign(r.frame.other(s.target), r.frame.zero_value(ans, r.frame.kinds[s.target]))
    restore(reverse)
    reverse.add(Append(base, ans, s.span))
    if shadowed:
        back = t if item is not None and how is not None else slot(r, box.region.any(), ans, reverse)
        reverse.add(Append(r.other(base), back, s.span))


def store(r: Reverse, s: Store, forward: Emitter, reverse: Emitter) -> None:
    """Reverse of ``base[key] = value``: restore, take, zero, give."""
    kind = r.frame.kind(s.base)
    if isinstance(kind, Box):
        _store_item(r, s, kind, forward, reverse)
        return
    tape = r.tape(_stem(s.base))
    forward.append(tape, forward.op(arrays.clone, forward.let(Index(s.base, s.key))))
    forward.add(s)
    reverse.add(Store(s.base, s.key, reverse.pop(tape), s.span))
    restored(r, reverse, s)
    if r.frame.mode(s.base) != SHADOW:
        return
    bar = r.other(s.base)
    given = r.frame.kind(s.value)
    told = isinstance(s.value, Var) and (id(s), s.value.name) in r.derive.fits
    fits = r.are_of_one_dtype(kind, given) if told else id(s) in r.filling and r.is_alike(kind, given)
    if _may_repeat(r, s.key):
        t = reverse.op(arrays.winners, bar, reverse.key_atom(s.key))
    else:
        t = reverse.op(arrays.clone, reverse.let(Index(bar, s.key)))
    reverse.add(Store(bar, s.key, Lit(0.0), s.span))
    r.give(reverse, s.value, turned(reverse, kind, t), fits)


def _stem(base: Atom) -> str:
    return base.name if isinstance(base, Var | Ext) else "t"


def _may_repeat(r: Reverse, key: Key) -> bool:
    return may_repeat(parts_of(r, key))


def _store_item(r: Reverse, s: Store, box: Box, forward: Emitter, reverse: Emitter) -> None:
    """An item of a list or dict: a new key of a dict is taken away again in reverse."""
    item = item_of_box(r.frame, box, s.key)
    if id(s) in r.fresh:
        _put_item(r, s, item, forward)
        t = _take_item(r, s, item, reverse)
    elif box.cls is list or (r.derive.proves("present") and _is_present(r, s, box)):
        undo = _old_item(r, s, item, forward)
        _put_item(r, s, item, forward)
        t = _take_item(r, s, item, reverse)
        undo(reverse)
    else:
        had = forward.op(hasattr if s.key.attribute else operator.contains, s.base, _one(s.key))
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
            absent.add(Delete(r.other(s.base), shadow_key(s.key), s.span))
        reverse.add(If(was, tuple(back.block), tuple(absent.block), s.span))
    if t is not None:
        r.give(reverse, s.value, t, r.is_alike(item, r.frame.kind(s.value)))


def _is_present(r: Reverse, s: Store, box: Box) -> bool:
    """Whether the key is there already: all such containers are made with it, and nothing is ever taken out."""
    node, known = box.region.root(), known_key(box, r.frame.kind(_one(s.key)))
    return node.always is not None and known in node.always and not node.resized


def _one(key: Key) -> Atom:
    assert not isinstance(key.parts[0], Slice)
    return key.parts[0]


def _put_item(r: Reverse, s: Store, item: Kind, forward: Emitter) -> None:
    forward.add(s)
    if r.frame.mode(s.base) == SHADOW:
        forward.add(Store(r.other(s.base), shadow_key(s.key), slot(r, item, s.value, forward), s.span))


def _take_item(r: Reverse, s: Store, item: Kind, reverse: Emitter) -> Atom | None:
    if r.frame.mode(s.base) == SHADOW and mode(item) == VALUE:
        return reverse.let(Index(r.other(s.base), shadow_key(s.key)))
    return None


def _held(s: Store | Delete) -> Expr:
    """What the place holds that is about to be written."""
    return Attr(s.base, attribute_of(s.key)) if s.key.attribute else Index(s.base, s.key)


def _old_item(r: Reverse, s: Store, item: Kind, forward: Emitter) -> Undo:
    """Records the item that is about to be replaced, and its shadow."""
    named = s.key.attribute and is_identifier(attribute_of(s.key))
    tape = r.tape(attribute_of(s.key) if named else _stem(s.base))
    forward.append(tape, forward.let(_held(s)))
    bar, key = r.other(s.base) if r.frame.mode(s.base) == SHADOW else None, shadow_key(s.key)
    bar_tape = None
    if bar is not None and mode(item) == SHADOW:
        bar_tape = r.tape(_stem(bar))
        forward.append(bar_tape, forward.let(Index(bar, key)))

    def undo(emit: Emitter) -> None:
        old = emit.pop(tape)
        emit.add(Store(s.base, s.key, old, s.span))
        if bar_tape is not None:
            assert bar is not None
            emit.add(Store(bar, key, emit.pop(bar_tape), s.span))
        elif bar is not None and mode(item) == VALUE:
            emit.add(Store(bar, key, r.frame.zero(emit, old, item), s.span))

    return undo


def accumulate(r: Reverse, s: Accumulate, forward: Emitter, reverse: Emitter) -> None:
    """Reverse of ``base[key] += value``: restored, and the cotangent is given; nothing is zeroed."""
    tape = r.tape(_stem(s.base))
    forward.append(tape, forward.op(arrays.clone, forward.let(Index(s.base, s.key))))
    forward.add(s)
    reverse.add(Store(s.base, s.key, reverse.pop(tape), s.span))
    restored(r, reverse, s)
    if r.frame.mode(s.base) == SHADOW:
        t = reverse.op(arrays.clone, reverse.let(Index(r.other(s.base), s.key)))
        kind = r.frame.kind(s.base)
        r.give(reverse, s.value, turned(reverse, kind, t))


def append(r: Reverse, s: Append, forward: Emitter, reverse: Emitter) -> None:
    """Reverse of ``base.append(value)``: popped, with its cotangent."""
    box = r.frame.kind(s.base)
    assert isinstance(box, Box) and isinstance(s.base, Var)
    shadowed = r.frame.mode(s.base) == SHADOW
    item = box.region.any()
    forward.add(s)
    if s.base.name in r.parts.summed.bars:
        r.give(reverse, s.value, Var(r.parts.summed.bars[s.base.name]))
        return
    reverse.let(Pop(s.base))
    if shadowed:
        if s.base.name not in r.stacks:
            forward.add(Append(r.other(s.base), slot(r, item, s.value, forward), s.span))
        t = reverse.let(Pop(r.other(s.base)))
        if mode(item) == VALUE:
            r.give(reverse, s.value, t, r.is_alike(item, r.frame.kind(s.value)))


def delete(r: Reverse, s: Delete, forward: Emitter, reverse: Emitter) -> None:
    """Reverse of ``del base[key]``: the item stands there again."""
    box = r.frame.kind(s.base)
    assert isinstance(box, Box)
    tape = r.tape(_stem(s.base))
    forward.append(tape, forward.let(_held(s)))
    shadowed = r.frame.mode(s.base) == SHADOW
    bar_tape = r.tape(f"{_stem(s.base)}_slot") if shadowed else ""
    if shadowed:
        forward.append(bar_tape, forward.let(Index(r.other(s.base), shadow_key(s.key))))
        forward.add(Delete(r.other(s.base), shadow_key(s.key), s.span))
    forward.add(s)
    reverse.add(Store(s.base, s.key, reverse.pop(tape), s.span))
    if shadowed:
        reverse.add(Store(r.other(s.base), shadow_key(s.key), reverse.pop(bar_tape), s.span))
