"""Writes: stores, attribute assignment and augmented assignment, and the facts that they add to the analysis."""

from __future__ import annotations

import operator
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx.analysis.infer import assumptions, object_classes
from tangentx.analysis.infer.containers import append_to, check_cast, demand_own, expanded
from tangentx.analysis.infer.special_methods import defines, is_object, item_method
from tangentx.analysis.library import container_methods, flat_iterator
from tangentx.analysis.library.flat_iterator import is_flat
from tangentx.analysis.library.out_argument import let
from tangentx.analysis.memory import overlapping_stores
from tangentx.analysis.memory.ownership import other_holder
from tangentx.analysis.types.kinds import (
    BOTTOM,
    MISSING,
    Arr,
    Bottom,
    Box,
    Kind,
    Num,
    Obj,
    Some,
    describe,
    dtype_of,
    is_inexact,
    varied,
)
from tangentx.analysis.types.selection import demand_alike, demand_key, fitted, item_kind, known_key, may_repeat
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.functions import classes_of
from tangentx.ir.nodes import (
    WHOLE,
    Accumulate,
    Append,
    Apply,
    Assign,
    Attr,
    Augment,
    Augstore,
    Block,
    Call,
    Delete,
    Ext,
    Index,
    Key,
    Lit,
    Method,
    Op,
    Store,
    Var,
    attribute_of,
)
from tangentx.ir.walk import statements

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


# Writes: the facts that a store, an append or a removal adds to the analysis.


def store_item(w: Walker, s: Store) -> None:
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


# Attribute assignment: plain attributes, properties with a setter, and `__setitem__` of the object's class.

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
    store_item(w, s)


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


# Augmented assignment, lowered by the kind of the target: ``x op= y`` rebinds a number and writes into an array.
#
# An array, a list, a dict and an object that says how are written, and all who hold them see it; the rest is bound
# anew.

IN_PLACE: dict[Any, str] = {
    operator.add: "__iadd__", operator.sub: "__isub__", operator.mul: "__imul__", operator.truediv: "__itruediv__",
    operator.floordiv: "__ifloordiv__", operator.mod: "__imod__", operator.pow: "__ipow__",
    operator.matmul: "__imatmul__", operator.and_: "__iand__", operator.or_: "__ior__", operator.xor: "__ixor__",
    operator.lshift: "__ilshift__", operator.rshift: "__irshift__",
}  # fmt: skip
"""What a class calls its own way to do ``x op= y``, by the operator."""


def augment(w: Walker, s: Augment) -> None:
    """``target op= value``"""
    _, kind = w.read(Var(s.target))
    _, value = w.read(s.value)
    if isinstance(kind, Arr) and not kind.loose and not isinstance(value, Bottom):
        check_cast(w, s.fn, kind, value)
        assumptions.asked(w, kind)
        w.expand("array", lambda: _whole(s, w.temporary()))
    elif isinstance(kind, Box) and kind.cls in (list, dict):
        container_methods.augment(w, s, kind)
    elif not _has_its_way(w, kind, s.fn) or not _by_method(w, s, kind):
        if isinstance(kind, Arr) and w.program.final:
            demand_sole_holder(w, s.target, kind)
        w.expand("number", lambda: (Assign(s.target, Op(s.fn, (Var(s.target), s.value)), s.span),))


def _whole(s: Augment, t: str) -> Block:
    """All of an array is written."""
    made = Assign(t, Op(s.fn, (Var(s.target), s.value)), s.span)
    return (made, Store(Var(s.target), WHOLE, Var(t), s.span))


def _has_its_way(w: Walker, kind: Kind, fn: Any) -> bool:
    """Whether the class of an object defines the augmented assignment."""
    name = IN_PLACE[fn]
    return hasattr(_class(kind), name) if isinstance(kind, Some | Obj) else defines(w, kind, name)


def _by_method(w: Walker, s: Augment, kind: Kind) -> bool:
    """Lets the class of the object do it and binds what it gives; False if that is NotImplemented."""
    tag = ("in place", s.target)
    name = IN_PLACE[s.fn]
    call = Method(Var(s.target), name, (s.value,))
    _, given = expanded(w, tag, lambda: (Assign(w.temporary(), call, s.span),))
    if given == Obj(NotImplemented):
        return False
    if isinstance(kind, Box) or isinstance(getattr(_class(kind), name), types.FunctionType):
        (made,) = w.instance.expansions[id(w.statement), tag]
        assert isinstance(made, Assign)
        w.expand("given", lambda: (Assign(s.target, Var(made.target), s.span),))
    # Else the object is a set or its like, which gives itself.
    return True


