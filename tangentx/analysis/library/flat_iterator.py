"""``a.flat``: the elements of an array in C order, read and written by one index.

Kept under a name it is a dict that holds the array, of a class that only kinds know; every use of it is a use of the
array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.containers import make
from tangentx.analysis.infer.inlining import standin
from tangentx.analysis.library import model_bodies
from tangentx.analysis.library.out_argument import let
from tangentx.analysis.types.kinds import BOTTOM, Arr, Bottom, Box, Kind, Num
from tangentx.errors import NotResolved, UnsupportedSyntax
from tangentx.ir.nodes import Atom, Expr, Index, Key, Lit, Make, Op, Slice, Store, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


class Flat(dict[str, Any]):
    """The class of such values; where the program runs they are plain dicts."""


HELD = Key((Lit("array"),))
"""Where the array is held; no key that a program may use."""


def is_flat(kind: Kind) -> bool:
    """Whether values of the kind are such rows of elements."""
    return isinstance(kind, Box) and kind.cls is Flat


def flat(w: Walker, base: Atom) -> tuple[Expr, Kind]:
    """``base.flat``"""
    expr, kind = make(w, Make(Flat, (base,), ("array",)))
    assert isinstance(expr, Make)
    return Make(dict, expr.items, expr.keys), kind


def _array(w: Walker, row: Atom) -> Atom:
    return let(w, ("array", row), Index(row, HELD))


def _selector(w: Walker, key: Key) -> Atom:
    if key.many:
        raise UnsupportedSyntax("`flat` takes one index", w.span, "index the array itself")
    part = key.parts[0]
    if isinstance(part, Slice):
        return let(w, ("slice", part), Op(slice, (part.start, part.stop, part.step)))
    return part


def item(w: Walker, row: Atom, key: Key) -> tuple[Expr, Kind]:
    """``a.flat[key]``: an element, or a copy of some."""
    array, selector = _array(w, row), _selector(w, key)
    kind, chosen = w.read(array)[1], w.read(selector)[1]
    if isinstance(kind, Bottom) or isinstance(chosen, Bottom):
        return Lit(None), BOTTOM
    if isinstance(chosen, Num) and isinstance(kind, Arr) and kind.rank == 1:
        return w.walk(Index(array, Key((selector,))))
    at = let(w, "at", Op(arrays.flat_key, (selector, let(w, "shape", Op(np.shape, (array,))))))
    return w.walk(Index(array, Key((at,))))


def store(w: Walker, row: Atom, key: Key, value: Atom) -> None:
    """``a.flat[key] = value``"""
    array, selector = _array(w, row), _selector(w, key)
    store_row(w, array, selector, value)


def store_row(w: Walker, array: Atom, selector: Atom, value: Atom) -> None:
    """The value, or several in turn, to the selected elements."""
    kind, chosen, given = w.read(array)[1], w.read(selector)[1], w.read(value)[1]
    if any(isinstance(k, Bottom) for k in (kind, chosen, given)):
        return
    if isinstance(kind, Arr) and kind.rank == 1 and isinstance(given, Num):
        w.expand(("in row", array), lambda: (Store(array, Key((selector,)), value, w.span),))
        return
    if isinstance(given, Box):
        value = let(w, ("listed", value), Op(np.array, (value,)))
    standin(w, model_bodies.put_flat, (array, selector, value))


def as_array(w: Walker, row: Atom) -> Var:
    """The elements as an array of their own, as any function takes them."""
    return let(w, ("copied", row), Op(np.ndarray.flatten, (_array(w, row),)))


def iterated(w: Walker, row: Atom) -> tuple[Expr, Kind]:
    """The elements for a loop: where nobody writes them, in a row."""
    array = _array(w, row)
    kind = w.read(array)[1]
    if not isinstance(kind, Arr) or kind.rank == 1:
        return w.read(array)
    demand_unwritten(w, kind)
    return w.walk(Op(np.ravel, (array,)))


def demand_unwritten(w: Walker, kind: Arr) -> None:
    """Refuses a loop that NumPy makes over the elements as they are then, where they may change on the way."""
    if kind.region.root().written and w.program.final:
        raise NotResolved("a loop over the elements of an array that is written", w.span, "loop over the indices")


def numbered(w: Walker, fn: Any, args: tuple[Atom, ...]) -> tuple[Expr, Kind] | None:
    """``np.ndindex(...)`` and ``np.ndenumerate(a)``, as lists; None for the call of another function."""
    if fn is np.ndindex:
        return w.walk(Op(arrays.positions, args))
    if fn is not np.ndenumerate or len(args) != 1:
        return None
    kind = w.read(args[0])[1]
    if isinstance(kind, Arr):
        demand_unwritten(w, kind)
    return standin(w, model_bodies.numbered, args)
