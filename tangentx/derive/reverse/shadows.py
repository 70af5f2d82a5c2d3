"""Shadows of new storage: copies, views and containers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tangentx import arrays
from tangentx.analysis.types.kinds import MISSING, Arr, Box, Kind, is_view
from tangentx.analysis.types.primitives import DIAGONALS, SPREADING, hashable, makes_new, may_show
from tangentx.analysis.types.selection import is_basic, slots_alike
from tangentx.derive.emit import NONE, SHADOW, VALUE, Emitter, item_at, item_of_box, mode
from tangentx.derive.reverse.context import Reverse
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import Atom, Attr, Expr, If, Index, Key, Lit, Make, Op, Slice, Var


def parts_of(r: Reverse, key: Key) -> tuple[Any, ...]:
    """The kinds of the parts of a key, an empty tuple for a slice."""
    return tuple(() if isinstance(p, Slice) else r.frame.kind(p) for p in key.parts)


def shadow_of(
    r: Reverse, value: Expr, new: Var, kind: Kind, forward: Emitter
) -> tuple[Atom, Callable[[Emitter], Atom] | None]:
    """The shadow of a new storage, and for a possible view what tells in the reverse sweep whether it is one."""
    match value:
        case Var() | Lit(value=None):
            return r.shadow(forward, value), None
        case Index(base=base, key=key) if r.frame.mode(base) == SHADOW:
            base_kind = r.frame.kind(base)
            if isinstance(base_kind, Box):
                if mode(item_of_box(r.frame, base_kind, key)) == SHADOW:
                    return forward.let(Index(r.other(base), key)), None
            elif is_view(kind, base_kind) and is_basic(parts_of(r, key)):
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
    alike = item_at(kind, MISSING) if slots_alike(kind) else None  # asked once: it joins the kinds of all items
    pairs = zip(names, items, strict=True)
    slots = tuple(slot(r, alike or item_at(kind, key), item, forward) for key, item in pairs)
    return forward.let(Make(list, slots) if keys is None else Make(dict, slots, keys))


def slot(r: Reverse, item: Kind, atom: Atom, forward: Emitter) -> Atom:
    """What a shadow container holds for an item: a zero for a value, a storage's shadow, None for anything else."""
    how = mode(item)
    if how == VALUE:
        return r.frame.zero(forward, atom, r.frame.kind(atom))
    return r.shadow(forward, atom) if how == SHADOW else NONE


def _shadow_of_op(
    r: Reverse, op: Op, new: Var, kind: Kind, forward: Emitter
) -> tuple[Atom, Callable[[Emitter], Atom] | None]:
    """A result that may be a view of an operand: NumPy is asked at run time, and the shadow follows.

    Not where a view shows an element at several places: what each of them gets has to be added up, and nobody writes
    into such a view, nor into what it shows.
    """
    shown = [a for place, a in enumerate(op.args) if may_show(op.fn, place)]
    may_view = [a for a in shown if r.frame.mode(a) == SHADOW and is_view(kind, r.frame.kind(a))]
    own_shadow = makes_new(op.fn) or op.fn in hashable(SPREADING, op.fn)
    base = next(iter(may_view), None) if not own_shadow else None
    if base is None:
        _refuse_hidden_views(r, op, kind, forward)
        return r.frame.zero(forward, new, kind), None
    flag = r.frame.names.fresh("shared")
    shared = forward.assign(flag, Op(arrays.shares, (new, base)))
    tell = r.once_more(forward, flag)
    name = forward.temporary()
    view, own = Emitter(forward.span), Emitter(forward.span)
    other = tuple(r.other(a) if a is base else a for a in op.args)
    found = view.let(Op(op.fn, other, op.kwargs))
    view.assign(name, Op(arrays.writable, (found,)) if op.fn in hashable(DIAGONALS, op.fn) else found)
    own.assign(name, r.frame.zero_value(new, kind))
    forward.add(If(shared, tuple(view.block), tuple(own.block), forward.span))
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