def _class(kind: Kind) -> type:
    assert isinstance(kind, Some | Obj)
    return kind.cls if isinstance(kind, Some) else type(kind.value)


def demand_sole_holder(w: Walker, target: str, kind: Arr) -> None:
    """Refuses to take ``x += y`` for ``x = x + y`` where x may be an array that something else holds too.

    What may be a number or an array is a value here; as an array it would be written, and its other holders would see.
    """
    other = other_holder(w, target, kind)
    if other:
        what, name = ("what is augmented", "x") if target.startswith("%") else (f"`{target}`", target)
        raise UnsupportedSyntax(
            f"{what} may be a number or an array, and {other} may hold it too: only an array would change in place",
            w.span,
            f"start with an array, such as `np.zeros_like(...)`, or write `{name} = {name} + ...`",
        )


def augstore(w: Walker, s: Augstore) -> None:
    """``base[key] op= value`` and ``base.name op= value``: an item that can be written is, and stays; another is
    replaced."""
    _, base = w.read(s.base)
    _, value = w.read(s.value)
    if isinstance(base, Bottom) or isinstance(value, Bottom):
        return
    if s.old is not None and _ran_since(w, s.old):
        old = s.old
        w.expand("old", lambda: (Augment(old.name, s.fn, s.value, s.span), Store(s.base, s.key, old, s.span)))
        return
    if isinstance(base, Arr):
        check_cast(w, s.fn, base, value)
    parts = w.key(s.key)[1]
    row = is_flat(base)
    other = fitted(w, base, s.key, parts) if not row else None
    if other is not None:
        w.expand(other[0], lambda: _augmented_by(s, *other[1]()))
        return
    if is_object(base) and not row and not _holds_item(base, s.key):
        w.expand("object", lambda: _through(w, s, back=True))
        return
    item = item_kind(w, base, parts) if isinstance(base, Box) and not row else BOTTOM
    if isinstance(item, Arr) and item.loose and w.program.final:
        raise UnsupportedSyntax(
            "this item may be a number or an array: only an array would change in place",
            s.span,
            "start with an array, such as `np.zeros_like(...)`, or write `x[k] = x[k] + ...`",
        )
    if (isinstance(item, Arr) and not item.loose) or (isinstance(item, Box) and item.cls in (list, dict)):
        demand_slot(w, base, s.key)
        w.expand("inner", lambda: _through(w, s, back=False))
    elif _has_its_way(w, item, s.fn):
        w.expand("object", lambda: _through(w, s, back=True))
    else:
        w.expand("item", lambda: _replaced(w, s))


def _ran_since(w: Walker, old: Var) -> bool:
    """Whether code of the user's runs after `old` was read, which then counts; else the read is taken away."""
    read, _ = w.read(old)
    at = next((i for i, s in enumerate(w.out) if isinstance(s, Assign) and Var(s.target) == read), None)
    if at is None or any(isinstance(s, Assign) and isinstance(s.value, Call) for s in statements(tuple(w.out[at:]))):
        return True
    del w.out[at]
    return False


def _augmented_by(s: Augstore, making: Block, key: Key) -> Block:
    return (*making, Augstore(s.base, key, s.fn, s.value, s.span))


def _holds_item(base: Kind, key: Key) -> bool:
    """Whether the key names an attribute that the object has, rather than what its class makes of the key."""
    return isinstance(base, Box) and key.attribute and attribute_of(key) in base.region.root().fields


def _through(w: Walker, s: Augstore, back: bool) -> Block:
    """The item is read, augmented as a variable, and stored again where that may be another one."""
    item = w.temporary()
    read = Assign(item, Index(s.base, s.key), s.span)
    stored = (Store(s.base, s.key, Var(item), s.span),) if back else ()
    return (read, Augment(item, s.fn, s.value, s.span), *stored)


def _replaced(w: Walker, s: Augstore) -> Block:
    old, new = w.temporary(), w.temporary()
    return (
        Assign(old, Index(s.base, s.key), s.span),
        Assign(new, Op(s.fn, (Var(old), s.value)), s.span),
        Store(s.base, s.key, Var(new), s.span),
    )
