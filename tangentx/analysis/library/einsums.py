"""``np.einsum`` of several operands, with an ellipsis or ``optimize=``: lowered to products of two."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx.analysis.library.out_argument import let
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, Obj, varied
from tangentx.arrays.einsums import pairwise
from tangentx.ir.nodes import Atom, Expr, Lit, Op

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

Named = tuple[tuple[str, Atom], ...]


def in_pairs(w: Walker, fn: Callable[..., Any], args: tuple[Atom, ...], kwargs: Named) -> tuple[Expr, Kind] | None:
    """The call written as products of two operands each; None for one that has a rule, and for any other function."""
    if fn is not np.einsum or len(args) < 2 or {name for name, _ in kwargs} - {"optimize"}:
        return None
    kinds = [w.read(a)[1] for a in args]
    if not any(map(varied, kinds)):
        return None
    text = kinds[0].value if isinstance(kinds[0], Obj) else None
    if not isinstance(text, str):
        return w.walk(Op(np.einsum, args)) if kwargs else None
    if any(isinstance(kind, Box) for kind in kinds[1:]):
        arrays = [let(w, ("operand", i), Op(np.asarray, (a,))) for i, a in enumerate(args[1:])]
        return w.walk(Op(np.einsum, (args[0], *arrays), kwargs))
    ranks = [_rank(kind) for kind in kinds[1:]]
    if len(args) <= 3 and "." not in text:
        return w.walk(Op(np.einsum, args)) if kwargs else None
    if any(rank is None for rank in ranks) or text.count(",") + 1 != len(ranks):
        return None
    steps = pairwise(text, [rank for rank in ranks if rank is not None])
    found = args[1]
    for k, subscripts in enumerate(steps):
        operands = (found, *args[k + 2 : k + 3])
        if k == len(steps) - 1:
            return w.walk(Op(np.einsum, (Lit(subscripts), *operands)))
        found = let(w, ("product", k), Op(np.einsum, (Lit(subscripts), *operands)))
    return None


def _rank(kind: Kind) -> int | None:
    """The number of axes of an operand, where that is known."""
    if isinstance(kind, Arr):
        return kind.rank if kind.sure else None
    return 0 if isinstance(kind, Num) else None
