"""Parts of matrices: triangles as solvers read them, and bands as LAPACK stores them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.safe_arithmetic import guarded
from tangentx.errors import NotDifferentiable

# Matrices of few diagonals, stored as LAPACK does: ``ab[u + i - j, j] == a[i, j]``, with `u` diagonals above.


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


# Triangular parts of matrices, as solvers read them, and sums of products at a lag.

_OTHER = {0: 1, 1: 0, "N": "T", "T": "N"}


def other_side(trans: Any) -> Any:
    """How the transposed system is asked for. Raises NotDifferentiable for the conjugate one."""
    if trans not in _OTHER:
        raise NotDifferentiable(
            f"a system with trans={trans!r} has no derivative", hint="conjugate the matrix, and use trans=1"
        )
    return _OTHER[trans]


def triangle(m: Any, lower: Any = False, unit_diagonal: Any = False) -> Any:
    """The part of a matrix that a triangular solver reads."""
    return np.tril(m, -1 if unit_diagonal else 0) if lower else np.triu(m, 1 if unit_diagonal else 0)


def turned(m: Any, trans: Any) -> Any:
    """The matrix of a system, transposed where `trans` says so."""
    return m if trans in (0, "N") else np.swapaxes(m, -1, -2)


def _row(values: Any) -> Any:
    """A list of numbers as an array; what is an array stays."""
    return np.asarray(values) if isinstance(values, list | tuple) else values


def lagged(g: Any, x: Any, like: Any, axis: Any = -1) -> Any:
    """Sums of ``g[n] * x[n - k]`` for as many `k` as `like` is long; one number where that is a number."""
    g, x = np.moveaxis(g, axis, -1), np.moveaxis(_row(x), axis, -1)
    length = x.shape[-1]
    found = [np.sum(guarded(g[..., k:], x[..., : length - k])) if k < length else 0.0 for k in range(np.size(like))]
    return np.array(found, np.result_type(g, x)).reshape(np.shape(like))[()]


def delayed(c: Any, x: Any, like: Any, axis: Any = -1) -> Any:
    """Sums of ``c[k] * x[n - k]`` over `k`, in the form of `like`: the adjoint of `lagged` in its first argument."""
    x = _row(x)
    moved = np.moveaxis(x, axis, -1)
    if np.ndim(c) == 0:
        c = (c,)
    kind = np.result_type(_row(c), x)
    total = np.zeros(moved.shape, kind)
    for k in range(min(len(c), moved.shape[-1])):
        total[..., k:] += guarded(c[k], moved[..., : moved.shape[-1] - k])
    return np.moveaxis(total, -1, axis)


def advanced(c: Any, g: Any, like: Any, axis: Any = -1) -> Any:
    """Sums of ``c[k] * g[n + k]`` over `k`: the adjoint of `lagged` in its second argument."""
    return np.flip(delayed(c, np.flip(g, axis), like, axis), axis)
