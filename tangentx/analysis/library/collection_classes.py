"""Classes of Python's `collections`, and what represents them inside a derivative."""

from __future__ import annotations

import builtins
import collections
from typing import TYPE_CHECKING, Any

from tangentx import arrays
from tangentx.analysis.infer.arguments import Named
from tangentx.analysis.infer.objects import construct
from tangentx.analysis.library.out_argument import let
from tangentx.analysis.types.kinds import Box, Kind
from tangentx.analysis.types.primitives import hashable
from tangentx.ir.nodes import Atom, Attr, Expr, Method, Var, sequence

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

_NAMES = "all any dict enumerate list max min set sorted sum tuple"
_DOUBLES: dict[Any, type] = {collections.deque: arrays.Deque, collections.defaultdict: arrays.DefaultDict}
_OVER_ITEMS = frozenset((sequence, *(getattr(builtins, name) for name in _NAMES.split())))
_ORIGINALS = {double: original for original, double in _DOUBLES.items()}


def made(w: Walker, cls: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """An object of what stands for the class; None for a class that nothing stands for."""
    double = _DOUBLES.get(cls) if isinstance(cls, type) else None
    return construct(w, double, args, kwargs) if double is not None else None


def is_double(kind: Kind) -> bool:
    """Whether values of the kind stand for objects of another class."""
    return isinstance(kind, Box) and kind.cls in _ORIGINALS


def original(cls: Any) -> Any:
    """The class that the program means."""
    return _ORIGINALS.get(cls, cls)


def listed(w: Walker, fn: Any, args: tuple[Atom, ...]) -> tuple[Atom, ...] | None:
    """The arguments of a function that goes over the items of what it is given, with lists of them; None for any
    other function, or where no such object is given."""
    double = [is_double(w.read(a)[1]) for a in args]
    if not any(double) or not (fn in hashable(_OVER_ITEMS, fn) or (getattr(fn, "__module__", None) or "") == "numpy"):
        return None
    return tuple(_list(w, a) if is_one else a for a, is_one in zip(args, double, strict=True))


def _list(w: Walker, atom: Atom) -> Var:
    return let(w, ("listed", atom), Method(atom, "listed", ()))


def table_of(w: Walker, atom: Atom) -> Atom:
    """The dict inside what stands for one of another class; any other value itself."""
    kind = w.read(atom)[1]
    held = isinstance(kind, Box) and kind.cls is arrays.DefaultDict
    return let(w, ("table", atom), Attr(atom, "table")) if held else atom
