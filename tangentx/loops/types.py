"""From kinds to types of the loop language."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tangentx.analysis.types.kinds import BOTTOM, Arr, Box, Kind, Num, Obj, Region, describe
from tangentx.ir.object_choices import classes_of
from tangentx.loops.loop_ir import BOOL, INT, Array, List, Owner, Record, Scalar, Type
from tangentx.loops.operators import Refused

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


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record keeps an item of a known key, and its kind; `there` where it keeps whether there is one.

    An object that is known has no place: it is the constant of its kind.
    """

    item: int | None
    kind: Kind
    there: int | None = None


def places(kind: Box) -> dict[Any, Place] | None:
    """The items of a container as a record has them; None for a list, which may grow or is read by an index.

    Raises Refused where neither is known.
    """
    if kind.none or len(classes_of(kind.cls)) > 1:
        raise Refused(f"{describe(kind)}, which is known only when it runs")
    region = kind.region.root()
    if kind.cls is list and (region.resized or region.indexed or region.open or region.elt != BOTTOM):
        return None
    if region.open or region.elt != BOTTOM or region.key != BOTTOM:
        always = region.always or frozenset()
        if region.elt != BOTTOM or region.key != BOTTOM or kind.cls in (list, tuple):
            raise Refused(f"{describe(kind)} whose items are not all known")
    else:
        always = frozenset(region.fields)
    found: dict[Any, Place] = {}
    count = 0
    for key, item in region.fields.items():
        item = region.get(key)
        stored = None if isinstance(item, Obj) else count
        count += stored is not None
        there = None if key in always else count
        count += there is not None
        found[key] = Place(stored, item, there)
    return found


def may_be_none(kind: Kind) -> bool:
    """Whether a number or an array may be None."""
    return isinstance(kind, Num | Arr) and kind.none


def surely(kind: Kind) -> Kind:
    """The kind of what may be None where it is not."""
    return replace(kind, none=False) if isinstance(kind, Num | Arr) and kind.none else kind


def type_of(kind: Kind, inside: bool = False, above: tuple[Region, ...] = ()) -> Type:
    """The type of values of a kind; `inside` of a container, where arrays that are written may lie in any way, and a
    number that is Python's or NumPy's stands beside a boolean that says whether it is NumPy's.

    Raises Refused.
    """
    if inside and may_be_none(kind):
        return Record((type_of(surely(kind), True, above), BOOL))
    if isinstance(kind, Num):
        type = scalar_type(kind)
        return Record((type, BOOL)) if inside and type.owner is Owner.EITHER else type
    if isinstance(kind, Arr):
        return array_type(kind, unit=not inside or kind.region.root().still())
    if not isinstance(kind, Box):
        raise Refused(f"{describe(kind)} has no type in the loop language")
    region = kind.region.root()
    if region in above:
        raise Refused("a container that may hold itself")
    above = (*above, region)
    items = places(kind)
    if items is None:
        item = region.any()
        return List(INT if item == BOTTOM else type_of(item, True, above))
    types: list[Type] = []
    for place in items.values():
        if place.item is not None:
            types.append(type_of(place.kind, True, above))
        if place.there is not None:
            types.append(BOOL)
    return Record(tuple(types))
