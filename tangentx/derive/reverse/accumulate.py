"""Accumulation: adds a contribution to the cotangent of an operand, a complex one conjugated."""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Bottom, Box, Kind, Region, holds_itself
from tangentx.derive.emit import SHADOW, VALUE, Emitter, mode
from tangentx.errors import Span, UnsupportedSyntax
from tangentx.ir.nodes import WHOLE, Accumulate, Atom, Attr, Expr, For, If, Index, Key, Lit, Op, Store, Var

# Shadows of complex arrays that have a view of their imaginary part: stored conjugated.
#
# The cotangent of z = x + iy is the derivative by x minus i times that by y, but the view ``z.imag`` has the
# derivative by y: as a view of the same memory it cannot have the other sign. So the shadow of such a storage holds
# the conjugate, and what passes between it and a value is conjugated.


def is_turned(kind: Kind) -> bool:
    """Whether the shadow of an array of this kind is kept conjugated."""
    if not isinstance(kind, Arr) or kind.dtype.kind != "c":
        return False
    return mode(kind) == SHADOW and kind.region.root().parted


def turned(emit: Emitter, kind: Kind, t: Atom) -> Atom:
    """What goes into the shadow of a storage of the kind for the cotangent `t`, or the cotangent for what it holds."""
    return emit.op(np.conj, t) if is_turned(kind) else t


def demand_straight(kind: Kind, span: Span, seen: tuple[Region, ...] = ()) -> None:
    """Refuses a container whose cotangent would be made of shadows that are kept conjugated."""
    if is_turned(kind):
        raise UnsupportedSyntax(
            "the imaginary part of an array in this container is a view of it",
            span,
            "pass the array as an argument of its own, or read `z.imag.copy()`",
        )
    if isinstance(kind, Box) and kind.region.root() not in seen:
        node = kind.region.root()
        for item in (*node.fields.values(), node.elt):
            demand_straight(item, span, (*seen, node))


# Accumulation: adds a contribution to the cotangent of an operand.


def give_where_made(emit: Emitter, kind: Kind, bar: Var, primal: Atom, cotangent: Atom) -> None:
    """As `give`, for an operand that may have no value yet, or may hold what has none: those parts are left out."""
    inner = Emitter(emit.span)
    give(inner, kind, bar, primal, cotangent, perhaps=True)
    if inner.block:
        emit.add(If(emit.op(arrays.has_memory, primal), tuple(inner.block), (), emit.span))


def give(
    emit: Emitter, kind: Kind, bar: Var, primal: Atom, cotangent: Atom, fits: bool = False, perhaps: bool = False
) -> None:
    """``bar += cotangent``, in the shape and domain of `primal`: rebound for a value, in place for a storage.

    `perhaps`: a container may hold what has no value yet.
    """
    how = mode(kind)
    if how is None:
        return
    if isinstance(kind, Box):
        if holds_itself(kind):
            message = "the cotangent of a tree, whose nodes hold nodes of their own kind, is given as a whole"
            raise UnsupportedSyntax(message, emit.span, "go through its nodes by a helper that calls itself")
        give_items(emit, kind, bar, primal, cotangent, perhaps)
        return
    fitted = emit.op(arrays.alike if fits else arrays.unbroadcast, cotangent, primal)
    if how == VALUE:
        emit.assign(bar.name, Op(operator.add, (bar, fitted)))
    else:
        emit.add(Accumulate(bar, WHOLE, turned(emit, kind, fitted), emit.span))


def item_of(kind: Box, primal: Atom, key: Any) -> Expr:
    """The expression that reads an item of a container."""
    if isinstance(key, str) and kind.cls is not dict:
        return Attr(primal, key)
    return Index(primal, Key((Lit(key),)))


def give_items(emit: Emitter, kind: Box, bar: Var, primal: Atom, cotangent: Atom, perhaps: bool = False) -> None:
    """Adds item by item; the cotangent is a list or dict of the layout of a shadow."""
    node = kind.region.root()
    plain = kind.cls in (list, tuple, dict)
    if node.open and plain:
        _give_each(emit, kind, bar, primal, cotangent, perhaps)
        return
    for key in list(node.fields):
        item = kind.region.get(key)
        if mode(item) is None:
            continue
        inner = Emitter(emit.span)
        part = inner.item(cotangent, key)
        own = inner.let(item_of(kind, primal, key))
        give_slot(inner, item, bar, Key((Lit(key),)), own, part, perhaps=perhaps)
        if (kind.cls is dict and node.written) or (node.open and not plain):
            there = emit.op(operator.contains, bar, Lit(key))
            emit.add(If(there, tuple(inner.block), (), emit.span))
        else:
            emit.add(*inner.block)


def give_slot(
    emit: Emitter,
    item: Kind,
    bar: Atom,
    key: Key,
    primal: Atom,
    cotangent: Atom,
    fits: bool = False,
    perhaps: bool = False,
) -> None:
    """Adds to the slot ``bar[key]`` of a shadow container; `fits` and `perhaps` as for `give`."""
    slot = emit.let(Index(bar, key))
    if mode(item) == SHADOW and perhaps:
        give_where_made(emit, item, slot, primal, cotangent)
        return
    if mode(item) == SHADOW:
        give(emit, item, slot, primal, cotangent, fits)
        return
    fitted = emit.op(arrays.alike if fits else arrays.unbroadcast, cotangent, primal)
    emit.add(Store(bar, key, emit.op(operator.add, slot, fitted), emit.span))


def _give_each(emit: Emitter, kind: Box, bar: Var, primal: Atom, cotangent: Atom, perhaps: bool) -> None:
    item = kind.region.any()
    if mode(item) is None or isinstance(item, Bottom):
        return
    inner = Emitter(emit.span)
    index = Var(inner.temporary())
    if kind.cls is dict:
        keys = emit.op(builtins.list, bar)
        length = emit.op(builtins.len, keys)
        key: Atom = inner.let(Index(keys, Key((index,))))
    else:
        length = emit.op(builtins.len, bar)
        key = index
    at = Key((key,))
    part = inner.let(Index(cotangent, at))
    own = inner.let(Index(primal, at))
    give_slot(inner, item, bar, at, own, part, perhaps=perhaps)
    emit.add(For(index.name, Lit(0), length, Lit(1), False, tuple(inner.block), emit.span))
