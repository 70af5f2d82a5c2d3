"""Matrices of few diagonals, stored as LAPACK does: ``ab[u + i - j, j] == a[i, j]``, with `u` diagonals above."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.safe_arithmetic import guarded


def band_transpose(ab: Any, l_and_u: Any) -> Any:
    """The transposed matrix: `u` diagonals below and `l` above; what lies outside of the matrix is 0."""
    lower, upper = l_and_u
    found = np.zeros_like(ab)
    for r in range(lower + upper + 1):
        k = r - upper  # the diagonal, ``i - j``
        source, target = _columns(ab.shape[1], k), _columns(ab.shape[1], -k)
        found[lower - k, target] = ab[r, source]
    return found


def _columns(size: int, k: int) -> slice:
    """The columns in which the diagonal ``i - j == k`` has elements."""
    return slice(min(max(-k, 0), size), max(min(size, size - k), 0))


def band_product(ab: Any, x: Any, l_and_u: Any) -> Any:
    """The matrix times a vector, or the columns of a table."""
    lower, upper = l_and_u
    found = np.zeros(np.shape(x), np.result_type(ab, x))
    for r in range(lower + upper + 1):
        k = r - upper
        columns, rows = _columns(ab.shape[1], k), _columns(ab.shape[1], -k)
        along = ab[r, columns] if np.ndim(x) == 1 else ab[r, columns, None]
        found[rows] += guarded(along, x[columns])
    return found


def band_outer(y: Any, x: Any, l_and_u: Any) -> Any:
    """The diagonals of ``y @ x.T``, of vectors their outer product: the adjoint of `band_product` in the matrix."""
    lower, upper = l_and_u
    size = np.shape(x)[0]
    found = np.zeros((lower + upper + 1, size), np.result_type(y, x))
    for r in range(lower + upper + 1):
        k = r - upper
        columns, rows = _columns(size, k), _columns(size, -k)
        products = guarded(y[rows], x[columns])
        found[r, columns] = products if np.ndim(x) == 1 else np.sum(products, axis=1)
    return found


def reversed_pair(l_and_u: Any) -> Any:
    """How many diagonals the transposed matrix has below and above."""
    lower, upper = l_and_u
    return upper, lower
