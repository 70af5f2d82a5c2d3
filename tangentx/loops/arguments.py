"""The calling convention of compiled programs: how arguments are flattened, and results reassembled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from tangentx import arrays
from tangentx.arrays.memory import is_writable
from tangentx.loops.builder import LIMIT_EXTENT
from tangentx.loops.calls import class_of
from tangentx.loops.loop_ir import Array, Form, Items, Known, Owned, Owner, Parts, Program, Scalar, Type, dtype_of

FLAGGED = "a floating-point event"
OTHER = "arguments that are left to Python"


class Unfit(Exception):
    """Arguments, or what happened, that only the generated Python has an answer for."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Elements:
    """Elements that lie somewhere, in memory of `owner`, as NumPy takes them for an array."""

    def __init__(self, interface: dict[str, Any], owner: object = None) -> None:
        self.__array_interface__, self.owner = interface, owner


class Backend(Protocol):
    """Runs a program on arguments; its results one after the other. Raises Unfit."""

    def __call__(self, values: Sequence[Any]) -> Sequence[Any]: ...


@runtime_checkable
class Telling(Protocol):
    """One that knows how much memory its last call took."""

    def told(self) -> list[str]:
        """Lines for a reader."""


def put_together(form: Form, found: Sequence[Any]) -> Any:
    """Results in the form in which Python returns them."""
    match form:
        case int():
            return found[form]
        case Parts(cls, items):
            values = [put_together(part, found) for _, part in items]
            if cls is dict:
                return dict(zip((key for key, _ in items), values, strict=True))
            if cls in (tuple, list):
                return cls(values)
            return (
                cls(*values)
                if issubclass(cls, tuple)
                else arrays.instance(cls, dict(zip((key for key, _ in items), values, strict=True)))
            )
        case Owned(place, owner):
            return np.asarray(found[place])[()] if found[owner] else found[place]
        case Items(place, owner):
            return list(found[place]) if owner is Owner.NUMPY else found[place].tolist()
        case Known(value):
            return value
    return None


def taken_apart(program: Program, values: Sequence[Any], read: Sequence[Any]) -> list[Any]:
    """Arguments, and what was read from outside, as the first function takes them, one after the other.

    Raises Unfit.
    """
    params = program.functions[0].params
    found: list[Any] = [None] * len(params)
    for place, value in enumerate(read, len(params) - len(read)):
        type_ = params[place][1]
        if isinstance(type_, Array):
            if type(value) is not np.ndarray or value.dtype != dtype_of(type_.code) or value.ndim != type_.rank:
                raise Unfit(OTHER)
        elif not isinstance(type_, Scalar) or type(value) is not class_of(type_):
            raise Unfit(OTHER)
        found[place] = value
    met: set[int] = set()
    for form, value in zip(program.arguments, values, strict=True):
        _take_apart(form, value, found, met)
    return found


def _take_apart(form: Form, value: Any, found: list[Any], met: set[int]) -> None:
    if isinstance(form, Parts | Items) and not isinstance(value, tuple):
        if id(value) in met:  # one container in two places is two in the program
            raise Unfit(OTHER)
        met.add(id(value))
    match form:
        case int():
            found[form] = value
        case Owned(place, owner):
            found[place], found[owner] = value, isinstance(value, np.generic)
        case Items(place):
            found[place] = np.array(value)
            if found[place].ndim != 1:
                raise Unfit(OTHER)
        case Parts(cls, items):
            for key, inside in items:
                if issubclass(cls, dict | tuple | list):
                    part = value[key]
                else:
                    part = getattr(value, key)
                _take_apart(inside, part, found, met)


def demand_fit(program: Program, values: Sequence[Any]) -> None:
    """Refuses arguments that a compiled program has no meaning for: numbers and axes beyond its limits, and arrays
    that the program would fail to write."""
    written = [v for (name, _), v in zip(program.functions[0].params, values, strict=True) if name in program.copied]
    for place, a in enumerate(written):  # copies keep what overlaps; those of a compiled program are apart
        if any(np.may_share_memory(a, b) for b in written[:place]):
            raise Unfit(OTHER)
    for (name, type), value in zip(program.functions[0].params, values, strict=True):
        if isinstance(type, Array):
            if value.size == 0 and max(value.shape, default=0) > LIMIT_EXTENT:
                raise Unfit(OTHER)
            if name in program.copied and not (value.flags.forc and is_writable(value)):
                raise Unfit(OTHER)
            if program.reshapes and not value.flags.c_contiguous:
                raise Unfit(OTHER)
        elif isinstance(type, Scalar) and type.code == "i8" and not -LIMIT_EXTENT <= value <= LIMIT_EXTENT:
            raise Unfit(OTHER)


def typed(value: Any, type: Type) -> Any:
    """A result as a number of the type that the plain path gives."""
    if not isinstance(type, Scalar):
        return value
    if type.owner is Owner.NUMPY:
        return dtype_of(type.code).type(value)
    return {"f": float, "i": int, "b": bool}[type.code[0]](value)
