"""The memory that the arrays in a structure occupy."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tangentx.arrays.structures import PLAIN, fields
from tangentx.errors import SharedMemory


class Stretch(NamedTuple):
    """A stretch of memory from the byte `first` up to `end`, and how many arrays lie in it."""

    first: int
    end: int
    arrays: int


def arrays_in(x: Any) -> list[Any]:
    """The arrays that `x` reaches, each once."""
    found: list[Any] = []
    _collect(x, set(), found)
    return found


def _collect(x: Any, seen: set[int], found: list[Any]) -> None:
    if isinstance(x, PLAIN) or id(x) in seen:
        return
    seen.add(id(x))
    if isinstance(x, np.ndarray):
        found.append(x)
        return
    for item in _inside(x) or ():
        _collect(item, seen, found)


def _inside(x: Any) -> Collection[Any] | None:
    """The items of a container, the attributes of an object; of an array nothing; None for what is opaque."""
    if isinstance(x, (list, tuple)):
        return x
    if isinstance(x, np.ndarray):
        return ()
    inside = x if isinstance(x, dict) else fields(x)
    return None if inside is None else inside.values()


def apart(x: Any) -> None:
    """Checks that no part of the structure `x` stands in it twice and no two arrays overlap. Raises SharedMemory."""
    seen: set[int] = set()
    todo = [x]
    while todo:
        part = todo.pop()
        if isinstance(part, PLAIN) or (inside := _inside(part)) is None:
            continue
        if id(part) in seen:
            raise _twice()
        seen.add(id(part))
        todo.extend(inside)
    if any(s.arrays > 1 for s in stretches(arrays_in(x))):
        raise _twice()


def _twice() -> SharedMemory:
    return SharedMemory(
        "a structure that is copied holds an array or a container twice", hint="copy its parts one by one"
    )


def stretches(found: list[Any]) -> list[Stretch]:
    """The memory of arrays, from first to last; what overlaps is one stretch."""
    bounds = sorted((byte_bounds(a) for a in found if a.size and a.dtype.kind != "O"), key=lambda pair: pair[0])
    joined: list[Stretch] = []
    for low, high in bounds:
        if joined and low < joined[-1].end:
            last = joined[-1]
            joined[-1] = Stretch(last.first, max(last.end, high), last.arrays + 1)
        else:
            joined.append(Stretch(low, high, 1))
    return joined


def address(a: Any) -> int:
    """Where the first element of an array lies."""
    place: int = a.__array_interface__["data"][0]
    return place


def repeats(a: Any) -> bool:
    """Whether the array may show an element of its memory at several places, as broadcasting does and windows do.

    No where each axis steps over all that the axes of smaller steps reach.
    """
    if a.flags.c_contiguous or a.size == 0:
        return False
    reach = a.itemsize
    for stride, n in sorted((abs(stride), n) for stride, n in zip(a.strides, a.shape, strict=True) if n > 1):
        if stride < reach:
            return True
        reach += stride * (n - 1)
    return False
