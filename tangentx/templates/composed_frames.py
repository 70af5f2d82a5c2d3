"""Frames around arrays, elements put in and taken out, and other orders of the elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import frame_widths
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import constant, methods

constant(frame_widths)


@composition(
    np.pad,
    domain=(
        "A(2,3), 1, 'constant'",
        "A(3), (1,2), mode='constant'",
        "A(3), (1,2), constant_values=x",
        "A(3), (1,2), mode='edge'",
        "A(2,3), 2, 'reflect'",
        "A(2,3), ((0,1),(2,0)), 'symmetric'",
        "A(3), 4, 'wrap'",
        "A(2,3), {0: 1, 1: (0, 2)}, 'edge'",
        "A(2,3), ((1,0),(0,2)), constant_values=((1.0, 2.0), (x, y))",
        "A(2,3), ((2,1),(0,2)), 'linear_ramp', end_values=(x, y)",
        "A(2,3), 4, 'reflect', reflect_type='odd'",
        "A(2,3), ((2,0),(1,4)), 'symmetric', reflect_type='odd'",
        "A(3), (1,2), 'mean', stat_length=2",
        "A(2,3), 1, 'maximum'",
        "A(2,3), ((0,1),(1,1)), 'minimum', stat_length=((1,1),(2,3))",
        "A(3), 1, 'median'",
    ),
)
def pad(
    array: Any,
    pad_width: Any,
    mode: Any = "constant",
    *,
    constant_values: Any = 0.0,
    end_values: Any = 0.0,
    stat_length: Any = None,
    reflect_type: Any = "even",
) -> Any:
    """A frame of numbers, of elements from inside, or of what is made of them, along one axis after the other."""
    widths = frame_widths(pad_width, np.ndim(array))
    if mode == "constant" and np.ndim(constant_values) == 0:
        around = np.asarray(constant_values, array.dtype)
        return np.where(np.pad(np.ones_like(array, bool), widths), np.pad(array, widths), around)
    for axis in range(np.ndim(array)):
        if mode == "constant":
            ends = np.broadcast_to(np.asarray(constant_values, array.dtype), (np.ndim(array), 2))
            array = _between(ends[axis], array, widths[axis], axis)
        elif mode == "linear_ramp":
            array = _ramps(array, np.broadcast_to(end_values, (np.ndim(array), 2))[axis], widths[axis], axis)
        elif mode == "mean" or mode == "maximum" or mode == "minimum" or mode == "median":
            array = _statistics(mode, array, widths, stat_length, axis)
        elif mode == "edge" or mode == "wrap" or (reflect_type == "even" and mode in ("reflect", "symmetric")):
            array = np.take(array, np.pad(np.arange(array.shape[axis]), widths[axis], mode), axis)
        elif mode == "reflect" or mode == "symmetric":
            array = _reflected(array, widths[axis], mode, axis)
        else:
            raise NotDifferentiable(
                "`np.pad` has no derivative in this mode",
                hint="use another mode, such as 'constant' or 'edge'",
            )
    return array


def _between(ends: Any, array: Any, widths: Any, axis: Any) -> Any:
    """An array between two numbers along an axis."""
    front, back = _filled(array, widths[0], axis, ends[0]), _filled(array, widths[1], axis, ends[1])
    return np.concatenate([front, array, back], axis)


def _filled(array: Any, count: Any, axis: Any, value: Any) -> Any:
    """So many slices along an axis, of one number."""
    lengths = list(np.shape(array))
    lengths[axis] = count
    return np.zeros_like(array, shape=tuple(lengths)) + value


def _reflected(array: Any, widths: Any, mode: Any, axis: Any) -> Any:
    """An array that is turned about its ends, again and again until the frame is filled, as NumPy does it."""
    front, back = widths
    period = np.shape(array)[axis] - (mode == "reflect")
    if period == 0:
        return np.take(array, np.zeros(front + 1 + back, int), axis)
    skipped = np.shape(array)[axis] - period  # 1 where the end is not repeated
    while front > 0 or back > 0:
        known = (np.shape(array)[axis] - skipped) // period * period
        last = np.shape(array)[axis] - 1 - skipped
        before = np.take(array, np.arange(min(known, front))[::-1] + skipped, axis)
        behind = np.take(array, last - np.arange(min(known, back)), axis)
        first_end, last_end = np.take(array, [0], axis), np.take(array, [-1], axis)
        if front > 0:
            array = np.concatenate([2 * first_end - before, array], axis)
        if back > 0:
            array = np.concatenate([array, 2 * last_end - behind], axis)
        front, back = max(front - known, 0), max(back - known, 0)
    return array


def _ramps(array: Any, ends: Any, widths: Any, axis: Any) -> Any:
    """An array between straight lines that end at two numbers."""
    n = array.shape[axis]
    first, last = np.take(array, 0, axis), np.take(array, n - 1, axis)
    front = np.linspace(ends[0], first, widths[0], endpoint=False, dtype=array.dtype, axis=axis)
    back = np.linspace(ends[1], last, widths[1], endpoint=False, dtype=array.dtype, axis=axis)
    return np.concatenate([front, array, np.flip(back, axis)], axis)


def _statistics(mode: Any, array: Any, widths: Any, stat_length: Any, axis: Any) -> Any:
    """An array between what is said of its first and of its last elements."""
    n = array.shape[axis]
    lengths = frame_widths(n if stat_length is None else stat_length, np.ndim(array))[axis]
    front = _statistic(mode, np.take(array, np.arange(min(lengths[0], n)), axis), axis)
    back = _statistic(mode, np.take(array, np.arange(max(n - lengths[1], 0), n), axis), axis)
    parts = [np.repeat(front, widths[axis][0], axis), array, np.repeat(back, widths[axis][1], axis)]
    return np.concatenate(parts, axis)


def _statistic(mode: Any, part: Any, axis: Any) -> Any:
    if mode == "mean":
        return np.mean(part, axis=axis, keepdims=True)
    if mode == "median":
        return np.median(part, axis=axis, keepdims=True)
    if mode == "maximum":
        return np.max(part, axis=axis, keepdims=True)
    return np.min(part, axis=axis, keepdims=True)


@composition(np.sort, domain=("A(4), kind='stable'", "A(2,3), 0, 'heapsort'"))
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """Elements in order, however they get there."""
    if order is not None:
        raise NotDifferentiable("np.sort by the fields of records has no derivative", hint="sort one field's array")
    return np.sort(a, axis)


@composition(np.delete, domain=("A(4), [1, 3]", "A(4), -1", "A(2,3), 4", "A(2,3), slice(0, 2), axis=1"))
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """Without the elements at some places."""
    row = np.ravel(arr) if axis is None else arr
    along = 0 if axis is None else axis
    return np.take(row, np.delete(np.arange(row.shape[along]), obj), along)


@composition(
    np.insert,
    domain=(
        "A(4), 1, x",
        "A(4), -1, A(2)",
        "A(4), [0, 3], A(2)",
        "A(4), [0, 3, 3], x",
        "A(2,2), 3, x",
        "A(2,3), 1, A(2), axis=1",
        "A(2,3), [1], A(2,2), 1",
        "A(2,3), slice(0, 2), A(3), axis=0",
    ),
)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """Values put before some places along an axis, or of the row of all elements."""
    if axis is not None:
        return _insert_along(arr, obj, values, axis % np.ndim(arr))
    row, more = np.ravel(arr), np.ravel(np.asarray(values, np.asarray(arr).dtype))
    count = len(row)
    order = np.insert(np.arange(count), obj, np.arange(count, count + len(more)) if np.ndim(values) else count)
    return np.concatenate([row, more])[order]


def _insert_along(arr: Any, obj: Any, values: Any, axis: Any) -> Any:
    """Slices put before some places along an axis; one place takes as many as are given."""
    shape, given = np.shape(arr), np.asarray(values, np.asarray(arr).dtype)
    given = np.reshape(given, (1,) * (np.ndim(arr) - np.ndim(given)) + np.shape(given))
    places = np.arange(shape[axis])[obj] if isinstance(obj, slice) else np.asarray(obj)
    if np.ndim(places) == 0:
        given = np.moveaxis(given, 0, axis)
    count = np.shape(given)[axis] if np.size(places) == 1 else np.size(places)
    added = np.broadcast_to(given, (*shape[:axis], count, *shape[axis + 1 :]))
    order = np.insert(np.arange(shape[axis]), places, np.arange(shape[axis], shape[axis] + count))
    return np.take(np.concatenate([arr, added], axis), order, axis)


@composition(
    np.reshape,
    domain=(
        "A(2,3), (3,2), 'F'",
        "A(2,3), (3,2), order='C'",
        "A(2,3), -1, order='F'",
        "A(6), (1,2,3), order='F'",
        "A(2,3), (3,2), copy=True",
    ),
)
def reshape(a: Any, shape: Any, order: Any = "C", *, copy: Any = None) -> Any:
    """New shape, the elements taken by rows or by columns."""
    if copy:
        return np.copy(np.reshape(a, shape, order))
    if order == "F":
        return np.transpose(np.reshape(np.transpose(a), shape[::-1] if np.ndim(shape) else shape))
    if order != "C":
        raise NotDifferentiable("the order of the elements depends on the layout", hint="use order='C' or order='F'")
    return np.reshape(a, shape)


@composition(
    *methods("reshape"), domain=("A(2,3), (3,2), order='F'", "A(2,3), 3, 2, order='F'", "A(2,3), -1, order='C'")
)
def reshape_method(a: Any, *shape: Any, order: Any = "C", copy: Any = None) -> Any:
    """As the function, the lengths one by one or as a tuple."""
    return np.reshape(a, shape[0] if len(shape) == 1 else shape, order, copy=copy)


@composition(np.ravel, *methods("ravel", "flatten"), domain=("A(2,3), 'F'", "A(2,3), order='C'"))
def ravel(a: Any, order: Any = "C") -> Any:
    """All elements in a row, by rows or by columns."""
    if order == "F":
        return np.ravel(np.transpose(a))
    if order != "C":
        raise NotDifferentiable("the order of the elements depends on the layout", hint="use order='C' or order='F'")
    return np.ravel(a)
