"""Lists and shadows of a checkpointed region: cut to an earlier length and extended again, cotangents moved."""

from __future__ import annotations

import builtins
import operator
from dataclasses import dataclass

from tangentx.analysis.types.kinds import Arr, Box, Kind
from tangentx.derive.checkpoint.places import Spot
from tangentx.derive.emit import SHADOW, VALUE, Emitter, item_at, mode
from tangentx.ir.keys import WHOLE
from tangentx.ir.nodes import Assign, Atom, For, Index, Key, Lit, Make, Op, Pop, Statement, Store, Var


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
