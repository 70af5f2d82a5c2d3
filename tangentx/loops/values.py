"""The representation of the program's values in the loop language."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tangentx.analysis.types.kinds import Arr, Kind, Num, Obj, Region, World
from tangentx.ir import nodes as ir
from tangentx.ir.value_names import PARTIAL
from tangentx.loops import operators
from tangentx.loops.array_statements import Held
from tangentx.loops.loop_ir import (
    Apply,
    Array,
    Const,
    Expr,
    Extent,
    Known,
    Owner,
    Type,
)
from tangentx.loops.operators import Refused


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
