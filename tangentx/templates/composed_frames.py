"""Frames around arrays, elements put in and taken out, and other orders of the elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import methods


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
    ),
)
def pad(array: Any, pad_width: Any, mode: Any = "constant", *, constant_values: Any = 0.0) -> Any:
    """A frame of one number, or of elements from inside."""
    if mode == "constant":
        if np.ndim(constant_values) > 0:
            raise NotDifferentiable("a frame of several numbers has no derivative", hint="pad one side after the other")
        return np.where(np.pad(np.ones_like(array, bool), pad_width), np.pad(array, pad_width), constant_values)
    if mode != "edge" and mode != "reflect" and mode != "symmetric" and mode != "wrap":
        raise NotDifferentiable(
            "np.pad has no derivative in this mode", hint="use 'constant', 'edge', 'reflect', 'symmetric' or 'wrap'"
        )
    widths = np.broadcast_to(pad_width, (np.ndim(array), 2))
    for axis in range(np.ndim(array)):
        array = np.take(array, np.pad(np.arange(array.shape[axis]), widths[axis], mode), axis)
    return array


@composition(np.delete, domain=("A(4), [1, 3]", "A(4), -1", "A(2,3), 4", "A(2,3), slice(0, 2), axis=1"))
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """Without the elements at some places."""
    row = np.ravel(arr) if axis is None else arr
    along = 0 if axis is None else axis
    return np.take(row, np.delete(np.arange(row.shape[along]), obj), along)


@composition(
    np.insert,
    domain=("A(4), 1, x", "A(4), -1, A(2)", "A(4), [0, 3], A(2)", "A(4), [0, 3, 3], x", "A(2,2), 3, x"),
)
def insert(arr: Any, obj: Any, values: Any) -> Any:
    """Values put before some places of the row of all elements."""
    row, more = np.ravel(arr), np.ravel(values)
    count = len(row)
    order = np.insert(np.arange(count), obj, np.arange(count, count + len(more)) if np.ndim(values) else count)
    return np.concatenate([row, more])[order]


@composition(
    np.reshape,
    domain=("A(2,3), (3,2), 'F'", "A(2,3), (3,2), order='C'", "A(2,3), -1, order='F'", "A(6), (1,2,3), order='F'"),
)
def reshape(a: Any, shape: Any, order: Any = "C") -> Any:
    """New shape, the elements taken by rows or by columns."""
    if order == "F":
        return np.transpose(np.reshape(np.transpose(a), shape[::-1] if np.ndim(shape) else shape))
    if order != "C":
        raise NotDifferentiable("the order of the elements depends on the layout", hint="use order='C' or order='F'")
    return np.reshape(a, shape)


@composition(
    *methods("reshape"), domain=("A(2,3), (3,2), order='F'", "A(2,3), 3, 2, order='F'", "A(2,3), -1, order='C'")
)
def reshape_method(a: Any, *shape: Any, order: Any = "C") -> Any:
    """As the function, the lengths one by one or as a tuple."""
    return np.reshape(a, shape[0] if len(shape) == 1 else shape, order)


@composition(np.ravel, *methods("ravel", "flatten"), domain=("A(2,3), 'F'", "A(2,3), order='C'"))
def ravel(a: Any, order: Any = "C") -> Any:
    """All elements in a row, by rows or by columns."""
    if order == "F":
        return np.ravel(np.transpose(a))
    if order != "C":
        raise NotDifferentiable("the order of the elements depends on the layout", hint="use order='C' or order='F'")
    return np.ravel(a)
