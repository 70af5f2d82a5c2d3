"""What a subscript selects, as far as the kind of its key tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tangentx.analysis.types.kinds import MISSING, Arr, Box, Kind, Num, Obj, Top, located, varied
from tangentx.analysis.types.optional_values import as_indices, may_be_none
from tangentx.arrays.structures import is_record_class
from tangentx.errors import NotDifferentiable, UnsupportedSyntax
from tangentx.ir.nodes import Assign, Block, Index, Key, Lit, Make, Slice, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


def is_basic(parts: tuple[Any, ...]) -> bool:
    """Whether a key with parts of these kinds selects a view or an element, not a copy."""
    return not any(isinstance(k, Arr | Box) or (isinstance(k, Num) and is_boolean(k)) for k in parts)


def may_repeat(parts: tuple[Any, ...]) -> bool:
    """Whether a key with parts of these kinds may select an element twice."""
    return any(isinstance(k, Box) or (isinstance(k, Arr) and k.dtype.kind != "b") for k in parts)


def is_boolean(kind: Num) -> bool:
    """Whether the number is a boolean."""
    return kind.type in (bool, np.bool_)


def known_key(base: Box, part: Any) -> Any:
    """The key itself where it is known, counted from the front; else MISSING."""
    if isinstance(part, Obj) and isinstance(part.value, str | bytes):
        return part.value
    if isinstance(part, Num) and part.value is not MISSING and not isinstance(part.value, bool):
        node = base.region.root()
        if part.value < 0 and base.cls is not dict:
            return part.value + len(node.fields) if not node.open else MISSING
        return part.value
    return MISSING


def demand_key(w: Walker, base: Kind, part: Any) -> None:
    """Refuses to find an item of a dict by what is differentiated: equal numbers of unlike histories are one key."""
    if not (isinstance(base, Box) and issubclass(base.cls, dict)) or isinstance(part, tuple):
        return
    compared = isinstance(part, Num | Arr) or isinstance(part, Box) and is_record_class(part.cls)
    if compared and varied(part):
        raise NotDifferentiable(
            "a value that is differentiated is a key of a dict, where an equal one of another history is the same key",
            w.span,
            "use a whole number or a string, such as the position of the value, or leave the table out",
        )


Fitted: TypeAlias = tuple[Any, Callable[[], tuple[Block, Key]]]


def fitted(w: Walker, base: Kind, key: Key, parts: tuple[Any, ...]) -> Fitted | None:
    """The key as the base takes it, with the statements that make it; None where that is the key as it stands.

    An array takes the parts of a tuple, a dict takes several parts as one tuple.
    """
    if isinstance(base, Box) and base.cls is dict and key.many:
        if any(isinstance(part, tuple) for part in parts):
            raise UnsupportedSyntax("a dict has no slices", w.span, "give one key")
        return "packed", lambda: _packed(w, key)
    if isinstance(base, Arr) and any(map(may_be_none, parts)):
        return "indices", lambda: as_indices(w, key, parts)
    part = parts[0] if len(parts) == 1 and not key.many else None
    if not (isinstance(base, Arr) and isinstance(part, Box) and issubclass(part.cls, tuple)):
        return None
    node = part.region.root()
    if node.open or not node.fields:
        raise UnsupportedSyntax("an array is indexed with a tuple of unknown length", w.span, "write the indices out")
    count = len(node.fields)
    return f"unpacked{count}", lambda: _unpacked(w, key, count)


def _packed(w: Walker, key: Key) -> tuple[Block, Key]:
    parts = tuple(part for part in key.parts if not isinstance(part, Slice))
    made = Assign(w.temporary(), Make(tuple, parts), w.span)
    return (made,), Key((Var(made.target),))


def _unpacked(w: Walker, key: Key, count: int) -> tuple[Block, Key]:
    held = key.parts[0]
    assert not isinstance(held, Slice)
    names = [w.temporary() for _ in range(count)]
    taken = tuple(Assign(t, Index(held, Key((Lit(i),))), w.span) for i, t in enumerate(names))
    return taken, Key(tuple(Var(t) for t in names), True)


def item_kind(w: Walker, base: Box, parts: tuple[Any, ...]) -> Kind:
    """The kind of one item of a container."""
    if len(parts) != 1 or isinstance(parts[0], tuple):
        raise UnsupportedSyntax("this key does not select one item", w.span, "index with one number or one string")
    demand_key(w, base, parts[0])
    known = known_key(base, parts[0])
    if known is MISSING:
        base.region.mark("indexed")
    kind = base.region.any() if known is MISSING else base.region.get(known)
    if isinstance(kind, Top):
        raise located(kind, w.span)
    demand_alike(w, base, (kind,))
    return kind


def slots_alike(box: Box) -> bool:
    """Whether all slots of a container are kept alike: it is read by unknown keys, or grows or shrinks."""
    node = box.region.root()
    return node.indexed or (box.cls is list and (node.open or node.resized))


def demand_alike(w: Walker, box: Box, items: Iterable[Kind]) -> None:
    """Refuses items that vary in a container whose slots must be alike and have nothing in common."""
    if w.program.final and slots_alike(box) and any(map(varied, items)):
        joined = box.region.any()
        if isinstance(joined, Top):
            raise located(joined, w.span)


def is_missing(w: Walker, item: Index) -> bool:
    """Whether a container certainly has no such item, so that reading it raises."""
    _, base = w.read(item.base)
    _, parts = w.key(item.key)
    if not isinstance(base, Box) or len(parts) != 1 or isinstance(parts[0], tuple):
        return False
    node, known = base.region.root(), known_key(base, parts[0])
    return known is not MISSING and not node.open and known not in node.fields
