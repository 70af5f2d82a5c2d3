"""The memory that arrays occupy: what overlaps, and what has changed between the sweeps."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tangentx.arrays.libraries import is_array, is_elsewhere, library_of
from tangentx.arrays.structures import PLAIN, fields
from tangentx.common.float_events import under_events
from tangentx.errors import NotDifferentiable, SharedMemory

# The memory that the arrays in a structure occupy.

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


# Run-time checks of assignments whose right-hand side may overlap the target.
#
# A derivative follows what the assignment of a copy means. NumPy 2 copies where it knows of the danger, and where it
# does not, it reads elements that it has just written: ``v[::2] = v[:-3]`` is such an assignment.


def demand_copied(target: Any, value: Any) -> None:
    """Checks that NumPy writes `value` to the vector `target` as it would a copy of it. Raises SharedMemory.

    NumPy goes through two vectors of one step in the direction that is safe, and copies where one runs backwards.
    """
    if not (isinstance(target, np.ndarray) and isinstance(value, np.ndarray) and target.ndim == 1 and value.ndim):
        return
    if target.strides[0] == value.strides[-1] or not np.may_share_memory(target, value):
        return
    if target.dtype != value.dtype or _reads_what_it_wrote(target, value):
        raise _overlapping()


def demand_unshared(target: Any, value: Any) -> None:
    """Checks that no array in `value` lies in the memory of `target`. Raises SharedMemory."""
    arrays = arrays_in(value) if isinstance(target, np.ndarray) else ()
    if any(np.may_share_memory(target, array) for array in arrays):
        raise _overlapping()


def demand_own(result: Any, given: Any, where: str) -> None:
    """Checks that no array in `result`, of what is checkpointed, lies in the memory of one in `given`.

    Raises SharedMemory, naming the call `where`.
    """
    theirs = arrays_in(given)
    if any(np.may_share_memory(mine, other) for mine in arrays_in(result) for other in theirs):
        raise SharedMemory(
            f"{where} is checkpointed and returns memory that it was given",
            hint="return a copy, or the argument itself, or nothing",
        )


def _overlapping() -> SharedMemory:
    return SharedMemory(
        "the value lies in the memory that it is written to, and NumPy reads there what it has just written",
        hint="write a copy of it: `value.copy()`",
    )


def _reads_what_it_wrote(target: Any, value: Any) -> bool:
    """Lets NumPy do the same with numbers that tell the places apart."""
    bounds = byte_bounds(target), byte_bounds(value)
    first, end = min(low for low, _ in bounds), max(high for _, high in bounds)
    size = target.itemsize
    if (address(target) - address(value)) % size or (end - first) // size > 2 ** (8 * size):
        return True
    numbers = np.arange((end - first) // size).astype(f"u{size}" if size in (1, 2, 4, 8) else target.dtype)
    copied = numbers.copy()
    _placed(target, numbers, first)[...] = _placed(value, numbers, first)
    _placed(target, copied, first)[...] = _placed(value, copied, first).copy()
    return not np.array_equal(numbers, copied)


def _placed(a: Any, memory: Any, first: int) -> Any:
    """The array in other memory, as it lies in its own from the byte `first` on."""
    return np.ndarray(a.shape, memory.dtype, buffer=memory.data, offset=address(a) - first, strides=a.strides)


# Detects changes between the sweeps: compares shared data with what it was when the program began.
#
# Code that is not followed may write into it in between: a callback, another thread that is waited for. The reverse
# sweep would read what the forward sweep did not.

_NUMBERS = (bool, int, float, complex, np.generic)


def as_seen(*xs: Any) -> tuple[Any, ...]:
    """What `demand_same` compares with: the contents of numbers, arrays and containers of them."""
    return tuple(map(_content, xs))


def demand_same(seen: tuple[Any, ...], where: str, names: str, *xs: Any) -> None:
    """Checks that the contents are as they were `seen`. Raises NotDifferentiable, with the name of what is not."""
    for name, before, x in zip(names.split(", "), seen, xs, strict=True):
        if _content(x, keep=False) != before:
            raise NotDifferentiable(
                f"`{name}` is changed while the function runs, by what it calls at {where} or by another thread, and "
                "the reverse sweep reads it again",
                hint=f"let the function read a copy, made before the call: `own = {name}.copy()`",
            )


def _content(x: Any, keep: bool = True) -> Any:
    """What can be compared by ``==``."""
    found: list[Any] = []
    _collect_data(x, {}, found, keep)
    return found


def _collect_data(x: Any, seen: dict[int, int], found: list[Any], keep: bool) -> None:
    if isinstance(x, _NUMBERS):
        found.append((type(x), repr(x)))
    elif isinstance(x, np.ndarray) and x.dtype.kind != "O":
        found.append(_Numbers(x.copy() if keep else x))
    elif isinstance(x, PLAIN) or (inside := _items(x)) is None:
        found.append(_Same(x))
    elif id(x) in seen:
        found.append(seen[id(x)])
    else:
        seen[id(x)] = len(seen)
        found.append((type(x), len(inside)))
        for key, item in inside.items():
            found.append(_Same(key))
            _collect_data(item, seen, found, keep)


def _items(x: Any) -> dict[Any, Any] | None:
    if isinstance(x, list | tuple):
        return dict(enumerate(x))
    inside = x if isinstance(x, dict) else fields(x)
    return None if inside is None else dict(inside)


class _Numbers:
    """The numbers in an array, equal to the same ones to the bit."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Numbers):
            return False
        a, b = self.array, other.array
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return under_events(lambda: bool(((a == b) | ((a != a) & (b != b))).all()), all="ignore")

    __hash__ = None  # type: ignore[assignment]


class _Same:
    """An object, equal to itself and to an equal string or number."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Same):
            return False
        a, b = self.value, other.value
        return a is b or (type(a) is type(b) and isinstance(a, str | bytes | int | float) and a == b)

    __hash__ = None  # type: ignore[assignment]
