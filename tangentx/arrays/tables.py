"""Adjoints of filters, tiling and padding, and queries on matrices and lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.libraries import as_array, zeros_of
from tangentx.arrays.products import careful
from tangentx.errors import NotDifferentiable


def ordered(keys: Any, reverse: Any = False) -> list[int]:
    """The positions of `keys` in ascending (or descending) order, equal ones as they stand."""
    return sorted(range(len(keys)), key=lambda i: keys[i], reverse=bool(reverse))


def unconvolve(t: Any, other: Any, shape: tuple[int, ...], mode: Any = "full") -> Any:
    """Adjoint of ``np.convolve`` in the operand of `shape`, the other one being `other`."""
    return careful(_unconvolve, t, other, shape, mode)


def _unconvolve(t: Any, other: Any, shape: tuple[int, ...], mode: Any) -> Any:
    size, width = shape[0], len(other)
    start = {"full": 0, "same": (min(size, width) - 1) // 2, "valid": min(size, width) - 1}[mode]
    whole = zeros_of(as_array(t), (size + width - 1,))
    whole[start : start + len(t)] = t
    return np.convolve(whole, other[::-1], "full")[width - 1 : width - 1 + size]


def untile(t: Any, shape: tuple[int, ...], reps: Any) -> Any:
    """Adjoint of ``np.tile``: the copies of an array of `shape` are added up."""
    counts = tuple(reps) if np.ndim(reps) else (int(reps),)
    rank = max(len(counts), len(shape))
    counts = (1,) * (rank - len(counts)) + counts
    padded = (1,) * (rank - len(shape)) + tuple(shape)
    parts = np.reshape(t, tuple(n for pair in zip(counts, padded, strict=True) for n in pair))
    return np.reshape(np.sum(parts, axis=tuple(range(0, 2 * rank, 2))), shape)[()]


def unpad(t: Any, shape: tuple[int, ...], pad_width: Any) -> Any:
    """Adjoint of ``np.pad`` with zeros: the inner part."""
    front = [first for first, _ in frame_widths(pad_width, len(shape))]
    return np.copy(t[tuple(slice(i, i + n) for i, n in zip(front, shape, strict=True))])


def frame_widths(pad_width: Any, rank: int) -> tuple[tuple[int, int], ...]:
    """How wide a frame is before and behind along each axis, however ``np.pad`` is told."""
    if isinstance(pad_width, dict):
        given: list[Any] = [(0, 0)] * rank
        for axis, width in pad_width.items():
            given[axis] = width if np.ndim(width) else (width, width)
    else:
        given = list(np.broadcast_to(pad_width, (rank, 2)))
    return tuple((int(first), int(last)) for first, last in given)


def add_windows(t: Any, shape: tuple[int, ...], window_shape: Any, axis: Any = None) -> Any:
    """Adjoint of ``sliding_window_view``: what stands in all windows is added to where they lie in zeros of `shape`."""
    lengths = (int(window_shape),) if np.ndim(window_shape) == 0 else tuple(int(n) for n in window_shape)
    axes = range(len(shape)) if axis is None else (axis,) if np.ndim(axis) == 0 else tuple(axis)
    result = zeros_of(as_array(t), shape)
    for offsets in np.ndindex(lengths):
        where = [slice(0, n) for n in np.shape(t)[: len(shape)]]
        for place, offset in zip(axes, offsets, strict=True):
            first = where[place].start + offset
            where[place] = slice(first, first + where[place].stop - where[place].start)
        result[tuple(where)] += t[(..., *offsets)]
    return result


def largest_like(x: Any) -> Any:
    """The largest number of the dtype of `x`. Raises NotDifferentiable for complex numbers."""
    dtype = as_array(x).dtype
    if dtype.kind == "c":
        raise NotDifferentiable("np.nan_to_num of complex numbers has no derivative", hint="take the parts one by one")
    return np.finfo(dtype).max


def demand_real(t: Any, found: Any, a: Any) -> Any:
    """`t` itself; raises NotDifferentiable where what was found of a real matrix is complex, or where the matrix is
    singular."""
    if np.iscomplexobj(found) and not np.iscomplexobj(a):
        raise NotDifferentiable(
            "a complex function of a real matrix has no derivative", hint="make the matrix complex: `a + 0j`"
        )
    precision = np.finfo(np.result_type(a, np.float32)).eps
    if np.size(a) and np.any(np.linalg.cond(a, 1) > 0.1 / precision):
        raise NotDifferentiable(
            "a root, power or logarithm of a singular matrix has no derivative that can be found",
            hint="add a small multiple of the identity to the matrix",
        )
    return t


def det_sign(a: Any) -> Any:
    """Sign of the determinant."""
    return np.linalg.slogdet(a)[0]


def log_det(a: Any) -> Any:
    """Logarithm of the size of the determinant."""
    return np.linalg.slogdet(a)[1]


def _along(a: Any, start: Any, stop: Any, axis: Any) -> Any:
    """A part of an array along an axis."""
    return a[(*(slice(None),) * (axis % np.ndim(a)), slice(start, stop))]


def neighbour_sums(wide: Any, w: Any, axis: Any) -> Any:
    """Sums of neighbours along an axis, weighed, where all of them are inside.

    >>> neighbour_sums(np.array([1.0, 2.0, 4.0, 8.0]), np.array([1.0, 10.0]), 0)
    array([21., 42., 84.])
    """
    count = np.shape(wide)[axis] - len(w) + 1
    total = _along(wide, 0, count, axis) * w[0]
    for k in range(1, len(w)):
        total = total + _along(wide, k, k + count, axis) * w[k]
    return total


def neighbour_spread(t: Any, w: Any, axis: Any) -> Any:
    """The adjoint of `neighbour_sums` in its first argument.

    >>> neighbour_spread(np.array([1.0, 2.0]), np.array([1.0, 10.0]), 0)
    array([ 1., 12., 20.])
    """
    count = np.shape(t)[axis]
    shape = list(np.shape(t))
    shape[axis] = count + len(w) - 1
    found = np.zeros(shape, np.result_type(t, w))
    for k in range(len(w)):
        part = _along(found, k, k + count, axis)
        part += t * w[k]
    return found


def neighbour_products(wide: Any, t: Any, axis: Any) -> Any:
    """The adjoint of `neighbour_sums` in the weights.

    >>> neighbour_products(np.array([1.0, 2.0, 4.0]), np.array([1.0, 10.0]), 0)
    array([21., 42.])
    """
    count = np.shape(t)[axis]
    sums = [np.sum(_along(wide, k, k + count, axis) * t) for k in range(np.shape(wide)[axis] - count + 1)]
    return np.stack(sums)


def as_reals(a: Any) -> Any:
    """The memory of complex numbers as real and imaginary parts, in turn along the last axis.

    >>> as_reals(np.array([1.0 + 2.0j, 3.0]))
    array([1., 2., 3., 0.])
    """
    return a.view(a.real.dtype)


def as_complex(a: Any) -> Any:
    """The memory of real numbers, in twos along the last axis, as complex ones.

    >>> as_complex(np.array([1.0, 2.0, 3.0, 0.0]))
    array([1.+2.j, 3.+0.j])
    """
    return a.view(np.result_type(a.dtype, 1j))


def det_phase(a: Any) -> Any:
    """The determinant of a complex matrix, divided by its size."""
    return np.linalg.slogdet(a)[0]
