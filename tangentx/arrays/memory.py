"""The memory that the arrays in a structure occupy."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tangentx.arrays.libraries import is_array, is_elsewhere, library_of
from tangentx.arrays.structures import PLAIN, fields
from tangentx.errors import SharedMemory

_WRITEABLE = 0x0400  # NumPy's NPY_ARRAY_WRITEABLE


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
    if is_array(x):
        if not is_recorder(x):
            found.append(x)
        return
    for item in _inside(x) or ():
        _collect(item, seen, found)


def is_recorder(x: Any) -> bool:
    """Whether `x` only stands for an array, where a program runs on Tensors: it is none, and stays where it is."""
    return type(x) is not np.ndarray and hasattr(type(x), "__tangentx_record__")


def _inside(x: Any) -> Collection[Any] | None:
    """The items of a container, the attributes of an object; of an array nothing; None for what is opaque."""
    if isinstance(x, (list, tuple)):
        return x
    if is_array(x):
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
    bounds = sorted((bounds_of(a) for a in found if a.size and a.dtype.kind != "O"), key=lambda pair: pair[0])
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
    place: int = a.__array_interface__["data"][0] if isinstance(a, np.ndarray) else a.data.ptr
    return place


def bounds_of(a: Any) -> tuple[int, int]:
    """The first byte of an array, and the one behind the last; on a device, of that."""
    if isinstance(a, np.ndarray):
        return byte_bounds(a)
    low = high = address(a)
    for stride, n in zip(a.strides, a.shape, strict=True):
        low, high = low + min(stride * (n - 1), 0), high + max(stride * (n - 1), 0)
    return low, high + a.itemsize


def may_share(a: Any, b: Any) -> bool:
    """Whether the memory of two arrays may overlap: what NumPy asks of its own, of those on a device too."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and bool(np.may_share_memory(a, b))
    (low, high), (first, end) = bounds_of(a), bounds_of(b)
    return bool(a.size and b.size) and low < end and first < high


def zeros_there(a: Any) -> Any:
    """Zeros in the library, shape, dtype and strides of an array on a device. Raises SharedMemory where the strides do
    not go by elements."""
    if a.flags.c_contiguous or 0 in a.shape or repeats(a):
        return np.zeros_like(a, order="C")
    low, high = bounds_of(a)
    return shown_in(row_for(a, high - low), low, a)


def row_for(a: Any, count: int) -> Any:
    """A row of zeros in the library and dtype of `a`, of so many bytes."""
    return np.zeros_like(a, order="C", shape=(count // a.itemsize,))


def shown_in(row: Any, first: int, a: Any) -> Any:
    """The view of a row, in the place of the memory that begins at `first`, that `a` is of that. Raises SharedMemory
    where it does not go by the elements of the row."""
    offset = address(a) - first
    if row.dtype != a.dtype or any(n % a.itemsize for n in (offset, *a.strides)):
        message = "arrays on a device that show their memory as unlike elements"
        raise SharedMemory(message, hint="pass copies: `x.copy()`")
    return library_of(a).namespace.lib.stride_tricks.as_strided(row[offset // a.itemsize :], a.shape, a.strides)


def rows_for(found: list[Any], least: int = 1) -> list[tuple[Stretch, Any]]:
    """For each stretch of memory on a device in which so many of the arrays lie, a row of zeros in its place."""
    there = [a for a in found if is_elsewhere(a)]
    if not there:
        return []
    return [
        (s, row_for(next(a for a in there if s.first <= bounds_of(a)[0] < s.end), s.end - s.first))
        for s in stretches(there)
        if s.arrays >= least
    ]


def is_writable(a: Any) -> bool:
    """Whether an array may be written, without a word: NumPy warns where `flags.writeable` is read of arrays that
    `np.broadcast_arrays` has made."""
    return bool(a.flags.num & _WRITEABLE) if isinstance(a, np.ndarray) else bool(a.flags.writeable)


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
