"""Identity of objects, as far as kinds decide it."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from tangentx.analysis import effects
from tangentx.analysis.absent import may_be_none
from tangentx.analysis.kinds import BOTTOM, MISSING, Arr, Bottom, Box, Either, Kind, Num, Obj, Some, Top
from tangentx.ir.nodes import Atom, Expr, Lit, Op

if TYPE_CHECKING:
    from tangentx.analysis.infer import Walker


def identity(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """``a is b``, where kinds tell or it is to be asked while the program runs; None where it is an operation."""
    a, b = kinds
    if isinstance(a, Bottom) or isinstance(b, Bottom):
        return Lit(None), BOTTOM
    if isinstance(a, Obj) and isinstance(b, Obj):
        return Lit(a == b), Num(bool, value=a == b)
    if isinstance(a, Either) or isinstance(b, Either):
        return _one_of(w, args, kinds)
    none = Obj(None)
    if none in (a, b) and any(map(may_be_none, kinds)):
        return Op(operator.is_, tuple(w.read(x)[0] for x in args)), Num(bool)
    if isinstance(a, Some) and isinstance(b, Some | Obj) or isinstance(b, Some) and isinstance(a, Some | Obj):
        if none not in (a, b) or effects.UNKNOWN in (a, b):
            return Op(operator.is_, tuple(w.read(x)[0] for x in args)), Num(bool)
    apart = any(isinstance(k, Obj) for k in (a, b)) and any(isinstance(k, Num | Arr | Box) for k in (a, b))
    if apart or (none in (a, b) and not isinstance(a, Top) and not isinstance(b, Top)):
        return Lit(False), Num(bool, value=False)
    return None


def _one_of(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind]:
    """Whether what may be one of several functions is another object."""
    values = [k.values if isinstance(k, Either) else (k.value,) if isinstance(k, Obj) else () for k in kinds]
    if not any(a is b for a in values[0] for b in values[1]):
        return Lit(False), Num(bool, value=False)
    return Op(operator.is_, tuple(w.read(x)[0] for x in args)), Num(bool)


def difference(w: Walker, args: tuple[Atom, ...], kinds: list[Kind]) -> tuple[Expr, Kind] | None:
    """``a is not b``, likewise."""
    same = identity(w, args, kinds)
    if same is None or isinstance(same[1], Bottom):
        return same
    assert isinstance(same[1], Num)
    if same[1].value is MISSING:
        return Op(operator.is_not, tuple(w.read(x)[0] for x in args)), Num(bool)
    return Lit(not same[1].value), Num(bool, value=not same[1].value)
