"""Accumulation: adds a contribution to the cotangent of an operand."""

from __future__ import annotations

import builtins
import operator
from typing import Any

from tangentx import arrays
from tangentx.analysis.types.kinds import Bottom, Box, Kind, holds_itself
from tangentx.derive.emit import SHADOW, VALUE, Emitter, mode
from tangentx.derive.reverse.complex_shadows import turned
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.keys import WHOLE
from tangentx.ir.nodes import Accumulate, Atom, Attr, Expr, For, If, Index, Key, Lit, Op, Store, Var


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
