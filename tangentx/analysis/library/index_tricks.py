"""``np.mgrid``, ``np.ogrid``, ``np.r_`` and ``np.c_``, lowered to functions that have rules."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx.analysis.infer.containers import expanded
from tangentx.analysis.types.kinds import Arr, Bottom, Box, Kind, Num, dtype_of
from tangentx.common.axes import axis_and_rank
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import Assign, Atom, Block, Expr, Ext, Index, Key, Lit, Make, Op, Slice, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

_GRIDS: tuple[Any, ...] = (np.mgrid, np.ogrid)
_JOINED: tuple[Any, ...] = (np.r_, np.c_)
_WIDE = frozenset(map(np.dtype, (int, float, complex)))


def is_grid(base: Atom) -> bool:
    """Whether the atom is one of these objects."""
    return isinstance(base, Ext) and any(base.value is each for each in (*_GRIDS, *_JOINED))


def grid(w: Walker, base: Ext, key: Key) -> tuple[Expr, Kind]:
    """``base[key]``. Raises UnsupportedSyntax for a key that is no plain use of it."""
    if not key.parts:
        raise _refusal(w, base)
    if base.value is np.r_ and isinstance(key.parts[0], Lit) and isinstance(key.parts[0].value, str):
        return _directed(w, base, key, key.parts[0].value)
    kinds = [_kind(w, part) for part in key.parts]
    if base.value in _GRIDS and not all(isinstance(part, Slice) for part in key.parts):
        raise _refusal(w, base)
    if base.value in _JOINED and not any(isinstance(kind, Bottom) for kind in kinds):
        _demand_alike(w, base, kinds)
    return expanded(w, ("grid", base.name), lambda: _built(w, base, key))


_RANKS: dict[int, Any] = {1: np.atleast_1d, 2: np.atleast_2d}


def _directed(w: Walker, base: Ext, key: Key, directive: str) -> tuple[Expr, Kind]:
    """``np.r_["axis,rank", ...]``: arrays of at least so many axes, joined along one of them."""
    axis, rank = axis_and_rank(directive)
    kinds = [_kind(w, part) for part in key.parts[1:]]
    known = all(isinstance(k, Num | Arr | Bottom) or (k is not None and _is_row(k)) for k in kinds)
    plain = all(k.dtype in _WIDE for k in kinds if isinstance(k, Arr)) or not any(isinstance(k, Num) for k in kinds)
    if rank not in _RANKS or not kinds or not known or not plain:
        raise _refusal(w, base)

    def build() -> Block:
        out: list[Assign] = []

        def let(value: Expr) -> Var:
            out.append(Assign(w.temporary(), value, w.span))
            return Var(out[-1].target)

        rows = tuple(let(Op(_RANKS[rank], (part,))) for part in key.parts[1:] if not isinstance(part, Slice))
        let(Op(np.concatenate, (let(Make(list, rows)), Lit(axis))))
        return tuple(out)

    return expanded(w, ("grid", base.name), build)


def _kind(w: Walker, part: Atom | Slice) -> Kind | None:
    return None if isinstance(part, Slice) else w.read(part)[1]


def _demand_alike(w: Walker, base: Ext, kinds: Sequence[Kind | None]) -> None:
    """The parts are numbers and rows, or (rows and) matrices, of which NumPy makes what `concatenate` does."""
    ranks = {k.rank if isinstance(k, Arr) and k.sure else 1 if k is None or _is_row(k) else 0 for k in kinds}
    allowed: tuple[set[Any], ...] = ({0, 1}, {2}) if base.value is np.r_ else ({1, 2},)
    numbers = all(k is None or isinstance(k, Num | Arr) or _is_row(k) for k in kinds)
    wide = all(k.dtype in _WIDE for k in kinds if isinstance(k, Arr)) or 0 not in ranks
    if not numbers or not wide or not any(ranks <= each for each in allowed):
        raise _refusal(w, base)


def _is_row(kind: Kind | None) -> bool:
    """Whether the kind is of a list of numbers."""
    if not isinstance(kind, Box) or kind.cls not in (list, tuple) or kind.none:
        return False
    node = kind.region.root()
    items = [k for k in (*node.fields.values(), node.elt) if not isinstance(k, Bottom)]
    return bool(items) and all(isinstance(k, Num) and not k.none and dtype_of(k) in _WIDE for k in items)


def _refusal(w: Walker, base: Ext) -> UnsupportedSyntax:
    if base.value in _GRIDS:
        hint = "give it slices with both bounds, or write np.meshgrid(np.arange(n), np.arange(m), indexing='ij')"
    else:
        hint = "give it numbers, arrays and slices with both bounds, or write np.concatenate or np.stack"
    return UnsupportedSyntax(f"`{base.name}` with this index is not differentiated", w.span, hint)


def _built(w: Walker, base: Ext, key: Key) -> Block:
    out: list[Assign] = []

    def let(value: Expr) -> Var:
        out.append(Assign(w.temporary(), value, w.span))
        return Var(out[-1].target)

    rows = [let(_row(w, base, part)) if isinstance(part, Slice) or _is_row(w.read(part)[1]) else part
            for part in key.parts]  # fmt: skip
    if base.value is np.r_:
        let(Op(np.concatenate, (let(Make(list, tuple(let(Op(np.atleast_1d, (row,))) for row in rows))),)))
    elif base.value is np.c_:
        let(Op(np.column_stack, (let(Make(list, tuple(rows))),)))
    elif not key.many:
        let(rows[0])
    elif base.value is np.mgrid:
        let(Op(np.array, (let(Op(np.meshgrid, tuple(rows), (("indexing", Lit("ij")),))),)))
    else:
        real = [_is_real(w, part) for part in key.parts]
        if any(real):  # then all rows are
            each = zip(rows, real, strict=True)
            rows = [row if is_real else let(Op(operator.mul, (row, Lit(1.0)))) for row, is_real in each]
        let(Make(tuple, tuple(let(Index(row, _along(i, len(rows)))) for i, row in enumerate(rows))))
    return tuple(out)


def _row(w: Walker, base: Ext, part: Atom | Slice) -> Expr:
    """The array of what a slice stands for, or of a list."""
    return _axis(w, base, part) if isinstance(part, Slice) else Op(np.array, (part,))


def _axis(w: Walker, base: Ext, part: Slice) -> Expr:
    """The numbers that a slice stands for: from start to stop by a step, or so many where that is imaginary."""
    start = Lit(0) if part.start == Lit(None) else part.start
    if part.stop == Lit(None):
        raise _refusal(w, base)
    step = w.read(part.step)[1]
    if isinstance(part.step, Lit) and isinstance(part.step.value, complex):
        return Op(np.linspace, (start, part.stop, Lit(int(abs(part.step.value)))))
    if isinstance(step, Num | Box | Arr) and not (isinstance(step, Num) and not issubclass(step.type, complex)):
        raise _refusal(w, base)
    return Op(np.arange, (start, part.stop, Lit(1) if part.step == Lit(None) else part.step))


def _is_real(w: Walker, part: Atom | Slice) -> bool:
    """Whether the numbers that a slice stands for are reals."""
    assert isinstance(part, Slice)
    kinds = [w.read(each)[1] for each in (part.start, part.stop, part.step)]
    return any(isinstance(kind, Num) and dtype_of(kind).kind in "fc" for kind in kinds)


def _along(axis: int, count: int) -> Key:
    """The key by which a row lies along one of so many axes."""
    return Key(tuple(Slice() if i == axis else Lit(None) for i in range(count)), True)
