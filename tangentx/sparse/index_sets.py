"""Index sets: for each number, the set of inputs that it depends on.

A linear function runs on them as on numbers: a sum is the union, a product with a number the set itself. Arrays of them
are arrays of objects, so indexing, views, writes and changes of shape are NumPy's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


class Indices(frozenset[int]):
    """A set of whole numbers with the arithmetic of tangents; any other number stands for the empty set."""

    __slots__ = ()

    def __add__(self, other: Any) -> Indices:
        return Indices(self | other) if isinstance(other, Indices) else self

    __radd__ = __rsub__ = __add__
    __sub__ = __add__

    def __mul__(self, other: Any) -> Indices:
        return self

    __rmul__ = __truediv__ = __mul__

    def __neg__(self) -> Indices:
        return self

    __pos__ = conjugate = __neg__

    @property
    def real(self) -> Indices:
        """The set itself: what is real depends on as much."""
        return self


EMPTY = Indices()


class Sets(np.ndarray[Any, np.dtype[Any]]):
    """An array of index sets; numbers in it stand for the empty one. Its sums do not copy each partial result."""

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **more: Any) -> Any:  # type: ignore[override]
        """Unions along axes."""
        return united(self, axis, keepdims)

    mean = sum  # type: ignore[assignment]

    def dot(self, other: Any, out: Any = None) -> Any:
        """As ``@``, for vectors and matrices."""
        return product(self, other)

    def __matmul__(self, other: Any) -> Any:
        return product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return product(other, self)

    def astype(self, *args: Any, **kwargs: Any) -> Any:
        """A copy: sets have no precision."""
        return self.copy()


def is_set(x: Any) -> bool:
    """Whether a value is a set of indices or an array of such."""
    return isinstance(x, Indices) or (isinstance(x, np.ndarray) and x.dtype == object)


def array_of(x: Any) -> Any:
    """An array with room for sets: one of objects, `x` copied."""
    return np.array(x, dtype=object).view(Sets)


def units(shape: tuple[int, ...]) -> Any:
    """For each number of an array of `shape`, the set of its own position, in row-major order; of a number, one set."""
    count = int(np.prod(shape))
    made = np.empty(count, object)
    made[:] = [Indices((k,)) for k in range(count)]
    return made.reshape(shape).view(Sets) if shape else made[0]


def union(parts: Iterable[Any]) -> Indices:
    """The union of sets and of numbers, which are empty."""
    return Indices(frozenset().union(*(p for p in parts if isinstance(p, Indices))))


def united(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Unions along one axis, several, or all."""
    x = np.asarray(x, dtype=object)
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    gone = sorted(a % x.ndim for a in axes)
    kept = [a for a in range(x.ndim) if a not in gone]
    rows = x.transpose(*kept, *gone).reshape(*(x.shape[a] for a in kept), -1)
    made = np.empty(rows.shape[:-1], object)
    for place in np.ndindex(*made.shape):
        made[place] = union(rows[place])
    shape = [1 if a in gone else n for a, n in enumerate(x.shape)] if keepdims else made.shape
    return made.reshape(shape).view(Sets) if len(shape) else made[()]


def product(a: Any, b: Any) -> Any:
    """``a @ b`` of vectors and matrices: what a row that is not zero reaches."""
    first, second = (x if is_set(x) else np.asarray(x) for x in (a, b))
    if np.ndim(first) > 2 or np.ndim(second) > 2:
        raise TypeError("a product of more than two axes")
    if is_set(second):
        return _reached(first, second)
    turned = _reached(second.T, first.T)
    return turned.T if isinstance(turned, np.ndarray) else turned


def _reached(matrix: Any, sets: Any) -> Any:
    """``matrix @ sets``: exact zeros of the matrix reach nothing."""
    columns = sets if sets.ndim == 2 else sets[:, None]
    rows = matrix if matrix.ndim == 2 else matrix[None]
    made = np.empty((len(rows), columns.shape[1]), object)
    dense = [union(column) for column in columns.T]
    for i, row in enumerate(rows):
        found = np.flatnonzero(row != 0.0)
        for j in range(columns.shape[1]):
            made[i, j] = dense[j] if len(found) == len(row) else union(columns[found, j])
    shape = matrix.shape[:-1] + sets.shape[1:]
    return made.reshape(shape).view(Sets) if shape else made[0, 0]
