"""Methods of NumPy's ufuncs: reductions, scans and tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import running_logaddexp, running_max, running_min, stretch_ends, top_of
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import constant

constant(stretch_ends)


@composition(
    np.add.reduce, domain=("A(3)", "A(2,3)", "A(2,3), 1", "A(2,3), axis=None, keepdims=True", "A(2,3), initial=x")
)
def add_reduce(
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Sum along the first axis."""
    if initial is None and where is None:
        return np.sum(array, axis=axis, dtype=dtype, keepdims=keepdims)
    start, some = 0.0 if initial is None else initial, True if where is None else where
    return np.sum(array, axis=axis, dtype=dtype, keepdims=keepdims, initial=start, where=some)


@composition(np.multiply.reduce, domain=("A(3)", "A(2,3), 1"))
def multiply_reduce(
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Product along the first axis."""
    if initial is None and where is None:
        return np.prod(array, axis=axis, dtype=dtype, keepdims=keepdims)
    start, some = 1.0 if initial is None else initial, True if where is None else where
    return np.prod(array, axis=axis, dtype=dtype, keepdims=keepdims, initial=start, where=some)


@composition(np.maximum.reduce, domain=("A(3)", "A(2,3), 1", "[A(3), A(3)]"))
def maximum_reduce(
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Maximum along the first axis."""
    if initial is None and where is None:
        return np.max(array, axis=axis, keepdims=keepdims)
    some = True if where is None else where
    return np.max(array, axis=axis, keepdims=keepdims, initial=initial, where=some)


@composition(np.minimum.reduce, domain=("A(3)", "A(2,3), 1", "[A(3), A(3)]"))
def minimum_reduce(
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Minimum along the first axis."""
    if initial is None and where is None:
        return np.min(array, axis=axis, keepdims=keepdims)
    some = True if where is None else where
    return np.min(array, axis=axis, keepdims=keepdims, initial=initial, where=some)


@composition(np.logaddexp.reduce, domain=("A(3)", "A(2,3), 1", "A(2,3), axis=0, keepdims=True"))
def logaddexp_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    """Logarithm of the sum of exponentials along the first axis, from the largest down, so that none overflows."""
    top = top_of(array, axis)
    total = np.sum(np.exp(array - top), axis=axis, keepdims=True)
    total = np.where(total == 0.0, -np.inf, np.log(np.where(total == 0.0, 1.0, total)) + top)
    return total if keepdims else np.squeeze(total, axis=axis)[()]


def _in_turn(ufunc: Any, found: Any, rows: Any, keepdims: Any, axis: Any) -> Any:
    """What a ufunc makes of what is found and the first row, of that and the next, and so on, as NumPy does: the same
    bits, and no overflow or nan of ours on the way."""
    for row in rows:
        found = ufunc(found, row)
    return np.expand_dims(found, axis) if keepdims else found


@composition(np.subtract.reduce, domain=("A(3)", "A(2,3), 1", "A(2,3), axis=0, keepdims=True"))
def subtract_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    """The first element less the others, along the first axis."""
    rows = np.moveaxis(array, axis, 0)
    return _in_turn(np.subtract, +rows[0], rows[1:], keepdims, axis)


@composition(np.divide.reduce, domain=("P(3)", "P(2,3), 1", "A(2,3), axis=0, keepdims=True"))
def divide_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    """The first element by the others, along the first axis."""
    rows = np.moveaxis(array, axis, 0)
    return _in_turn(np.divide, +rows[0], rows[1:], keepdims, axis)


@composition(np.logaddexp2.reduce, domain=("A(3)", "A(2,3), 1", "A(2,3), axis=0, keepdims=True"))
def logaddexp2_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    """Logarithm to the base 2 of the sum of powers of 2 along the first axis."""
    rows = np.moveaxis(array, axis, 0)
    return _in_turn(np.logaddexp2, +rows[0], rows[1:], keepdims, axis)


@composition(np.fmax.reduce, domain=("A(3)", "A(2,3), 1", "A(2,3), axis=0, keepdims=True"))
def fmax_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    """Maximum along the first axis, of what is not nan."""
    rows = np.moveaxis(array, axis, 0)
    return _in_turn(np.fmax, +rows[0], rows[1:], keepdims, axis)


@composition(np.fmin.reduce, domain=("A(3)", "A(2,3), 1", "A(2,3), axis=0, keepdims=True"))
def fmin_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    """Minimum along the first axis, of what is not nan."""
    rows = np.moveaxis(array, axis, 0)
    return _in_turn(np.fmin, +rows[0], rows[1:], keepdims, axis)


@composition(np.hypot.reduce, domain=("A(3)", "A(2,3), 1", "A(2,3), axis=0, keepdims=True", "A(2,3), None"))
def hypot_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    """Lengths along the first axis, or of all."""
    if isinstance(axis, tuple):
        raise NotDifferentiable(
            "np.hypot.reduce along several axes has no derivative", hint="use np.sqrt(np.sum(x * x, axis))"
        )
    whole = np.asarray(array)
    rows = np.ravel(whole) if axis is None else np.moveaxis(whole, axis, 0)
    found = _in_turn(np.hypot, np.zeros(np.shape(rows)[1:], rows.dtype)[()], rows, False, 0)
    if not keepdims:
        return found
    return np.reshape(found, (1,) * np.ndim(whole)) if axis is None else np.expand_dims(found, axis)


@composition(np.add.accumulate, domain=("A(3)", "A(2,3), 1"))
def add_accumulate(array: Any, axis: Any = 0, dtype: Any = None) -> Any:
    """Running sum along the first axis."""
    return np.cumsum(array, axis=axis, dtype=dtype)


@composition(np.multiply.accumulate, domain=("A(3)", "A(2,3), 1"))
def multiply_accumulate(array: Any, axis: Any = 0, dtype: Any = None) -> Any:
    """Running product along the first axis."""
    return np.cumprod(array, axis=axis, dtype=dtype)


@composition(np.maximum.accumulate, domain=("A(3)", "A(2,3), 1"))
def maximum_accumulate(array: Any, axis: Any = 0) -> Any:
    """The largest elements so far, along the first axis."""
    return running_max(array, 0 if axis is None else axis)


@composition(np.minimum.accumulate, domain=("A(3)", "A(2,3), 1"))
def minimum_accumulate(array: Any, axis: Any = 0) -> Any:
    """The smallest elements so far, along the first axis."""
    return running_min(array, 0 if axis is None else axis)


def _beside(A: Any, B: Any) -> Any:
    """`A` with as many axes behind its own as `B` has, so that each element of one meets each of the other."""
    behind = np.ndim(np.asarray(B))
    return np.reshape(A, np.shape(A) + (1,) * behind) if behind > 0 else A


_OUTER = ("A(3), A(2)", "P(2,2), P(2)", "A(2), A(2,2)", "x, A(2)")


@composition(np.add.outer, domain=_OUTER)
def add_outer(A: Any, B: Any) -> Any:
    """All sums of an element of one array and one of another."""
    return np.add(_beside(A, B), B)


@composition(np.subtract.outer, domain=_OUTER)
def subtract_outer(A: Any, B: Any) -> Any:
    """All differences of an element of one array and one of another."""
    return np.subtract(_beside(A, B), B)


@composition(np.multiply.outer, domain=_OUTER)
def multiply_outer(A: Any, B: Any) -> Any:
    """All products of an element of one array and one of another."""
    return np.multiply(_beside(A, B), B)


@composition(np.divide.outer, domain=("P(3), P(2)", "P(2), P(2,2)"))
def divide_outer(A: Any, B: Any) -> Any:
    """All quotients of an element of one array and one of another."""
    return np.divide(_beside(A, B), B)


@composition(np.power.outer, domain=("P(3), P(2)", "P(2), P(2,2)"))
def power_outer(A: Any, B: Any) -> Any:
    """All powers of an element of one array and one of another."""
    return np.power(_beside(A, B), B)


@composition(np.maximum.outer, domain=("A(3), A(2)",))
def maximum_outer(A: Any, B: Any) -> Any:
    """All larger ones of an element of one array and one of another."""
    return np.maximum(_beside(A, B), B)


@composition(np.minimum.outer, domain=("A(3), A(2)",))
def minimum_outer(A: Any, B: Any) -> Any:
    """All smaller ones of an element of one array and one of another."""
    return np.minimum(_beside(A, B), B)


@composition(np.hypot.outer, domain=("A(3), A(2)",))
def hypot_outer(A: Any, B: Any) -> Any:
    """All lengths of an element of one array and one of another."""
    return np.hypot(_beside(A, B), B)


@composition(np.arctan2.outer, domain=("A(3), A(2)",))
def arctan2_outer(A: Any, B: Any) -> Any:
    """All angles of an element of one array and one of another."""
    return np.arctan2(_beside(A, B), B)


@composition(np.logaddexp.outer, domain=("A(3), A(2)",))
def logaddexp_outer(A: Any, B: Any) -> Any:
    """All logarithms of sums of exponentials of an element of one array and one of another."""
    return np.logaddexp(_beside(A, B), B)


@composition(np.fmax.outer, domain=("A(3), A(2)",))
def fmax_outer(A: Any, B: Any) -> Any:
    """All larger ones, of what is not nan, of an element of one array and one of another."""
    return np.fmax(_beside(A, B), B)


@composition(np.fmin.outer, domain=("A(3), A(2)",))
def fmin_outer(A: Any, B: Any) -> Any:
    """All smaller ones, of what is not nan, of an element of one array and one of another."""
    return np.fmin(_beside(A, B), B)


@composition(np.remainder.outer, domain=("P(3), P(2)",))
def remainder_outer(A: Any, B: Any) -> Any:
    """All remainders of an element of one array by one of another."""
    return np.remainder(_beside(A, B), B)


@composition(np.fmod.outer, domain=("P(3), P(2)",))
def fmod_outer(A: Any, B: Any) -> Any:
    """All remainders, with the sign of the first, of an element of one array by one of another."""
    return np.fmod(_beside(A, B), B)


@composition(np.float_power.outer, domain=("P(3), P(2)",))
def float_power_outer(A: Any, B: Any) -> Any:
    """All powers in double precision of an element of one array and one of another."""
    return np.float_power(_beside(A, B), B)


@composition(np.copysign.outer, domain=("A(3), A(2)",))
def copysign_outer(A: Any, B: Any) -> Any:
    """All lengths of an element of one array with the sign of one of another."""
    return np.copysign(_beside(A, B), B)


@composition(np.logaddexp2.outer, domain=("A(3), A(2)",))
def logaddexp2_outer(A: Any, B: Any) -> Any:
    """All logarithms to base 2 of sums of powers of 2 of an element of one array and one of another."""
    return np.logaddexp2(_beside(A, B), B)


def _steps(function: Any, array: Any, axis: Any) -> Any:
    """What `function` makes of each element and of what there is before it."""
    rows = np.moveaxis(array, axis, 0)
    if len(rows) == 0:
        return np.copy(array)
    found = [rows[0]]
    for k in range(1, len(rows)):
        found.append(function(found[k - 1], rows[k]))
    return np.stack(found, axis=axis)


@composition(np.subtract.accumulate, domain=("A(3)", "A(2,3), 1"))
def subtract_accumulate(array: Any, axis: Any = 0) -> Any:
    """Running differences along the first axis."""
    return _steps(np.subtract, array, 0 if axis is None else axis)


@composition(np.divide.accumulate, domain=("P(3)",))
def divide_accumulate(array: Any, axis: Any = 0) -> Any:
    """Running quotients along the first axis."""
    return _steps(np.divide, array, 0 if axis is None else axis)


@composition(np.logaddexp.accumulate, domain=("A(3)", "A(2,3), 1"))
def logaddexp_accumulate(array: Any, axis: Any = 0) -> Any:
    """Logarithms of running sums of exponentials along the first axis."""
    return running_logaddexp(np.asarray(array), axis)


@composition(np.power.accumulate, domain=("P(3)", "P(2,3), 1"))
def power_accumulate(array: Any, axis: Any = 0) -> Any:
    """Running powers along the first axis."""
    return _steps(np.power, array, 0 if axis is None else axis)


@composition(np.fmax.accumulate, domain=("A(3)", "A(2,3), 1"))
def fmax_accumulate(array: Any, axis: Any = 0) -> Any:
    """The largest elements so far that are not nan, along the first axis."""
    return _steps(np.fmax, array, 0 if axis is None else axis)


@composition(np.fmin.accumulate, domain=("A(3)", "A(2,3), 1"))
def fmin_accumulate(array: Any, axis: Any = 0) -> Any:
    """The smallest elements so far that are not nan, along the first axis."""
    return _steps(np.fmin, array, 0 if axis is None else axis)


@composition(np.hypot.accumulate, domain=("A(3)", "A(2,3), 1"))
def hypot_accumulate(array: Any, axis: Any = 0) -> Any:
    """Running lengths along the first axis."""
    return _steps(np.hypot, array, 0 if axis is None else axis)


@composition(np.logaddexp2.accumulate, domain=("A(3)", "A(2,3), 1"))
def logaddexp2_accumulate(array: Any, axis: Any = 0) -> Any:
    """Logarithms to base 2 of running sums of powers of 2 along the first axis."""
    return _steps(np.logaddexp2, array, 0 if axis is None else axis)


@composition(np.add.reduceat, domain=("A(5), [0, 3, 1]", "A(2,4), np.array([0, 2]), axis=1"))
def add_reduceat(array: Any, indices: Any, axis: Any = 0) -> Any:
    """Sums of stretches: each ends where the next begins, and is one element where that is not behind it."""
    return _of_stretches(np.sum, array, indices, 0 if axis is None else axis)


@composition(np.maximum.reduceat, domain=("A(5), [0, 3]",))
def maximum_reduceat(array: Any, indices: Any, axis: Any = 0) -> Any:
    """Maxima of stretches."""
    return _of_stretches(np.max, array, indices, 0 if axis is None else axis)


@composition(np.minimum.reduceat, domain=("A(5), [0, 3]",))
def minimum_reduceat(array: Any, indices: Any, axis: Any = 0) -> Any:
    """Minima of stretches."""
    return _of_stretches(np.min, array, indices, 0 if axis is None else axis)


@composition(np.multiply.reduceat, domain=("A(5), [0, 3, 1]", "A(2,4), np.array([0, 2]), axis=1"))
def multiply_reduceat(array: Any, indices: Any, axis: Any = 0) -> Any:
    """Products of stretches."""
    return _of_stretches(np.prod, array, indices, 0 if axis is None else axis)


def _of_stretches(function: Any, array: Any, indices: Any, axis: Any) -> Any:
    """A reduction of each stretch."""
    rows, ends = np.moveaxis(array, axis, 0), stretch_ends(indices, np.shape(array)[axis])
    if np.any((np.asarray(indices) < 0) | (np.asarray(indices) >= len(rows))):
        raise IndexError("index out of bounds")
    found = [function(rows[first:last], axis=0) for first, last in ends]
    return np.moveaxis(np.stack(found), 0, axis)
