"""Writes: the facts that a store, an append or a removal adds to the analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx.analysis.infer.containers import append_to, demand_own
from tangentx.analysis.library import container_methods
from tangentx.analysis.memory import overlapping_stores
from tangentx.analysis.types.kinds import (
    MISSING,
    Arr,
    Bottom,
    Box,
    Kind,
    Num,
    Obj,
    describe,
    dtype_of,
    is_inexact,
    varied,
)
from tangentx.analysis.types.selection import demand_alike, demand_key, fitted, known_key, may_repeat
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Block,
    Delete,
    Key,
    Op,
    Store,
    Var,
)

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


def store(w: Walker, s: Store) -> None:
    """``base[key] = value``"""
    base, base_kind = w.read(s.base)
    key, parts = w.key(s.key)
    value, kind = w.read(s.value)
    if isinstance(base_kind, Bottom) or isinstance(kind, Bottom):
        return
    other = fitted(w, base_kind, s.key, parts)
    if other is not None:
        w.expand(other[0], lambda: _by(s, *other[1]()))
        return
    if isinstance(base_kind, Arr) and isinstance(kind, Box) and kind.cls in (list, tuple):
        w.expand("listed", lambda: _store_list(w, s))
        return
    if isinstance(base_kind, Box) and base_kind.cls is list and len(parts) == 1 and isinstance(parts[0], tuple):
        container_methods.store_items(w, s)
        return
    store_into(w, base_kind, key, parts, kind)
    overlapping_stores.ask(w, s, base_kind, kind, parts)
    w.out.append(Store(base, key, value, s.span))


def _by(s: Store, making: Block, key: Key) -> Block:
    return (*making, Store(s.base, key, s.value, s.span))


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
        if w.program.final and any(map(varied, (base, value))) and not _holds(base, value):
            hint = "make the array one of the same dtype in every branch: `np.zeros(n)`, `x.astype(float)`"
            raise UnsupportedSyntax(f"what is written into is {describe(base)}, which may cut it off", w.span, hint)
        if isinstance(value, Box | Obj) or (isinstance(value, Num | Arr) and value_is_complex(value, base)):
            raise UnsupportedSyntax("this value cannot be stored in the array", w.span, "store a number or an array")
        return
    if isinstance(base, Box) and (base.cls in (list, dict) or key.attribute) and not key.many:
        demand_key(w, base, parts[0])
        base.region.mark("written")
        known = known_key(base, parts[0])
        if base.cls is dict and known is MISSING:
            base.region.mark("open")
            base.region.put_key(parts[0])
        if known is MISSING:
            base.region.mark("indexed")
            base.region.put_any(value)
            demand_alike(w, base, (value,))
        else:
            base.region.put(known, value)
        return
    if isinstance(base, Arr):
        does = "shares memory with another" if w.program.derived else "is written into"
        message = f"this is an array that {does} in one branch, and a number in another"
        raise UnsupportedSyntax(message, w.span, "use an array in both: `np.zeros(1)` for 0.0, or a name for each")
    raise UnsupportedSyntax("this kind of value cannot be written by index", w.span, "use a list, a dict or an array")


def _holds(base: Arr, value: Kind) -> bool:
    """Whether each dtype that an array may have takes a value as it is; of a single one that is known elsewhere."""
    if not base.dtypes or not isinstance(value, Num | Arr):
        return True
    order = "fc".find
    return all(order(dtype.kind) >= order(dtype_of(value).kind) for dtype in base.dtypes)


def value_is_complex(value: Num | Arr, base: Arr) -> bool:
    """Whether a complex value would lose its imaginary part in a real array."""
    kind = value.dtype.kind if isinstance(value, Arr) else ("c" if issubclass(value.type, complex) else "")
    return kind == "c" and base.dtype.kind != "c"


def accumulate(w: Walker, s: Accumulate) -> None:
    """``base[key] += value`` where repeats of an index add."""
    base, base_kind = w.read(s.base)
    key, parts = w.key(s.key)
    value, kind = w.read(s.value)
    if isinstance(base_kind, Bottom) or isinstance(kind, Bottom):
        return
    store_into(w, base_kind, key, parts, kind)
    w.out.append(Accumulate(base, key, value, s.span, may_repeat(parts)))


def append(w: Walker, s: Append) -> None:
    """``base.append(value)``"""
    base, base_kind = w.read(s.base)
    value, kind = w.read(s.value)
    if isinstance(base_kind, Bottom):
        return
    append_to(w, base_kind, kind)
    w.out.append(Append(base, value, s.span))


def delete(w: Walker, s: Delete) -> None:
    """``del base[key]``"""
    base, base_kind = w.read(s.base)
    key, parts = w.key(s.key)
    if isinstance(base_kind, Bottom):
        return
    other = fitted(w, base_kind, s.key, parts)
    if other is not None:
        w.expand(other[0], lambda: _without(s, *other[1]()))
        return
    demand_own(w, base_kind)
    if not (isinstance(base_kind, Box) and (base_kind.cls in (list, dict) or key.attribute)) or key.many:
        raise UnsupportedSyntax("del of an item of this kind of value", s.span, "use a list or a dict")
    if base_kind.cls is list:
        container_methods.delete_items(w, s)
        return
    if isinstance(parts[0], tuple):
        raise UnsupportedSyntax("a slice of a dict", s.span, "give one key")
    demand_key(w, base_kind, parts[0])
    base_kind.region.mark("written", "resized")
    w.out.append(Delete(base, key, s.span))


def _without(s: Delete, making: Block, key: Key) -> Block:
    return (*making, Delete(s.base, key, s.span))
