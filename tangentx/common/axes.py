"""Axes of length one: which axes broadcast at run time, beyond what the rank tells.

A text may also take it for granted that a part of an argument is not of length one, which its shape alone does not say:

    flux = d[1:] * (u[1:] - u[:-1])         # no axis of `u` or `d` has length one, but `d[1:]` has it if `d` has two

Such lengths are written as `optimise.facts.shape_arithmetic` writes them, of ``("at", position, axis)`` for the length
of an axis of an argument.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Single: TypeAlias = tuple[int, ...] | None
_LIBRARIES = ("numpy", "scipy", "tangentx", "cupy")
_SCALARS = (int, float, complex, str, bytes, type(None), np.generic)


def single_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of length one."""
    return tuple(axis for axis, n in enumerate(shape) if n == 1) if 1 in shape else ()


def _is_array(value: Any) -> bool:
    """Whether a value is an array, of NumPy's or of another library that follows its protocols."""
    cls = type(value)
    return cls is np.ndarray or (hasattr(cls, "__array_function__") and not issubclass(cls, np.ndarray | np.generic))


def axes_of(values: Sequence[Any]) -> tuple[Single, ...]:
    """The axes of length one of each value that is an array; none for a container of arrays without such, and None for
    what else there is. An object is the container of its attributes."""
    return tuple(_axes(value) for value in values)


def _axes(value: Any, around: tuple[int, ...] = ()) -> Single:
    if _is_array(value):
        return single_axes(value.shape)
    items = _items(value) if id(value) not in around else None
    if items is None:
        return None
    around = (*around, id(value))
    found = [_axes(item, around) for item in items if not isinstance(item, _SCALARS)]
    return () if found and not any(axes is None or axes for axes in found) else None


def _items(value: Any) -> Iterable[Any] | None:
    """What a container holds, or an object of a class of the user's; None of all else."""
    cls = type(value)
    if cls in (list, tuple):
        return value  # type: ignore[no-any-return]
    if cls is dict:
        return value.values()  # type: ignore[no-any-return]
    return vars(value).values() if _is_plain(cls) else None


def _is_plain(cls: type) -> bool:
    """Whether all that instances of a class hold is in their `__dict__`, where the class is none of a library's."""
    of_python = isinstance(vars(cls).get("__init__"), types.FunctionType)
    slots = any("__slots__" in vars(base) for base in cls.__mro__)
    return of_python and cls.__bases__ == (object,) and not slots and cls.__module__.partition(".")[0] not in _LIBRARIES


Shapes: TypeAlias = Sequence[tuple[int, ...] | None]


def shapes_of(values: Sequence[Any]) -> tuple[tuple[int, ...] | None, ...]:
    """The shapes of arrays, and None for all else."""
    return tuple(value.shape if _is_array(value) else None for value in values)


def evaluated(length: Any, shapes: Shapes) -> int | None:
    """What a length made of those of arguments is for arguments of these shapes; None where that is not known."""
    if length is None or isinstance(length, int):
        return length
    what, *parts = length
    if what == "at":
        shape = shapes[parts[0]] if parts[0] < len(shapes) else None
        return None if shape is None or parts[1] >= len(shape) else shape[parts[1]]
    if what == "linear":
        terms = [(evaluated(term, shapes), times) for term, times in parts[0]]
        return None if any(n is None for n, _ in terms) else sum((n or 0) * times for n, times in terms) + parts[1]
    found = [evaluated(part, shapes) for part in parts]
    if any(n is None and part is not None for n, part in zip(found, parts, strict=True)):
        return None
    if what == "less":
        return max(found[0] - found[1], 0)  # type: ignore[operator]
    return len(range(found[0])[slice(*found[1:])]) if what == "slice" and found[3] != 0 else None  # type: ignore[arg-type]


def shown(length: Any, names: Sequence[str]) -> str:
    """The length as an expression of Python, of the arguments of these names."""
    if length is None or isinstance(length, int):
        return "" if length is None else str(length)
    what, *parts = length
    if what == "at":
        position, axis = parts
        return f"{names[position]}.shape[{axis}]" if axis else f"len({names[position]})"
    if what == "linear":
        terms = [shown(term, names) if times == 1 else f"{times} * {shown(term, names)}" for term, times in parts[0]]
        return " + ".join(sorted(terms)) + (f" {'-' if parts[1] < 0 else '+'} {abs(parts[1])}" if parts[1] else "")
    if what == "less":
        return f"{shown(parts[0], names)} - {parts[1]}"
    step = "" if parts[3] is None else f":{shown(parts[3], names)}"
    return f"len(range({shown(parts[0], names)})[{shown(parts[1], names)}:{shown(parts[2], names)}{step}])"


@dataclass(frozen=True)
class Taken:
    """Lengths that are not one, which a text takes for granted; `missed` were one when it was made."""

    lengths: tuple[Any, ...] = ()
    missed: tuple[Any, ...] = ()

    def holds(self, shapes: Shapes) -> bool:
        """Whether it is so for arguments of these shapes."""
        return all(evaluated(length, shapes) not in (1, None) for length in self.lengths)

    def fits(self, shapes: Shapes) -> bool:
        """Whether a text made for these shapes would not take more for granted, either."""
        return self.holds(shapes) and (not self.missed or any(evaluated(n, shapes) in (1, None) for n in self.missed))


class Axes:
    """Those of the first arguments of a program's root, and whether a proof made use of them.

    `shapes` are those of the arguments at hand; `taken` has the lengths made of them that a proof took not to be one,
    `missed` those that it would have, were they not one.
    """

    def __init__(self, single: Sequence[Single] = (), shapes: Shapes = ()) -> None:
        self.single = tuple(single)
        self.shapes = tuple(shapes)
        self.relied = False
        self.taken: dict[Any, None] = {}
        self.missed: dict[Any, None] = {}

    def rely(self) -> None:
        """Notes that it matters which axes have length one."""
        self.relied = self.relied or any(axes is not None for axes in self.single)

    def sentence(self, names: Sequence[str]) -> str:
        """What the text of a derivative takes for granted, for parameters of these names."""
        pairs = zip(names, self.single, strict=False)
        found = [f"axis {axis} of `{name}`" for name, single in pairs for axis in single or ()]
        lengths = sorted(f"`{shown(length, names)}`" for length in self.taken)
        nor = f"\nNor are these lengths one: {', '.join(lengths)}." if lengths else ""
        if not found:
            return f"No axis of these arrays has length one, here and in every call.{nor}"
        return f"Of these arrays' axes, only {', '.join(found)} has length one, here and in every call.{nor}"


def axis_and_rank(directive: str) -> tuple[int, int]:
    """What the text means that `np.r_` may be given first; a rank of 0 where it means something else.

    >>> axis_and_rank("0,2"), axis_and_rank("-1"), axis_and_rank("0,2,0")
    ((0, 2), (-1, 1), (0, 0))
    """
    try:
        axis, *more = (int(part) for part in directive.split(","))
    except ValueError:  # "r" and "c" mean matrices
        return 0, 0
    return axis, (more or [1])[0] if len(more) < 2 else 0
