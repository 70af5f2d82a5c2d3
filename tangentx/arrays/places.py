"""Places in arrays as NumPy's functions that write know them, and the elements there."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np


def flat_key(key: Any, dims: Any) -> tuple[Any, ...]:
    """The index of what `key` selects of the elements of an array of shape `dims` in a row: one part for each axis.

    Whole numbers for a whole number, else vectors. Raises IndexError for places outside.
    """
    size = int(np.prod(dims, dtype=int))
    if isinstance(key, slice):
        return np.unravel_index(np.arange(size)[key], dims)
    if np.ndim(key) == 0:
        place = operator.index(key)
        if not -size <= place < size:
            raise IndexError(f"index {place} is out of bounds for size {size}")
        return tuple(int(i) for i in np.unravel_index(place % size, dims))
    places = np.ravel(key)
    places = np.flatnonzero(places) if places.dtype == bool else places.astype(int)
    if np.any(places < -size) or np.any(places >= size):
        raise IndexError(f"an index is out of bounds for size {size}")
    return np.unravel_index(np.where(places < 0, places + size, places), dims)


def along(indices: Any, axis: Any, dims: Any) -> tuple[Any, ...]:
    """The index by which ``np.take_along_axis`` reads an array of shape `dims`, one part for each axis."""
    parts = list(np.indices(dims, sparse=True))
    parts[axis] = np.asarray(indices)
    return tuple(parts)


def mask_like(where: Any, a: Any) -> Any:
    """`where` as a mask of the shape of `a`; raises ValueError where it does not fit."""
    mask = np.asarray(where, dtype=bool)
    return mask if mask.shape == np.shape(a) else np.array(np.broadcast_to(mask, np.shape(a)))


def selected(a: Any, mask: Any) -> Any:
    """The elements of `a`, broadcast to the shape of `mask`, where that holds: a vector of its own."""
    return np.broadcast_to(a, mask.shape)[mask]


def unselected(t: Any, mask: Any) -> Any:
    """Adjoint of `selected`: `t` where the mask holds, zeros elsewhere."""
    result = np.zeros(mask.shape, np.asarray(t).dtype)
    result[mask] = t
    return result


def cycled(values: Any, count: Any) -> Any:
    """So many of the values, from the first again after the last. Raises ValueError where there are none."""
    row = np.ravel(values)
    if count and not row.size:
        raise ValueError("there are no values to write")
    return row[np.arange(count) % max(row.size, 1)]


def section_bounds(length: Any, sections: Any, even: Any) -> tuple[int, ...]:
    """Where so many stretches of `length` elements end, but the last. Raises ValueError if `even` ones leave a rest."""
    if even and length % sections:
        raise ValueError("array split does not result in an equal division")
    each, more = divmod(length, sections)
    return tuple(each * k + min(k, more) for k in range(1, sections))


def positions(*dims: Any) -> list[tuple[int, ...]]:
    """``list(np.ndindex(*dims))``: the indices of all elements by rows."""
    return list(np.ndindex(*dims))


def nonzero_ends(row: Any, trim: str = "fb") -> tuple[int, int]:
    """Where the elements of a row begin that are not 0, and where they end, at the sides that are to be trimmed."""
    places = np.flatnonzero(row)
    if len(places) == 0:
        return 0, 0
    ends = trim.lower()
    return int(places[0]) if "f" in ends else 0, int(places[-1]) + 1 if "b" in ends else len(row)


def remainder_start(rest: Any) -> int:
    """Where the remainder of a division of polynomials begins, behind coefficients that are 0 up to rounding."""
    first = 0
    while first < len(rest) - 1 and np.allclose(rest[first], 0, rtol=1e-14):
        first += 1
    return first


def binary_exponent(x: Any) -> Any:
    """The power of two that a number is multiplied with where the rest is from a half to one."""
    return np.frexp(x)[1] if isinstance(x, np.ndarray | np.generic) else math.frexp(x)[1]


def whole_turns(p: Any, discont: Any = None, axis: int = -1, period: Any = 2.0 * np.pi) -> Any:
    """How many periods ``np.unwrap`` takes away from each phase."""
    p = np.asarray(p)
    steps, half = np.diff(p, axis=axis), period / 2.0
    turns = np.floor_divide(steps + half, period)
    turns = np.where((np.mod(steps + half, period) == 0.0) & (steps > 0.0), turns - 1.0, turns)
    turns = np.where(np.abs(steps) < (half if discont is None else discont), 0.0, turns)
    first = np.zeros_like(np.take(p, [0], axis=axis), dtype=turns.dtype)
    return np.cumsum(np.concatenate([first, turns], axis=axis), axis=axis)
