"""Positions of elements as NumPy's writing functions address them, and the elements there."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np

from tangentx.arrays.libraries import as_array, counted, zeros_of


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
    rank = len(dims)
    parts = [counted(n, indices).reshape((1,) * i + (n,) + (1,) * (rank - i - 1)) for i, n in enumerate(dims)]
    parts[axis] = as_array(indices)
    return tuple(parts)


def mask_like(where: Any, a: Any) -> Any:
    """`where` as a mask of the shape of `a`; raises ValueError where it does not fit."""
    mask = as_array(where).astype(bool, copy=False)
    return mask if mask.shape == np.shape(a) else np.broadcast_to(mask, np.shape(a)).copy()


def selected(a: Any, mask: Any) -> Any:
    """The elements of `a`, broadcast to the shape of `mask`, where that holds: a vector of its own."""
    return np.broadcast_to(a, mask.shape)[mask]


def unselected(t: Any, mask: Any) -> Any:
    """Adjoint of `selected`: `t` where the mask holds, zeros elsewhere."""
    result = zeros_of(mask, mask.shape).astype(as_array(t).dtype)
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


def monomial_powers(rank: int, degree: int) -> Any:
    """The powers of `rank` coordinates in each product of up to `degree` of them, the short products first."""
    chosen = [c for k in range(degree + 1) for c in itertools.combinations_with_replacement(range(rank), k)]
    return np.array([[c.count(axis) for axis in range(rank)] for c in chosen], int).reshape(len(chosen), rank)


def leading_zeros(c: Any) -> int:
    """How many coefficients are 0 before the first that is not; of nothing but zeros, the last stays."""
    places = np.flatnonzero(c)
    return int(places[0]) if len(places) else max(len(c) - 1, 0)


def binary_exponent(x: Any) -> Any:
    """The power of two that a number is multiplied with where the rest is from a half to one."""
    return np.frexp(x)[1]


def first_is_whole(items: Any) -> bool:
    """Whether the first of some items is a whole number."""
    return len(items) > 0 and bool(np.asarray(items[0]).dtype.kind in "biu")


def firsts(ordered: Any, equal_nan: bool = True) -> Any:
    """Which elements in order are the first of those that equal them; also of nan, if these count as equal."""
    first = np.ones(np.shape(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    if equal_nan:
        first[1:] &= ~(np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    return first


def bin_of(a: Any, edges: Any) -> Any:
    """The bin of each element in the row of all, the last one closed on both sides; the number of bins for the rest."""
    a, edges = np.ravel(a), np.asarray(edges)
    count = len(edges) - 1
    if np.any(edges[1:] < edges[:-1]):
        raise ValueError("`bins` must increase monotonically, when an array")
    place = np.searchsorted(edges, a, side="right") - 1
    place = np.where(a == edges[-1], count - 1, place)
    return np.where((a >= edges[0]) & (a <= edges[-1]), place, count)


def ordered_by_bins(a: Any, edges: Any) -> tuple[Any, Any]:
    """The order of the elements in the row of all, and how many of them come before each edge; the last bin is closed.

    >>> ordered_by_bins(np.array([0.7, 0.1, 2.0]), np.array([0.0, 1.0, 2.0]))
    (array([1, 0, 2]), array([0, 2, 3]))
    """
    row, edges = np.ravel(a), np.asarray(edges)
    if np.any(edges[:-1] > edges[1:]):
        raise ValueError("`bins` must increase monotonically, when an array")
    order = np.argsort(row)
    below, last = np.searchsorted(row[order], edges[:-1]), np.searchsorted(row[order], edges[-1:], "right")
    return order, np.concatenate([below, last])


def cells_of(x: Any, y: Any, down: Any, across: Any) -> Any:
    """The cell of each point in the row of all cells; the number of cells for points outside."""
    rows, columns = len(down) - 1, len(across) - 1
    row, column = bin_of(x, down), bin_of(y, across)
    return np.where((row < rows) & (column < columns), row * columns + column, rows * columns)


def chosen_places(a: Any, choices: Any, mode: str = "raise") -> Any:
    """Which of some choices ``np.choose`` takes at each place."""
    a, count = np.asarray(a), len(choices)
    if mode == "wrap":
        return a % count
    if mode == "clip":
        return np.clip(a, 0, count - 1)
    if np.any((a < 0) | (a >= count)):
        raise ValueError("invalid entry in choice array")
    return a


def beside_unique(ar: Any, index: bool, inverse: bool, counts: bool, equal_nan: bool) -> tuple[Any, ...]:
    """What ``np.unique`` tells beside the values."""
    unique: Any = np.unique
    return tuple(unique(ar, index, inverse, counts, equal_nan=equal_nan)[1:])


def stretch_ends(indices: Any, count: int) -> list[tuple[int, int]]:
    """Where the stretches of a ufunc's ``reduceat`` begin and end in a row of `count` elements."""
    starts = [int(i) for i in np.asarray(indices)]
    stops = [*starts[1:], count]
    return [(i, j if j > i else i + 1) for i, j in zip(starts, stops, strict=True)]
