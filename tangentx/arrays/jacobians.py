"""Jacobians: batches of directions, and what is assembled from their tangents or cotangents."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.libraries import as_array, is_array, is_elsewhere, library_of, zeros_of
from tangentx.errors import NotDifferentiable

# Directions for a Jacobian, and its assembly from their tangents or cotangents.


def direction(x: Any, place: int, before: int = 0) -> Any:
    """Zeros like `x`, a real or complex number or array, with a one at the flat `place`, of which `before` are not
    its own; plain zeros where the place lies outside."""
    if not is_array(x):
        return type(x)(place == before)
    unit = zeros_of(x, (x.size,))
    if 0 <= place - before < x.size:
        unit[place - before] = 1.0
    return unit.reshape(x.shape)


def directions(x: Any, before: int = 0, total: int | None = None) -> Any:
    """All of `direction`, ``(total, *x.shape)``: the places after `before` move one element each, the others none."""
    size = np.size(x)
    units = library_of(x).namespace.eye(size if total is None else total, size, -before, dtype=as_array(x).dtype)
    return units.reshape(len(units), *np.shape(x))


def columns(dots: Any, y: Any, x: Any, before: int = 0) -> Any:
    """The derivative of `y` by `x`, of shape ``y.shape + x.shape``, from tangents of `y` along all directions.

    `dots` has the shape ``(number of directions, *y.shape)``; the directions of `x` come after `before` others. Its
    dtype is that of `x`, complex where the tangents are. A number where both are numbers. The tangent of a constant
    beside others in a list has no axis of directions: it is the same, zero, along all.
    """
    if np.ndim(dots) == np.ndim(y):
        dots = np.broadcast_to(dots, (before + np.size(x), *np.shape(y)))
    block = np.moveaxis(as_array(dots)[before : before + np.size(x)], 0, -1)
    return _shaped(block, y, x, np.iscomplexobj(dots))


def rows(bars: Any, y: Any, x: Any, before: int = 0) -> Any:
    """As `columns`, from cotangents of `x`, ``(number of directions, *x.shape)``, for all directions of `y`."""
    return _shaped(as_array(bars)[before : before + np.size(y)], y, x, np.iscomplexobj(bars))


def _shaped(block: Any, y: Any, x: Any, is_complex: bool) -> Any:
    shape = np.shape(y) + np.shape(x)
    dtype = as_array(x).dtype
    dtype = np.result_type(dtype, np.complex64) if is_complex else dtype
    if is_elsewhere(block):
        return np.reshape(block, shape).astype(dtype, order="C")
    result = np.array(np.reshape(block, shape), dtype, order="C")
    return result if shape else _like(x, result[()])


def _like(x: Any, number: Any) -> Any:
    """The number in the type of `x`, unless it is complex and `x` is not."""
    return type(x)(number) if not is_array(x) and not isinstance(number, complex) else number


def uncolumns(bar: Any, dots: Any, y: Any, x: Any, before: int = 0) -> Any:
    """The cotangent of the first argument of `columns`."""
    result = zeros_of(as_array(dots), np.shape(dots))
    block = np.moveaxis(np.reshape(bar, (*np.shape(y), np.size(x))), -1, 0)
    result[before : before + np.size(x)] = block
    return result


def unrows(bar: Any, bars: Any, y: Any, x: Any, before: int = 0) -> Any:
    """The cotangent of the first argument of `rows`."""
    result = zeros_of(as_array(bars), np.shape(bars))
    result[before : before + np.size(y)] = np.reshape(bar, (np.size(y), *np.shape(x)))
    return result


def no_slope(y: Any, x: Any) -> Any:
    """The derivative of a `y` that does not depend on `x`: zeros of shape ``y.shape + x.shape``."""
    shape = np.shape(y) + np.shape(x)
    dtype = as_array(x).dtype
    if is_elsewhere(x) or is_elsewhere(y):
        return library_of(x if is_elsewhere(x) else y).namespace.zeros(shape, dtype)
    return np.zeros(shape, dtype) if shape else _like(x, dtype.type(0))


# Batches: arrays with an extra leading axis, beside values that have none.


def same_members(batch: Any, other: Any) -> Any:
    """`batch` itself, which must have as many members as `other`. Raises NotDifferentiable, naming both numbers."""
    if len(batch) != len(other):
        raise NotDifferentiable(
            f"one batch has {len(other)} members, but another one has {len(batch)}",
            hint="give batches of equal length, or None in in_axes for what is not a batch",
        )
    return batch


def over(x: Any, count: int) -> Any:
    """`x`, a number or array, `count` times along a new first axis; writable."""
    return np.repeat(np.asarray(x)[np.newaxis], count, axis=0)


def each_shape(batch: Any) -> tuple[int, ...]:
    """The shape of each value of a batch."""
    return tuple(int(n) for n in np.shape(batch)[1:])


def each_length(batch: Any) -> int:
    """The length of each value of a batch."""
    return int(np.shape(batch)[1])


def each_size(batch: Any) -> int:
    """The number of elements in each value of a batch."""
    return int(np.prod(np.shape(batch)[1:], dtype=int))


def with_count(count: int, lengths: Any) -> tuple[int, ...]:
    """The shape of a batch of `count` values of a shape."""
    return (count, *lengths) if isinstance(lengths, (tuple, list)) else (count, lengths)


def each_fitted(batch: Any, lengths: Any) -> Any:
    """Each value of a batch in another shape: summed where it was repeated, repeated where it is smaller."""
    extra = np.ndim(batch) - 1 - len(lengths)
    result = np.sum(batch, axis=tuple(range(1, 1 + extra))) if extra > 0 else batch
    if extra < 0:
        result = np.reshape(result, (len(result), *(1,) * -extra, *np.shape(result)[1:]))
    axes = tuple(i + 1 for i, n in enumerate(lengths) if n == 1 and np.shape(result)[i + 1] != 1)
    if axes:
        result = np.sum(result, axis=axes, keepdims=True)
    whole = (len(result), *lengths)
    return result if np.shape(result) == whole else np.array(np.broadcast_to(result, whole))
