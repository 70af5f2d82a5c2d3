"""Methods of NumPy's ufuncs: reductions, scans and tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.templates.compositions import composition


@composition(np.add.reduce, domain=("A(3)", "A(2,3)", "A(2,3), 1", "A(2,3), axis=None, keepdims=True"))
def add_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    """Sum along the first axis."""
    return np.sum(array, axis=axis, keepdims=keepdims)


@composition(np.multiply.reduce, domain=("A(3)", "A(2,3), 1"))
def multiply_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    """Product along the first axis."""
    return np.prod(array, axis=axis, keepdims=keepdims)


@composition(np.maximum.reduce, domain=("A(3)", "A(2,3), 1", "[A(3), A(3)]"))
def maximum_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    """Maximum along the first axis."""
    return np.max(array, axis=axis, keepdims=keepdims)


@composition(np.minimum.reduce, domain=("A(3)", "A(2,3), 1", "[A(3), A(3)]"))
def minimum_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    """Minimum along the first axis."""
    return np.min(array, axis=axis, keepdims=keepdims)


@composition(np.logaddexp.reduce, domain=("A(3)", "A(2,3), 1", "A(2,3), axis=0, keepdims=True"))
def logaddexp_reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    """Logarithm of the sum of exponentials along the first axis, from the largest down, so that none overflows."""
    top = np.max(array, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    total = np.log(np.sum(np.exp(array - top), axis=axis, keepdims=True)) + top
    return total if keepdims else np.squeeze(total, axis=axis)


@composition(np.add.accumulate, domain=("A(3)", "A(2,3), 1"))
def add_accumulate(array: Any, axis: Any = 0) -> Any:
    """Running sum along the first axis."""
    return np.cumsum(array, axis=axis)


@composition(np.multiply.accumulate, domain=("A(3)", "A(2,3), 1"))
def multiply_accumulate(array: Any, axis: Any = 0) -> Any:
    """Running product along the first axis."""
    return np.cumprod(array, axis=axis)


@composition(np.add.outer, domain=("A(3), A(2)",))
def add_outer(A: Any, B: Any) -> Any:
    """All sums of an element of one vector and one of another."""
    return np.expand_dims(A, -1) + B


@composition(np.subtract.outer, domain=("A(3), A(2)",))
def subtract_outer(A: Any, B: Any) -> Any:
    """All differences of an element of one vector and one of another."""
    return np.expand_dims(A, -1) - B


@composition(np.divide.outer, domain=("A(3), P(2)",))
def divide_outer(A: Any, B: Any) -> Any:
    """All quotients of an element of one vector and one of another."""
    return np.expand_dims(A, -1) / B


@composition(np.multiply.outer, domain=("A(3), A(2)",))
def multiply_outer(A: Any, B: Any) -> Any:
    """All products of an element of one vector and one of another."""
    return np.outer(A, B)
