"""Places in arrays as NumPy's functions that write know them, and the elements there."""

from __future__ import annotations

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
