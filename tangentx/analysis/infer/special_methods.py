"""Special methods: what an object's class defines for `__getitem__`, `__add__` and the like."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import value_class
from tangentx.analysis.types.kinds import Box, Kind
from tangentx.ir.functions import classes_of
from tangentx.ir.nodes import Assign, Atom, Block, Expr, Key, Make, Method, Op, Slice, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


def is_object(kind: Kind) -> bool:
    """Whether values of the kind are objects of a class of the user's, named tuples among them."""
    return isinstance(kind, Box) and kind.cls not in (list, tuple, dict) and value_class(kind) is None


def defined(w: Walker, kind: Kind, name: str) -> Any:
    """The method of the user's that the class of an object, or the first of its classes, has under a name, decorated by
    `differentiate` or not; None for none."""
    if not (isinstance(kind, Box) and is_object(kind)):
        return None
    found = [w.program.member(cls, name) for cls in classes_of(kind.cls)]
    return next((each for each in found if is_method(each)), None)


def is_method(found: Any) -> bool:
    """Whether what a class has under a name is a method of the user's."""
    return isinstance(found, types.FunctionType) or hasattr(found, "__tangentx_target__")


def defines(w: Walker, kind: Kind, name: str) -> bool:
    """Whether an object's class has a method of the user's under a special name."""
    return defined(w, kind, name) is not None


def item_method(w: Walker, name: str, base: Atom, key: Key, *value: Atom) -> tuple[Expr, Kind]:
    """``base[key]`` where the class says what that is, and ``base[key] = value``."""

    def build() -> Block:
        out: list[Assign] = []
        parts: list[Atom] = []
        for part in key.parts:
            if isinstance(part, Slice):
                out.append(Assign(w.temporary(), Op(slice, (part.start, part.stop, part.step)), w.span))
                part = Var(out[-1].target)
            parts.append(part)
        if key.many:
            out.append(Assign(w.temporary(), Make(tuple, tuple(parts)), w.span))
            parts = [Var(out[-1].target)]
        return (*out, Assign(w.temporary(), Method(base, name, (*parts, *value)), w.span))

    return expanded(w, (name, base), build)
