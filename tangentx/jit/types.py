"""The type of the loop language that values of a kind have."""

from __future__ import annotations

import numpy as np

from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, describe
from tangentx.jit.loop_ir import Array, Owner, Scalar, Tape, Type
from tangentx.jit.operators import Refused

_SCALARS: dict[frozenset[type], Scalar] = {
    frozenset((float,)): Scalar("f8", Owner.PYTHON),
    frozenset((np.float64,)): Scalar("f8", Owner.NUMPY),
    frozenset((float, np.float64)): Scalar("f8", Owner.EITHER),
    frozenset((np.float32,)): Scalar("f4", Owner.NUMPY),
    frozenset((int,)): Scalar("i8", Owner.PYTHON),
    frozenset((np.int64,)): Scalar("i8", Owner.NUMPY),
    frozenset((int, np.int64)): Scalar("i8", Owner.EITHER),
    frozenset((bool,)): Scalar("b1", Owner.PYTHON),
    frozenset((np.bool_,)): Scalar("b1", Owner.NUMPY),
    frozenset((bool, np.bool_)): Scalar("b1", Owner.EITHER),
}
_CODES = {np.dtype(float): "f8", np.dtype(np.float32): "f4", np.dtype(np.int64): "i8", np.dtype(bool): "b1"}


def scalar_type(kind: Num) -> Scalar:
    """Raises Refused for numbers that the loop language does not have."""
    found = None if kind.none else _SCALARS.get(frozenset(kind.exact))
    if found is None:
        raise Refused(f"{describe(kind)} has no type in the loop language")
    return found


def array_type(kind: Arr, unit: bool = True) -> Array:
    """Raises Refused for arrays whose dtype or rank the loop language does not have."""
    code = _CODES.get(kind.dtype)
    if code is None or kind.rank is None or not kind.sure or kind.dtypes:
        raise Refused(f"{describe(kind)} has no type in the loop language")
    return Array(code, kind.rank, unit)


def type_of(kind: Kind) -> Type:
    """The type of values of a kind. Raises Refused."""
    if isinstance(kind, Num):
        return scalar_type(kind)
    if isinstance(kind, Arr):
        return array_type(kind)
    if isinstance(kind, Box) and kind.cls is list:
        found = type_of(kind.region.root().any())
        if not isinstance(found, Tape):
            return Tape((found,))
    raise Refused(f"{describe(kind)} has no type in the loop language")
