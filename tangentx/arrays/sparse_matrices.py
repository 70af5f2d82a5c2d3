"""Sparse matrices as triplets: values, and the rows and columns at which they stand; those at one place are summed."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np

from tangentx.arrays.safe_arithmetic import guarded


def _behind(data: Any, x: Any) -> Any:
    return np.reshape(data, np.shape(data) + (1,) * (np.ndim(x) - 1))


def triplet_product(data: Any, rows: Any, cols: Any, x: Any, count: Any) -> Any:
    """The matrix with `count` rows times a vector, or the columns of a table."""
    count = max(count, 1) if len(rows) else count
    found = np.zeros((count, *np.shape(x)[1:]), np.result_type(data, x))
    np.add.at(found, rows, guarded(_behind(data, x), np.asarray(x)[cols]))
    return found


def triplet_outer(y: Any, x: Any, rows: Any, cols: Any) -> Any:
    """The elements of ``y @ x.T`` at the places of the triplets, of vectors of their outer product."""
    found = guarded(np.asarray(y)[rows], np.asarray(x)[cols])
    return found if np.ndim(found) == 1 else np.sum(found, axis=-1)


def row_of_each(indptr: Any) -> Any:
    """The row of each value of a matrix that is compressed by rows."""
    return np.repeat(np.arange(max(len(indptr) - 1, 0)), np.maximum(np.diff(indptr), 0))


def compressed(rows: Any, cols: Any, shape: Any) -> Any:
    """Where values are summed to if the matrix is compressed by rows, their columns, and where each row begins."""
    count, width = shape
    places, sums = np.unique(np.asarray(rows).astype(np.int64) * width + cols, return_inverse=True)
    begins = np.searchsorted(places, np.arange(count + 1, dtype=np.int64) * width)
    return np.ravel(sums), (places % max(width, 1)).astype(np.int32), begins.astype(np.int32)


class _Factored(NamedTuple):
    """Factors of a matrix, and copies of what it was made of."""

    values: Any
    rows: Any
    cols: Any
    factors: Any


_FACTORED: dict[int, tuple[Any, _Factored]] = {}
"""By the identity of an array of values a weak reference to it, with which the entry goes, and the last factors."""


def _is_same(known: Any, given: Any) -> bool:
    return known is given or np.array_equal(known, given)


def _factors(data: Any, rows: Any, cols: Any, count: int, kind: Any) -> tuple[Any, str]:
    """Factors of a matrix, and how systems are solved with them: those of the last system with the same values serve
    both for it and for the transposed one. Values may have been written into since, so they are compared."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import splu

    held, known = _FACTORED.get(id(data), (lambda: None, None))
    if known is not None and held() is data and known.factors.shape[0] == count and known.values.dtype == kind:
        if _is_same(known.values, data):
            if _is_same(known.rows, rows) and _is_same(known.cols, cols):
                return known.factors, "N"
            if _is_same(known.rows, cols) and _is_same(known.cols, rows):
                return known.factors, "T"
    values = np.array(data, kind)
    found = splu(coo_array((values, (rows, cols)), shape=(count, count)).tocsc())
    if type(data) is np.ndarray:
        key = id(data)
        kept = _Factored(values, np.array(rows), np.array(cols), found)
        _FACTORED[key] = weakref.ref(data, lambda _: _FACTORED.pop(key, None)), kept
    return found, "N"


def sparse_solved(data: Any, rows: Any, cols: Any, b: Any) -> Any:
    """The solution of a square sparse system, by SciPy's direct solver."""
    kind = np.result_type(data, b, np.float64)
    factors, way = _factors(data, rows, cols, len(b), kind)
    return factors.solve(np.asarray(b).astype(kind), way).astype(np.result_type(data, b))


def sparse_iterated(data: Any, rows: Any, cols: Any, b: Any, name: Any, x0: Any, options: Any) -> Any:
    """What an iterative solver of SciPy's finds, and behind it the number by which it says how it went."""
    from scipy.sparse import coo_array, linalg

    matrix = coo_array((data, (rows, cols)), shape=(len(b), len(b))).tocsr()
    names = ("rtol", "atol", "maxiter")
    given = {each: value for each, value in zip(names, options, strict=True) if value is not None}
    found, info = getattr(linalg, name)(matrix, b, x0, **given)
    return np.append(found, info)


def sparse_found(data: Any, rows: Any, cols: Any, b: Any, found: Any) -> Any:
    """The solution of a square sparse system that has been found."""
    return np.array(found)


def height(x: Any) -> int:
    """The length of the first axis."""
    return len(x)


def places_of(keys: Any, wanted: Any) -> tuple[Any, Any]:
    """Where in `keys` each of the numbers `wanted` stands, as often as it does, and which of them that is."""
    keys, wanted = np.asarray(keys), np.asarray(wanted)
    order = np.argsort(keys, kind="stable")
    first = np.searchsorted(keys[order], wanted, "left")
    counts = np.searchsorted(keys[order], wanted, "right") - first
    which = np.repeat(np.arange(len(wanted)), counts)
    within = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[np.repeat(first, counts) + within], which


def on_diagonals(offsets: Any, width: Any, shape: Any) -> tuple[Any, Any]:
    """Which values lie inside a matrix that keeps diagonals, each value below the column that it is in: the diagonal
    of each, and its column."""
    cols = np.arange(min(width, shape[1]))
    rows = cols - np.asarray(offsets)[:, None]
    which, place = np.nonzero((rows >= 0) & (rows < shape[0]))
    return which, cols[place]


def diagonal_length(shape: Any, k: Any) -> int:
    """How many elements the diagonal `k` of a matrix has; none where it lies outside."""
    return int(max(0, min(shape[0] + min(k, 0), shape[1] - max(k, 0))))
