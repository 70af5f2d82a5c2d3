"""`_replace` and `_make` of named tuples, expanded into a new tuple of its fields."""

from __future__ import annotations

import collections
import types
from typing import TYPE_CHECKING, Any

from tangentx.analysis.infer.arguments import Named
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.infer.functions import external
from tangentx.analysis.infer.objects import only_gathers
from tangentx.analysis.types.kinds import BOTTOM, Bottom, Box, Kind
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import Apply, Assign, Atom, Block, Expr, Index, Key, Lit, Make, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

_PATTERN: Any = collections.namedtuple("_PATTERN", "field")
_REPLACE = _PATTERN._replace.__code__
_MAKE = vars(_PATTERN)["_make"].__func__.__code__
"""Code that all named tuples share, whose functions are each class's own."""


def call(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """The call of `fn` if that is one of these methods, as its class has it; else None."""
    code = fn.__code__ if isinstance(fn, types.FunctionType) else None
    if code is _REPLACE and len(args) == 1:
        return _replaced(w, args[0], kwargs)
    if code is _MAKE and len(args) == 2 and not kwargs:
        return _made(w, *args)
    return None


def _replaced(w: Walker, x: Atom, kwargs: Named) -> tuple[Expr, Kind]:
    """``x._replace(name=value)``: the items in their order, some of them new."""
    kind = w.read(x)[1]
    if isinstance(kind, Bottom):
        return Lit(None), BOTTOM
    assert isinstance(kind, Box)
    cls: Any = kind.cls
    given = dict(kwargs)
    if cls._make.__func__.__code__ is not _MAKE:
        message = f"`_replace` of `{cls.__name__}`, which has a `_make` of its own, is not differentiated"
        raise UnsupportedSyntax(message, w.span, "call the class with all fields")
    unknown = [name for name in given if name not in cls._fields]
    if unknown:
        raise UnsupportedSyntax(f"`{cls.__name__}` has no field `{unknown[0]}`", w.span, "check the name")

    def build() -> Block:
        places = {name: i for i, name in enumerate(cls._fields) if name not in given}
        kept = {name: Assign(w.temporary(), Index(x, Key((Lit(i),))), w.span) for name, i in places.items()}
        items = tuple(given[name] if name in given else Var(kept[name].target) for name in cls._fields)
        return (*kept.values(), Assign(w.temporary(), Make(cls, items), w.span))

    return expanded(w, ("replaced", x, tuple(given)), build)


def _made(w: Walker, cls: Atom, items: Atom) -> tuple[Expr, Kind]:
    """``cls._make(items)``: a call of the class with the items, as long as that only makes a tuple."""
    kind = w.read(cls)[1]
    owner: Any = getattr(kind, "value", None)
    if not isinstance(owner, type) or not only_gathers(owner):
        raise UnsupportedSyntax("`_make` of this class is not differentiated", w.span, "call the class with all fields")
    return w.walk(Apply(external(w, owner, owner.__name__), (items,), (), (0,)))
