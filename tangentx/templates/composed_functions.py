"""Functions that call a function of the user's on parts of arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.arrays import first_is_whole
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import constant

constant(first_is_whole)


@composition(
    np.apply_along_axis,
    domain=(
        "np.prod, 0, A(3,2)",
        "np.max, -1, A(2,3,2)",
        "np.cumsum, 1, A(2,3)",
        "np.diff, 0, A(3,2), n=2",
        "np.std, 0, A(3)",
    ),
)
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of each row along an axis."""
    rows = np.moveaxis(arr, axis, -1)
    if math.prod(rows.shape[:-1]) == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    flat = np.reshape(rows, (math.prod(rows.shape[:-1]), rows.shape[-1]))
    found = np.stack([func1d(row, *args, **kwargs) for row in flat])
    if np.ndim(found) == 1:
        return np.reshape(found, np.shape(rows)[:-1])[()]
    if np.ndim(found) > 2:
        raise NotDifferentiable("a table for each row has no derivative here", hint="loop over the rows yourself")
    return np.moveaxis(np.reshape(found, np.shape(rows)[:-1] + np.shape(found)[1:]), -1, axis)


@composition(np.apply_over_axes, domain=("np.sum, A(2,3), (0, 1)", "np.mean, A(2,3,2), [0, 2]"))
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """A reduction along one axis after the other, each of which stays."""
    for axis in axes:
        reduced = func(a, axis)
        a = reduced if np.ndim(reduced) == np.ndim(a) else np.expand_dims(reduced, axis)
    return a


@composition(
    np.piecewise,
    domain=(
        "A(4), [np.array([True, False, False, True])], [np.sin, np.cos]",
        "A(3), [np.array([True, False, False]), np.array([False, True, False])], [2.0, -1.0, x]",
        "A(2,2), [np.array([[True, False], [True, True]])], [np.multiply, np.add], 3.0",
    ),
    containers=True,
)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any) -> Any:
    """Functions of the elements at which a condition holds, the last that does; a function more is for the rest."""
    found, rest = np.zeros_like(x), np.ones(np.shape(x), bool)
    for condition, function in zip(condlist, funclist, strict=False):
        chosen = np.asarray(condition)
        rest = rest & ~chosen
        found = _put(found, chosen, x, function, args)
    return _put(found, rest, x, funclist[-1], args) if len(funclist) > len(condlist) else found


def _put(found: Any, chosen: Any, x: Any, function: Any, args: Any) -> Any:
    """`found` with a function of the chosen elements, or a number, in their places."""
    put = np.copy(found)
    put[chosen] = function(x[chosen], *args) if callable(function) else function
    return put


@composition(np.fromfunction, domain=("np.add, (2,3), dtype=float",))
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """A function of the indices of an array."""
    grid = np.indices(shape, dtype=dtype)
    if len(shape) == 1:
        return function(grid[0], **kwargs)
    if len(shape) == 2:
        return function(grid[0], grid[1], **kwargs)
    if len(shape) == 3:
        return function(grid[0], grid[1], grid[2], **kwargs)
    raise NotDifferentiable("np.fromfunction of so many axes has no derivative", hint="use `np.indices`")


@composition(np.fromiter, domain=("[x, y, 1.0], float", "[x, y, x], float, 2"))
def fromiter(iter: Any, dtype: Any, count: Any = -1) -> Any:
    """An array of the items."""
    items = np.array(list(iter), dtype)
    return items if count < 0 else items[:count]


def each_element(function: Any, dtype: Any, tries: Any, *args: Any) -> Any:
    """``np.vectorize(function, otypes=[dtype])(*args)``; `tries`: the function is called for the first elements once
    more before, as NumPy does to learn the type of the results."""
    if len(args) == 1:
        shape = np.shape(args[0])
        row = np.ravel(args[0]).tolist()
        if tries:
            dtype = _type_of_results(function(_first(args[0])))
        items = [function(x) for x in row]
    elif len(args) == 2:
        shape = np.broadcast_shapes(np.shape(args[0]), np.shape(args[1]))
        first, second = _row(args[0], shape), _row(args[1], shape)
        if tries:
            dtype = _type_of_results(function(_first(args[0]), _first(args[1])))
        items = [function(x, y) for x, y in zip(first, second, strict=True)]
    elif len(args) == 3:
        shape = np.broadcast_shapes(np.shape(args[0]), np.shape(args[1]), np.shape(args[2]))
        first, second, third = _row(args[0], shape), _row(args[1], shape), _row(args[2], shape)
        if tries:
            dtype = _type_of_results(function(_first(args[0]), _first(args[1]), _first(args[2])))
        items = [function(x, y, z) for x, y, z in zip(first, second, third, strict=True)]
    else:
        raise NotDifferentiable("np.vectorize of so many arguments has no derivative", hint="bind some, or loop")
    found = np.array(items, dtype)
    if np.ndim(found) != 1:
        raise NotDifferentiable("np.vectorize of several results has no derivative", hint="make one of each result")
    return np.reshape(found, shape)


def _first(x: Any) -> Any:
    """The first element, as a number of NumPy's; NumPy's error where there is none to learn the results' type from."""
    row = np.ravel(x)
    if len(row) == 0:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    return row[0]


def _type_of_results(first: Any) -> Any:
    """The type that all results are given, by the first one."""
    if first_is_whole([first]):
        raise NotDifferentiable(
            "np.vectorize makes all results whole numbers where the first is one",
            hint="return floats (0.0 for 0), or say `otypes=[float]`",
        )
    return np.asarray(first + 0.0).dtype  # of a float, also where another branch gives a whole number


def _row(x: Any, shape: Any) -> Any:
    """The elements of an argument in the shape of the result, as Python's numbers."""
    return np.ravel(np.broadcast_to(np.asarray(x), shape)).tolist()
