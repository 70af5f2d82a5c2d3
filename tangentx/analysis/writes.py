"""Writes: augmented assignments taken apart, and the facts that a store, an append or a removal adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx.analysis import collections_, lists
from tangentx.analysis.containers import append_to, check_cast, demand_own
from tangentx.analysis.kinds import BOTTOM, MISSING, Arr, Bottom, Box, Kind, Num, Obj, is_inexact, varied
from tangentx.analysis.selection import item_kind, known_key, may_repeat, parts_of_tuple, unpacked
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Augment,
    Augstore,
    Block,
    Delete,
    Index,
    Key,
    Lit,
    Op,
    Store,
    Var,
)

if TYPE_CHECKING:
    from tangentx.analysis.infer import Walker
    from tangentx.analysis.regions import Region


def augment(w: Walker, s: Augment) -> None:
    """``target op= value``: an array is written, a number is bound anew."""
    _, kind = w.read(Var(s.target))
    _, value = w.read(s.value)
    if isinstance(kind, Arr) and not kind.loose and not isinstance(value, Bottom):
        check_cast(w, s.fn, kind, value)

        def build() -> Block:
            t = w.temporary()
            whole = Key((Lit(Ellipsis),))
            return (
                Assign(t, Op(s.fn, (Var(s.target), s.value)), s.span),
                Store(Var(s.target), whole, Var(t), s.span),
            )

        w.expand("array", build)
    elif isinstance(kind, Box) and kind.cls in (list, dict):
        collections_.augment(w, s, kind)
    else:
        if isinstance(kind, Arr) and w.program.final:
            demand_sole_holder(w, s.target, kind)
        w.expand("number", lambda: (Assign(s.target, Op(s.fn, (Var(s.target), s.value)), s.span),))


def demand_sole_holder(w: Walker, target: str, kind: Arr) -> None:
    """Refuses to take ``x += y`` for ``x = x + y`` where x may be an array that something else holds too.

    What may be a number or an array is a value here; as an array it would be written, and its other holders would see.
    """
    node = kind.region.root()
    for (_, tag), definition in w.instance.definitions.items():
        if definition.round < w.program.round - 1 or definition.name.startswith("%"):
            continue
        passed = definition.name == target and tag == ("param", target)
        if (definition.name != target or passed) and _holds(definition.kind, node, ()):
            other = "the caller" if passed else f"`{definition.name}`"
            raise UnsupportedSyntax(
                f"`{target}` may be a number or an array, and {other} may hold it too: only an array would be written",
                w.span,
                f"start with an array, such as `np.zeros_like(...)`, or write `{target} = {target} + ...`",
            )


def _holds(kind: Kind, region: Region, seen: tuple[Region, ...]) -> bool:
    """Whether a value of the kind may be, or hold, memory of the region."""
    if not isinstance(kind, Arr | Box):
        return False
    node = kind.region.root()
    if node is region:
        return True
    if isinstance(kind, Arr) or node in seen:
        return False
    return any(_holds(item, region, (*seen, node)) for item in (*node.fields.values(), node.elt))


def store(w: Walker, s: Store) -> None:
    """``base[key] = value``"""
    base, base_kind = w.read(s.base)
    key, parts = w.key(s.key)
    value, kind = w.read(s.value)
    if isinstance(base_kind, Bottom) or isinstance(kind, Bottom):
        return
    count = parts_of_tuple(w, base_kind, s.key, parts)
    if count is not None:
        w.expand(f"unpacked{count}", lambda: _by_parts(w, s, count))
        return
    if isinstance(base_kind, Arr) and isinstance(kind, Box) and kind.cls in (list, tuple):
        w.expand("listed", lambda: _store_list(w, s))
        return
    if isinstance(base_kind, Box) and base_kind.cls is list and len(parts) == 1 and isinstance(parts[0], tuple):
        lists.store_items(w, s)
        return
    store_into(w, base_kind, key, parts, kind)
    w.out.append(Store(base, key, value, s.span))


def _by_parts(w: Walker, s: Store, count: int) -> Block:
    taken, key = unpacked(w, s.key, count)
    return (*taken, Store(s.base, key, s.value, s.span))


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
        if isinstance(value, Box | Obj) or (isinstance(value, Num | Arr) and value_is_complex(value, base)):
            raise UnsupportedSyntax("this value cannot be stored in the array", w.span, "store a number or an array")
        return
    if isinstance(base, Box) and (base.cls in (list, dict) or key.attribute) and not key.many:
        base.region.mark("written")
        known = known_key(base, parts[0])
        if base.cls is dict and known is MISSING:
            base.region.mark("open")
            base.region.put_key(parts[0])
        if known is MISSING:
            base.region.put_any(value)
        else:
            base.region.put(known, value)
        return
    raise UnsupportedSyntax("this kind of value cannot be written by index", w.span, "use a list, a dict or an array")


def value_is_complex(value: Num | Arr, base: Arr) -> bool:
    """Whether a complex value would lose its imaginary part in a real array."""
    kind = value.dtype.kind if isinstance(value, Arr) else ("c" if issubclass(value.type, complex) else "")
    return kind == "c" and base.dtype.kind != "c"


def augstore(w: Walker, s: Augstore) -> None:
    """``base[key] op= value``: an element that is an array is written, another is replaced."""
    _, base = w.read(s.base)
    _, value = w.read(s.value)
    if isinstance(base, Bottom) or isinstance(value, Bottom):
        return
    if isinstance(base, Arr):
        check_cast(w, s.fn, base, value)

    def build() -> Block:
        old, new = w.temporary(), w.temporary()
        return (
            Assign(old, Index(s.base, s.key), s.span),
            Assign(new, Op(s.fn, (Var(old), s.value)), s.span),
            Store(s.base, s.key, Var(new), s.span),
        )

    def inner() -> Block:
        item = w.temporary()
        return (Assign(item, Index(s.base, s.key), s.span), Augment(item, s.fn, s.value, s.span))

    item = item_kind(w, base, w.key(s.key)[1]) if isinstance(base, Box) else BOTTOM
    if isinstance(item, Arr) and item.loose and w.program.final:
        raise UnsupportedSyntax(
            "this item may be a number or an array: only an array would be written in place",
            s.span,
            "start with an array, such as `np.zeros_like(...)`, or write `x[k] = x[k] + ...`",
        )
    w.expand("inner", inner) if isinstance(item, Arr) and not item.loose else w.expand("item", build)


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
    demand_own(w, base_kind)
    if not (isinstance(base_kind, Box) and (base_kind.cls in (list, dict) or key.attribute)) or key.many:
        raise UnsupportedSyntax("del of an item of this kind of value", s.span, "use a list or a dict")
    if base_kind.cls is list:
        lists.delete_items(w, s)
        return
    if isinstance(parts[0], tuple):
        raise UnsupportedSyntax("a slice of a dict", s.span, "give one key")
    base_kind.region.mark("written", "resized")
    w.out.append(Delete(base, key, s.span))
