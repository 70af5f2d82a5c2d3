"""Run-time checks of assignments whose right-hand side may overlap the target.

A derivative follows what the assignment of a copy means. NumPy 2 copies where it knows of the danger, and where it does
not, it reads elements that it has just written: ``v[::2] = v[:-3]`` is such an assignment.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tangentx.arrays.memory import address, arrays_in
from tangentx.errors import SharedMemory


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
