"""Ufunc calls with ``dtype=``, ``casting=``, ``order=`` or ``subok=``: reduced to the plain call where possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx.analysis.library.out_argument import let
from tangentx.analysis.types.kinds import Arr, Kind, Num, Obj, dtype_of, varied
from tangentx.ir.nodes import Atom, Expr, Lit, Op
from tangentx.templates.ufunc_options import OPTIONS, type_of_loop

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

Named = tuple[tuple[str, Atom], ...]


def in_type(w: Walker, fn: Callable[..., Any], args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """The call without its options, its operands cast; None for any other call, and for options that are not known."""
    named = dict(kwargs)
    if not kwargs or not isinstance(fn, np.ufunc) or not named.keys() <= set(OPTIONS):
        return None
    kinds = [w.read(a)[1] for a in args]
    if not any(map(varied, kinds)):
        return None
    dtype, casting = _known(w, named.get("dtype")), _known(w, named.get("casting", Lit("same_kind")))
    if dtype is None:
        return w.walk(Op(fn, args))
    loop = type_of_loop(fn, dtype)
    if loop is None or not all(isinstance(k, Num | Arr) and np.can_cast(dtype_of(k), loop, casting) for k in kinds):
        return None
    cast = [
        atom
        if isinstance(kind, Arr) and kind.dtype == loop
        else let(w, ("cast", i), Op(np.asarray, (atom, named["dtype"])))
        for i, (atom, kind) in enumerate(zip(args, kinds, strict=True))
    ]
    return w.walk(Op(fn, tuple(cast)))


def _known(w: Walker, atom: Atom | None) -> Any:
    kind = None if atom is None else w.read(atom)[1]
    return kind.value if isinstance(kind, Obj) else None
