"""Writes to what NumPy keeps behind an attribute of an array: its parts, its elements in a row, its shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tangentx.analysis import flats
from tangentx.analysis.holders import other_holder
from tangentx.analysis.kinds import Arr
from tangentx.analysis.outputs import let
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.keys import WHOLE, attribute_of
from tangentx.ir.nodes import Assign, Attr, Lit, Op, Store, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer import Walker

PARTS = ("real", "imag", "flat", "shape")


def store_part(w: Walker, s: Store, kind: Arr) -> None:
    """``a.real = value`` and its like. Raises UnsupportedSyntax."""
    name = attribute_of(s.key)
    if name == "flat":
        flats.store_row(w, s.base, let(w, "all", Op(slice, (Lit(None), Lit(None), Lit(None)))), s.value)
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
