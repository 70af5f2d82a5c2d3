"""Methods of NumPy's ufuncs: reductions, scans and tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import running_max, running_min, top_of
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
    top = top_of(array, axis)
    total = np.sum(np.exp(array - top), axis=axis, keepdims=True)
    total = np.where(total == 0.0, -np.inf, np.log(np.where(total == 0.0, 1.0, total)) + top)
    return total if keepdims else np.squeeze(total, axis=axis)[()]


@composition(np.add.accumulate, domain=("A(3)", "A(2,3), 1"))
def add_accumulate(array: Any, axis: Any = 0) -> Any:
    """Running sum along the first axis."""
    return np.cumsum(array, axis=axis)


@composition(np.multiply.accumulate, domain=("A(3)", "A(2,3), 1"))
def multiply_accumulate(array: Any, axis: Any = 0) -> Any:
    """Running product along the first axis."""
    return np.cumprod(array, axis=axis)


@composition(np.maximum.accumulate, domain=("A(3)", "A(2,3), 1"))
def maximum_accumulate(array: Any, axis: Any = 0) -> Any:
    """The largest elements so far, along the first axis."""
    return running_max(array, axis)


@composition(np.minimum.accumulate, domain=("A(3)", "A(2,3), 1"))
def minimum_accumulate(array: Any, axis: Any = 0) -> Any:
    """The smallest elements so far, along the first axis."""
    return running_min(array, axis)


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
