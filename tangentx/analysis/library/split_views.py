"""``np.split`` and relatives of an array that is written or indexed: a list of views, each a slice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.arguments import bind
from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.types.kinds import MISSING, Arr, Box, Kind, Num
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import Assign, Atom, Block, Expr, Index, Key, Lit, Make, Op, Slice, Statement, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

Named = tuple[tuple[str, Atom], ...]


def by_axis(ary: Any, indices_or_sections: Any, axis: Any = 0) -> None:
    """Names the arguments of ``np.split`` and ``np.array_split``."""


def by_side(ary: Any, indices_or_sections: Any) -> None:
    """Names the arguments of ``np.hsplit`` and its like."""


_SIDES: dict[Any, Callable[[Kind], int]] = {
    np.hsplit: lambda kind: 0 if isinstance(kind, Arr) and kind.rank == 1 else 1,
    np.vsplit: lambda kind: 0,
    np.dsplit: lambda kind: 2,
}
"""The axes along which they split."""


def split(w: Walker, fn: Any, args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """The views of a storage; None for the call of another function, or for what nobody writes or indexes."""
    for side, axis_of in _SIDES.items():
        if fn is side:
            given = bind(w, w.program.library(by_side), args, kwargs)
            return w.walk(Op(np.split, (*given, Lit(axis_of(w.read(given[0])[1])))))
    if fn is not np.split and fn is not np.array_split:
        return None
    array, sections, along = bind(w, w.program.library(by_axis), args, kwargs)
    kind, cut, axis = (w.read(a)[1] for a in (array, sections, along))
    if not isinstance(kind, Arr) or not (kind.region.root().written or kind.region.root().indexed):
        return None
    count, place = _count(cut), axis.value if isinstance(axis, Num) else MISSING
    if count is None or not isinstance(place, int) or kind.rank is None:
        raise UnsupportedSyntax(
            "how many parts of an array that is written are meant is not known here",
            w.span,
            "write the number of parts out, or take the parts one by one with slices",
        )
    front = (Slice(),) * (place % kind.rank)
    even = fn is np.split
    return expanded(w, ("split", count), lambda: _parts(w, array, sections, count, front, even))


def _count(cut: Kind) -> int | None:
    """How many sections, or minus the number of places where the array is cut; None where that is not known."""
    if isinstance(cut, Num):
        return cut.value if isinstance(cut.value, int) else None
    node = cut.region.root() if isinstance(cut, Box) else None
    return -len(node.fields) if node is not None and not node.open and not node.resized else None


def _parts(w: Walker, array: Atom, sections: Atom, count: int, front: tuple[Slice, ...], even: bool) -> Block:
    out: list[Statement] = []

    def let(value: Expr) -> Var:
        name = w.temporary()
        out.append(Assign(name, value, w.span))
        return Var(name)

    bounds: list[Atom] = [Lit(None), Lit(None)]
    if count <= 0:
        bounds[1:1] = [let(Index(sections, Key((Lit(k),)))) for k in range(-count)]
    else:
        length = let(Index(let(Op(np.shape, (array,))), Key((Lit(len(front)),))))
        found = let(Op(arrays.section_bounds, (length, Lit(count), Lit(even))))
        bounds[1:1] = [let(Index(found, Key((Lit(k),)))) for k in range(count - 1)]
    pairs = zip(bounds, bounds[1:], strict=False)
    views = [let(Index(array, Key((*front, Slice(start, stop)), bool(front)))) for start, stop in pairs]
    let(Make(list, tuple(views)))
    return tuple(out)
