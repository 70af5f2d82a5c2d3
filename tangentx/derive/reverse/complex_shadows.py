"""Shadows of complex arrays that have a view of their imaginary part: stored conjugated.

The cotangent of z = x + iy is the derivative by x minus i times that by y, but the view ``z.imag`` has the derivative
by y: as a view of the same memory it cannot have the other sign. So the shadow of such a storage holds the conjugate,
and what passes between it and a value is conjugated.
"""

from __future__ import annotations

import numpy as np

from tangentx.analysis.types.kinds import Arr, Box, Kind, Region
from tangentx.derive.emit import SHADOW, Emitter, mode
from tangentx.errors import Span, UnsupportedSyntax
from tangentx.ir.nodes import Atom


def is_turned(kind: Kind) -> bool:
    """Whether the shadow of an array of this kind is kept conjugated."""
    if not isinstance(kind, Arr) or kind.dtype.kind != "c":
        return False
    return mode(kind) == SHADOW and kind.region.root().parted


def turned(emit: Emitter, kind: Kind, t: Atom) -> Atom:
    """What goes into the shadow of a storage of the kind for the cotangent `t`, or the cotangent for what it holds."""
    return emit.op(np.conj, t) if is_turned(kind) else t


def demand_straight(kind: Kind, span: Span, seen: tuple[Region, ...] = ()) -> None:
    """Refuses a container whose cotangent would be made of shadows that are kept conjugated."""
    if is_turned(kind):
        raise UnsupportedSyntax(
            "the imaginary part of an array in this container is a view of it",
            span,
            "pass the array as an argument of its own, or read `z.imag.copy()`",
        )
    if isinstance(kind, Box) and kind.region.root() not in seen:
        node = kind.region.root()
        for item in (*node.fields.values(), node.elt):
            demand_straight(item, span, (*seen, node))
