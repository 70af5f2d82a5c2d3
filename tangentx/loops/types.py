"""From kinds to types of the loop language, and what stands for the program's values there."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from tangentx.analysis.types.kinds import BOTTOM, Arr, Box, Kind, Num, Obj, Region, World, describe
from tangentx.ir import nodes as ir
from tangentx.ir.functions import classes_of
from tangentx.ir.value_names import PARTIAL
from tangentx.loops import operators
from tangentx.loops.array_statements import Held
from tangentx.loops.loop_ir import (
    BOOL,
    INT,
    Apply,
    Array,
    Const,
    Expr,
    Extent,
    Known,
    List,
    Owner,
    Record,
    Scalar,
    Type,
)
from tangentx.loops.operators import Refused

# From kinds to types of the loop language.

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


# The representation of the program's values in the loop language.


@dataclass(frozen=True, slots=True)
class Slicing:
    """A slice, an object of the program's or a part of a key."""

    start: Expr | None = None
    stop: Expr | None = None
    step: Expr | None = None


@dataclass(frozen=True, slots=True)
class Maybe:
    """A number or an array, or None where `absent` is true."""

    value: Any
    absent: Expr


UNBOUND = Known(ir.UNBOUND)
"""What a name holds that has no value yet: nothing reads it, but it may be recorded."""
Value: TypeAlias = "Expr | Held | Known | Slicing | Maybe | tuple[Value, ...] | None"
MISSING = object()


class Refusal(Exception):
    """A program that the loop language cannot say: the reason, and the user's line."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


Source: TypeAlias = tuple[ir.Function, dict[str, Kind]]
"""A function of the IR, and the kind of each of its variables."""


@dataclass(frozen=True)
class Callee:
    """A function that is written: its results, and how they stand in what Python returns.

    `joined`: it has one result, of the kind that its caller has for it.
    """

    name: str
    shape: object
    results: tuple[Type, ...]
    kinds: tuple[Kind | None, ...]
    foreign: bool
    read: tuple[ir.Ext, ...]
    joined: bool


@dataclass(frozen=True, slots=True)
class Given:
    """The form of an argument that is a number or has a name. `owned`: a boolean behind it says whose number it is."""

    type: Type
    foreign: bool
    kind: Kind | None
    owned: bool


class Unreachable(Exception):
    """The program never comes to what stands behind a statement in its block."""


def written_value(old: Expr, value: Expr, add: bool) -> Expr:
    """What is written where `old` stands."""
    if add:
        if value.type.code != old.type.code and not (value.type.owner is Owner.PYTHON and old.type.is_float):
            raise Refused("numbers of two precisions are added in place")
        return Apply("add", (old, operators.converted(value, old.type.code)), old.type)
    return operators.converted(value, old.type.code)


def whole_number(index: object) -> Expr:
    if not isinstance(index, Expr) or index.type.code != "i8":
        raise Refused("an index that is no whole number")
    return index


def item_at(items: tuple[Value, ...], place: int) -> Value:
    """One item of a tuple."""
    if not -len(items) <= place < len(items):
        raise Refused("an item that a tuple does not have")
    return items[place]


def items_of_slice(items: tuple[Value, ...], part: Slicing) -> tuple[Value, ...]:
    """The items of a tuple at the places of a slice."""
    ends = (part.start, part.stop, part.step)
    if not all(end is None or isinstance(end, Const) for end in ends):
        raise Refused("a part of a tuple between places that are not known")
    start, stop, step = (int(end.value) if isinstance(end, Const) else None for end in ends)
    return items[start:stop:step]


def is_value(atom: object) -> bool:
    """Whether an atom may be a value of the loop language."""
    if isinstance(atom, ir.Lit):
        return atom.value is None or atom.value is ir.UNBOUND or isinstance(atom.value, bool | int | float | str)
    return isinstance(atom, ir.Var | ir.Ext)


def identifier(name: str) -> str:
    """A name that C has too.

    Temporaries of passes (``%r12``) are numbered throughout a process; a text must not show that, or the next process
    would not find what was compiled of it.
    """
    name = re.sub(r"^(%[a-z]+)\d+", r"\1", name.removeprefix(PARTIAL)).replace("%", "t").replace(":", "_")
    return re.sub(r"[^0-9A-Za-z_]", lambda found: f"u{ord(found[0]):x}", name)


def extents_of(name: str, type: Array) -> list[Expr]:
    return [Extent(name, axis) for axis in range(type.rank)]


def known_object(kind: Kind) -> Known | None:
    """The object of a kind that is known."""
    assert isinstance(kind, Obj)
    return None if kind.value is None else Known(kind.value)


def region_of(kind: Kind) -> Region | None:
    return kind.region if isinstance(kind, Arr) else None


def kind_of_outside(atom: ir.Ext) -> Kind:
    """The kind of a number or an array from outside."""
    value = atom.value
    if type(value) in (bool, int, float, np.float64):
        return Num(type(value))
    if type(value) is np.ndarray:
        return Arr(value.dtype, value.ndim, Region(World()))
    raise Refused(f"`{atom.name}` is read from outside of the function")


def is_hashable(fn: object) -> bool:
    return isinstance(fn, Hashable)
