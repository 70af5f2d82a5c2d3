"""Builtins that inspect objects: `isinstance`, `type`, `hasattr`, `getattr` and the like, answered from kinds."""

from __future__ import annotations

import builtins
import functools
import operator
from typing import TYPE_CHECKING, Any

from tangentx.analysis.infer import assumptions, opaque_calls
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import external, value_class
from tangentx.analysis.infer.special_methods import defines, is_object
from tangentx.analysis.library.collection_classes import original
from tangentx.analysis.types.kinds import BOTTOM, MISSING, Arr, Bottom, Box, Either, Kind, Num, Obj, Some, holds_itself
from tangentx.analysis.types.optional_values import may_be_none
from tangentx.arrays.libraries import library_called
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import Apply, Assign, Atom, Attr, Block, Expr, If, Key, Lit, Op, Store, Var
from tangentx.ir.object_choices import classes_of

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


def _isinstance(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    a, b = kinds
    classes = b.value if isinstance(b, Obj) else None
    if isinstance(b, Box):
        items = [k.value for k in b.region.root().fields.values() if isinstance(k, Obj)]
        classes = tuple(items)
    if isinstance(b, Obj | Box) and not _are_classes(classes):
        return None
    if a == opaque_calls.UNKNOWN or may_be_none(a):
        return Op(builtins.isinstance, tuple(w.read(x)[0] for x in args)), Num(bool)
    if isinstance(a, Box) and len(classes_of(a.cls)) > 1 and classes is not None:
        answers = {issubclass(cls, classes) for cls in classes_of(a.cls)}
        if len(answers) > 1:
            return Op(builtins.isinstance, tuple(w.read(x)[0] for x in args)), Num(bool)
        return Lit(min(answers)), Num(bool, value=min(answers))
    cls = a.type if isinstance(a, Num) else _class_of(a) if isinstance(a, Arr) else original(getattr(a, "cls", None))
    if isinstance(a, Obj):
        cls = type(a.value)
    if isinstance(a, Bottom) or cls is None or classes is None or _either_way(a, cls, classes):
        return (Lit(None), BOTTOM) if isinstance(a, Bottom) else None
    assumptions.asked(w, a)
    answer = issubclass(cls, classes)
    return Lit(answer), Num(bool, value=answer)


def _are_classes(classes: Any) -> bool:
    """Whether these are what `isinstance` takes: classes, unions of them, tuples of both."""
    try:
        issubclass(object, classes)
    except TypeError:
        return False
    return True


def _either_way(kind: Kind, cls: type, classes: Any) -> bool:
    """Whether what may be of several types is of the classes as the one, and not as the other."""
    return any(issubclass(each, classes) != issubclass(cls, classes) for each in types_of(kind))


def types_of(kind: Kind) -> tuple[type, ...]:
    """The types that a number, or what may be an array or a number, may have; empty for all else."""
    if isinstance(kind, Arr):
        cls = _class_of(kind)
        return (cls, kind.dtype.type, bool, int, float, complex) if kind.loose else (cls,)
    return kind.exact if isinstance(kind, Num) else ()


def _class_of(kind: Arr) -> type:
    """The class of an array, which its library has."""
    cls: type = library_called(kind.library).array
    return cls


def _truth(w: Walker, args: tuple[Atom, ...], kinds: list[Kind], fn: Any) -> tuple[Expr, Kind] | None:
    """Asked at run time of what may be None, of an opaque object, and of a container that may hold itself: no sample
    can be made of one."""
    kind = kinds[0] if len(kinds) == 1 else BOTTOM
    plain = is_object(kind) and not any(defines(w, kind, name) for name in ("__bool__", "__len__"))
    boxed = isinstance(kind, Box) and (plain or kind.cls in (list, tuple, dict))
    unsampled = boxed and (may_be_none(kind) or holds_itself(kind))
    return (Op(fn, (w.read(args[0])[0],)), Num(bool)) if unsampled or isinstance(kind, Some) else None


def _hasattr(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    if not isinstance(kinds[0], Box | Some) or len(args) != 2:
        return None
    if isinstance(kinds[0], Box) and isinstance(kinds[1], Obj) and _lacks(w, kinds[0], kinds[1].value):
        return Lit(False), Num(bool, value=False)
    return Op(builtins.hasattr, tuple(w.read(a)[0] for a in args)), Num(bool)


def _lacks(w: Walker, kind: Box, name: Any) -> bool:
    """Whether no object of the kind has the attribute: nothing gives it to one, and its class has none.

    Objects of which some have attributes that others lack have those of them all among the fields.
    """
    classes, node = classes_of(kind.cls), kind.region.root()
    missing = all(w.program.member(cls, known) is MISSING for cls in classes for known in (name, "__getattr__"))
    return missing and is_object(kind) and name not in node.fields and isinstance(node.elt, Bottom)


def _getattr(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    name = kinds[1].value if len(args) > 1 and isinstance(kinds[1], Obj) else None
    if not isinstance(name, str) or len(args) > 3:
        return None
    if len(args) == 2:
        return w.walk(Attr(args[0], name))

    def build() -> Block:
        there, found = w.temporary(), w.temporary()
        taken = (Assign(found, Attr(args[0], name), w.span),)
        return (
            Assign(there, Apply(external(w, builtins.hasattr, "hasattr"), args[:2]), w.span),
            If(Var(there), taken, (Assign(found, args[2], w.span),), w.span),
            Assign(w.temporary(), Var(found), w.span),
        )

    return expanded(w, ("getattr", name), build)


def _setattr(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind]:
    if any(isinstance(kind, Bottom) for kind in kinds):
        return Lit(None), BOTTOM
    name = kinds[1].value if len(args) == 3 and isinstance(kinds[1], Obj) else None
    if not isinstance(name, str):
        raise UnsupportedSyntax(
            "the name of the attribute that is written is not known", w.span, "keep the values in a dict"
        )
    w.expand(("setattr", name), lambda: (Store(args[0], Key((Lit(name),), attribute=True), args[2], w.span),))
    return Lit(None), Obj(None)


def _type(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    if len(args) != 1:
        return None
    kind, types = kinds[0], types_of(kinds[0])
    if len(types) > 1 or may_be_none(kind) or (isinstance(kind, Box) and len(classes_of(kind.cls)) > 1):
        return Op(builtins.type, (w.read(args[0])[0],)), Some(type)
    assumptions.asked(w, kind)
    cls = kind.cls if isinstance(kind, Box) else types[0] if types else None
    return None if cls is None else w.read(external(w, cls, cls.__name__))


def _callable(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """A number or an array is not; what else is known has a class that says so."""
    kind = kinds[0] if len(kinds) == 1 else BOTTOM
    if isinstance(kind, Num | Arr) and not may_be_none(kind):
        return Lit(False), Num(bool, value=False)
    if value_class(kind) is not None or isinstance(kind, Either):
        return Lit(True), Num(bool, value=True)
    return None


ANSWERS: dict[Any, Any] = {
    builtins.isinstance: _isinstance,
    builtins.callable: _callable,
    **{fn: functools.partial(_truth, fn=fn) for fn in (bool, operator.not_, operator.truth)},
    builtins.type: _type,
    builtins.hasattr: _hasattr,
    builtins.getattr: _getattr,
    builtins.setattr: _setattr,
}
