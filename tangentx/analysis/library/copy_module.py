"""`copy.copy`, `copy.deepcopy` and `dataclasses.replace`, expanded into explicit copies."""

from __future__ import annotations

import copy
import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer import opaque_calls
from tangentx.analysis.infer.arguments import Misfit, Named
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import external
from tangentx.analysis.infer.objects import construct
from tangentx.analysis.infer.special_methods import defines, is_object
from tangentx.analysis.types.kinds import BOTTOM, Arr, Bottom, Box, Kind, Region, Some, describe
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import Assign, Atom, Attr, Block, Expr, Lit, Make, Method, Op, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


def _shallow(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """``copy.copy(x)``: a new object of the same items."""
    (x,) = args
    _, kind = w.read(x)
    if isinstance(kind, Box) and kind.cls in (list, dict):
        return w.walk(Op(list, (x,)) if kind.cls is list else Method(x, "copy", ()))
    if isinstance(kind, Box) and is_object(kind) and not issubclass(kind.cls, tuple):
        if defines(w, kind, "__copy__"):
            return w.walk(Method(x, "__copy__", ()))
        return _same_attributes(w, x, kind)
    return _plain(w, copy.copy, x, kind)


def _deep(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """``copy.deepcopy(x)``, of a structure that holds nothing twice."""
    if len(args) != 1 or kwargs:
        raise UnsupportedSyntax("deepcopy with a memo is not differentiated", w.span, "give it the object alone")
    _, kind = w.read(args[0])
    if isinstance(kind, Box):
        if defines(w, kind, "__deepcopy__"):
            raise UnsupportedSyntax(
                f"`__deepcopy__` of `{kind.cls.__name__}` is not differentiated", w.span, "call a method of your own"
            )
        return expanded(w, ("deep", args[0], _may_repeat(kind)), lambda: _copied_whole(w, args[0], _may_repeat(kind)))
    return _plain(w, copy.deepcopy, args[0], kind)


def _copied_whole(w: Walker, x: Atom, checked: bool) -> Block:
    check = (Assign(w.temporary(), Op(arrays.apart, (x,)), w.span),) if checked else ()
    return (*check, Assign(w.temporary(), Op(arrays.entry_copy, (x,)), w.span))


def _may_repeat(kind: Kind, met: set[Region] | None = None) -> bool:
    """Whether an array or container may stand twice in what a value of the kind holds."""
    if not isinstance(kind, Arr | Box):
        return False
    met = set() if met is None else met
    node = kind.region.root()
    if node in met:
        return True
    met.add(node)
    if isinstance(kind, Arr):
        return False
    items = (*node.fields.values(), node.elt)
    many = node.open and any(isinstance(item, Arr | Box) for item in items)
    return many or any(_may_repeat(item, met) for item in items)


def _plain(w: Walker, fn: Any, x: Atom, kind: Kind) -> tuple[Expr, Kind]:
    """Of an array, of what never changes, and of what is not known."""
    if isinstance(kind, Arr):
        return w.walk(Op(np.copy, (x,)))
    if isinstance(kind, Some):
        return opaque_calls.call(w, external(w, fn, fn.__name__), (x,), ())
    return w.read(x)


def _same_attributes(w: Walker, x: Atom, kind: Box) -> tuple[Expr, Kind]:
    node = kind.region.root()
    if node.open:
        raise UnsupportedSyntax(
            f"a copy of {describe(kind)} whose attributes vary is not differentiated", w.span, "make a new object"
        )
    names = tuple(node.fields)

    def build() -> Block:
        taken = tuple(Assign(w.temporary(), Attr(x, name), w.span) for name in names)
        made = Make(kind.cls, tuple(Var(s.target) for s in taken), names)
        return (*taken, Assign(w.temporary(), made, w.span))

    return expanded(w, ("copied", x, names), build)


def _replaced(w: Walker, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind]:
    """``dataclasses.replace(x, name=value)``: made anew by its class, the other fields from x."""
    (x,) = args
    _, kind = w.read(x)
    if isinstance(kind, Bottom):
        return Lit(None), BOTTOM
    if not (isinstance(kind, Box) and dataclasses.is_dataclass(kind.cls)):
        raise Misfit("replace() should be called on dataclass instances")
    given = dict(kwargs)
    names = [f.name for f in dataclasses.fields(kind.cls) if f.init and f.name not in given]
    tag = ("replaced", x, tuple(names))
    w.expand(tag, lambda: tuple(Assign(w.temporary(), Attr(x, name), w.span) for name in names))
    taken = [s.target for s in w.instance.expansions[id(w.statement), tag] if isinstance(s, Assign)]
    kept = tuple((name, Var(target)) for name, target in zip(names, taken, strict=True))
    return construct(w, kind.cls, (), (*kept, *kwargs))


WRITTEN = ((copy.copy, _shallow), (copy.deepcopy, _deep), (dataclasses.replace, _replaced))
"""What writes each of these calls out."""
