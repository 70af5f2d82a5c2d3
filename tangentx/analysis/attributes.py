"""Writes to objects: attributes, properties with a setter, and items where the class has `__setitem__`."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from tangentx.analysis import flats, writes
from tangentx.analysis.kinds import Arr, Bottom, Box, Kind, describe
from tangentx.analysis.parts import PARTS, store_part
from tangentx.analysis.protocols import defines, is_object, item_method
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.keys import attribute_of
from tangentx.ir.nodes import Apply, Assign, Ext, Key, Store

if TYPE_CHECKING:
    from tangentx.analysis.infer import Walker


def store(w: Walker, s: Store) -> None:
    """``base[key] = value`` and ``base.name = value``"""
    _, kind = w.read(s.base)
    if flats.is_flat(kind):
        flats.store(w, s.base, s.key, s.value)
        return
    if s.key.attribute and isinstance(kind, Arr) and attribute_of(s.key) in PARTS:
        store_part(w, s, kind)
        return
    if s.key.attribute and not isinstance(kind, Bottom):
        setter = _setter(w, kind, attribute_of(s.key))
        if setter is not None:
            w.expand(("setter", setter), lambda: (Assign(w.temporary(), Apply(setter, (s.base, s.value)), s.span),))
            return
    elif defines(w, kind, "__setitem__"):
        item_method(w, "__setitem__", s.base, s.key, s.value)
        return
    writes.store(w, s)


def demand_slot(w: Walker, kind: Kind, key: Key) -> None:
    """Refuses a base whose items or attributes Python would not set, although what is in them can be written."""
    if key.attribute:
        _setter(w, kind, attribute_of(key))
    elif isinstance(kind, Box) and issubclass(kind.cls, tuple):
        raise UnsupportedSyntax("an assignment to an item of a tuple", w.span, "read the item into a variable first")


def _setter(w: Walker, kind: Kind, name: str) -> Ext | None:
    """What is called where an attribute is written; None where the object just takes it. Raises UnsupportedSyntax."""
    if not (isinstance(kind, Box) and is_object(kind)) or issubclass(kind.cls, tuple):
        raise UnsupportedSyntax(
            f"attribute `{name}` of {describe(kind)} is written", w.span, "write a variable, or a dict"
        )
    found = w.program.member(kind.cls, name)
    if isinstance(found, property) and found.fset is not None:
        key = ("setter", kind.cls, name)
        setter: Ext = w.instance.backs.setdefault(key, Ext(name, found.fset, ("object",), found))
        return setter
    plain = isinstance(found, types.MemberDescriptorType) or not hasattr(found, "__set__")
    if w.program.member(kind.cls, "__setattr__") is not object.__setattr__ or not plain:
        raise UnsupportedSyntax(
            f"`{kind.cls.__name__}` has a say in how `{name}` is written, or is frozen", w.span, "make a new object"
        )
    return None
