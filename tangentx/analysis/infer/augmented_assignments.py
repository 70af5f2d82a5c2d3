"""Augmented assignment, lowered by the kind of the target: ``x op= y`` rebinds a number and writes into an array.

An array, a list, a dict and an object that says how are written, and all who hold them see it; the rest is bound anew.
"""

from __future__ import annotations

import operator
import types
from typing import TYPE_CHECKING, Any

from tangentx.analysis.infer import assumptions
from tangentx.analysis.infer.attribute_writes import demand_slot
from tangentx.analysis.infer.containers import check_cast, expanded
from tangentx.analysis.infer.special_methods import defines, is_object
from tangentx.analysis.library import container_methods
from tangentx.analysis.library.flat_iterator import is_flat
from tangentx.analysis.memory.ownership import other_holder
from tangentx.analysis.types.kinds import BOTTOM, Arr, Bottom, Box, Kind, Obj, Some
from tangentx.analysis.types.selection import fitted, item_kind
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.keys import WHOLE, attribute_of
from tangentx.ir.nodes import Assign, Augment, Augstore, Block, Call, Index, Key, Method, Op, Store, Var
from tangentx.ir.walk import statements

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

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
        w.expand(other[0], lambda: _by(s, *other[1]()))
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


def _by(s: Augstore, making: Block, key: Key) -> Block:
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
