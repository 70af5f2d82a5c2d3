"""Attribute assignment: plain attributes, properties with a setter, and `__setitem__` of the object's class."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

import numpy as np

from tangentx.analysis.infer import object_classes, writes
from tangentx.analysis.infer.special_methods import defines, is_object, item_method
from tangentx.analysis.library import flat_iterator
from tangentx.analysis.library.out_argument import let
from tangentx.analysis.memory.ownership import other_holder
from tangentx.analysis.types.kinds import Arr, Bottom, Box, Kind, describe
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.keys import WHOLE, attribute_of
from tangentx.ir.nodes import Apply, Assign, Attr, Ext, Key, Lit, Op, Store, Var
from tangentx.ir.object_choices import classes_of

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

PARTS = ("real", "imag", "flat", "shape")


def store_part(w: Walker, s: Store, kind: Arr) -> None:
    """``a.real = value`` and its like. Raises UnsupportedSyntax."""
    name = attribute_of(s.key)
    if name == "flat":
        flat_iterator.store_row(w, s.base, let(w, "all", Op(slice, (Lit(None), Lit(None), Lit(None)))), s.value)
    elif name == "shape":
        _reshape(w, s, kind)
    elif name == "imag" and kind.dtype.kind != "c":
        raise UnsupportedSyntax("the imaginary part of an array of reals is written", w.span, "make the array complex")
    else:
        part = let(w, "part", Attr(s.base, name))
        w.expand("whole", lambda: (Store(part, WHOLE, s.value, s.span),))


def _reshape(w: Walker, s: Store, kind: Arr) -> None:
    """The name is bound to a view of the new shape, where nothing else has the array."""
    if not isinstance(s.base, Var) or s.base.name.startswith("%"):
        raise UnsupportedSyntax("the shape of an array without a name is set", w.span, "write `a = a.reshape(...)`")
    target = s.base.name
    other = other_holder(w, target, kind, caller=w.instance is not w.program.met[0]) if w.program.final else ""
    if other:
        raise UnsupportedSyntax(
            f"the shape of `{target}` is set, and {other} may hold the array too",
            w.span,
            f"write `{target} = {target}.reshape(...)`",
        )
    w.expand("shape", lambda: (Assign(target, Op(np.reshape, (s.base, s.value)), s.span),))


def store(w: Walker, s: Store) -> None:
    """``base[key] = value`` and ``base.name = value``"""
    _, kind = w.read(s.base)
    if flat_iterator.is_flat(kind):
        flat_iterator.store(w, s.base, s.key, s.value)
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
        raise UnsupportedSyntax(
            "an item of a tuple is assigned to", w.span, "read the item into a variable, and change that"
        )


def _setter(w: Walker, kind: Kind, name: str) -> Ext | None:
    """What is called where an attribute is written; None where the object just takes it. Raises UnsupportedSyntax."""
    if not (isinstance(kind, Box) and is_object(kind)) or issubclass(kind.cls, tuple):
        raise UnsupportedSyntax(
            f"attribute `{name}` of {describe(kind)} is written", w.span, "write a variable, or a dict"
        )
    if object_classes.is_mixed(kind):
        if any(_setter(w, Box(cls, kind.region), name) is not None for cls in classes_of(kind.cls)):
            raise UnsupportedSyntax(f"`{name}` is a property of {describe(kind)}", w.span, "write it by a method")
        return None
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
