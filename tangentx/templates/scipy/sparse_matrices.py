"""Sparse matrices of SciPy's: made, multiplied, added, transposed, summed and cut out of."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tangentx.arrays import compressed, diagonal_length, made_of, on_diagonals, places_of, row_of_each, triplet_product
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.library_classes import constructor_of, methods_of

# Sparse matrices of SciPy's: made of values that vary, multiplied, added, transposed, summed and cut out of.
#
# The places of the values are constants. A matrix that is made of a dense one has the places that are not 0 there;
# sums and products of matrices have all where there may be something, in order, where SciPy leaves out sums that are
# 0.

_MATRICES = (
    *(sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array),
    *(sparse.coo_matrix, sparse.coo_array, sparse.dia_matrix, sparse.dia_array),
)


def triplets_of(matrix: Any) -> Any:
    """Values, rows and columns."""
    if isinstance(matrix, (sparse.csr_matrix, sparse.csr_array)):
        return matrix.data, row_of_each(matrix.indptr), matrix.indices
    if isinstance(matrix, (sparse.csc_matrix, sparse.csc_array)):
        return matrix.data, matrix.indices, row_of_each(matrix.indptr)
    if isinstance(matrix, (sparse.dia_matrix, sparse.dia_array)):
        which, cols = on_diagonals(matrix.offsets, np.shape(matrix.data)[1], matrix.shape)
        return matrix.data[which, cols], cols - matrix.offsets[which], cols
    return matrix.data, matrix.row, matrix.col


def is_sparse(value: Any) -> Any:
    """Whether a value is a sparse matrix of a kind that has rules."""
    return isinstance(
        value,
        (
            sparse.csr_matrix,
            sparse.csr_array,
            sparse.csc_matrix,
            sparse.csc_array,
            sparse.coo_matrix,
            sparse.coo_array,
            sparse.dia_matrix,
            sparse.dia_array,
        ),
    )


def _is_matrix(value: Any) -> Any:
    """Whether a sparse matrix multiplies as one, with dense results that are NumPy's matrices."""
    return isinstance(value, (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.dia_matrix))


def _values(data: Any, dtype: Any, copy: Any) -> Any:
    """The values of a matrix: the given array itself where SciPy keeps that, for it may be written later on."""
    values = np.array(data, dtype) if copy else np.asarray(data, dtype)
    return values if np.issubdtype(values.dtype, np.inexact) else values * 1.0


def _given(arg1: Any, shape: Any, dtype: Any, copy: Any) -> Any:
    """Values, rows, columns and shape of what a matrix is made of, if not of compressed rows."""
    if is_sparse(arg1):
        data, rows, cols = triplets_of(arg1)
        return _values(data, dtype, copy), rows, cols, arg1.shape
    if isinstance(arg1, tuple):
        data, (rows, cols) = arg1
        rows, cols = np.asarray(rows), np.asarray(cols)
        values = _values(data, dtype, copy)
        if shape is None:
            return values, rows, cols, (int(np.max(rows)) + 1, int(np.max(cols)) + 1)
        return values, rows, cols, shape
    dense = _values(arg1, dtype, False)
    rows, cols = np.nonzero(dense)
    return dense[rows, cols], rows, cols, np.shape(dense)


def _summed_at(data: Any, places: Any, count: Any) -> Any:
    """The sums of the values that have one place."""
    return triplet_product(data, places, np.zeros_like(places), np.ones(1, data.dtype), count)


def rows_first(cls: Any, data: Any, rows: Any, cols: Any, shape: Any) -> Any:
    """A matrix that is compressed by rows, those that have one place summed."""
    sums, indices, indptr = compressed(rows, cols, shape)
    return made_of(cls, data=_summed_at(data, sums, len(indices)), indices=indices, indptr=indptr, shape=shape)


def columns_first(cls: Any, data: Any, rows: Any, cols: Any, shape: Any) -> Any:
    """A matrix that is compressed by columns, those that have one place summed."""
    sums, indices, indptr = compressed(cols, rows, (shape[1], shape[0]))
    return made_of(cls, data=_summed_at(data, sums, len(indices)), indices=indices, indptr=indptr, shape=shape)


def _like(matrix: Any, data: Any, rows: Any, cols: Any, shape: Any) -> Any:
    """A matrix that is compressed as another is; by rows where that is not compressed."""
    if isinstance(matrix, (sparse.csc_matrix, sparse.csc_array)):
        return columns_first(matrix.__class__, data, rows, cols, shape)
    return rows_first(sparse.csr_matrix if _is_matrix(matrix) else sparse.csr_array, data, rows, cols, shape)


def _compressed(cls: Any, arg1: Any, shape: Any, dtype: Any, copy: Any) -> Any:
    """A matrix of given values, columns (or rows), and where each row (or column) begins."""
    if shape is None:
        raise NotDifferentiable(
            "a sparse matrix of compressed rows has a derivative where its shape is given", hint="give it `shape`"
        )
    data, indices, indptr = arg1
    return made_of(
        cls, data=_values(data, dtype, copy), indices=np.asarray(indices), indptr=np.asarray(indptr), shape=shape
    )


def _recompressed(cls: Any, matrix: Any, dtype: Any, copy: Any) -> Any:
    """A matrix of the values of another that is compressed alike."""
    data = _values(matrix.data, dtype, copy)
    return made_of(cls, data=data, indices=matrix.indices, indptr=matrix.indptr, shape=matrix.shape)


def _is_compressed(arg1: Any) -> Any:
    return isinstance(arg1, tuple) and len(arg1) == 3


def _by_rows(cls: Any, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    if _is_compressed(arg1):
        return _compressed(cls, arg1, shape, dtype, copy)
    if isinstance(arg1, (sparse.csr_matrix, sparse.csr_array)):
        return _recompressed(cls, arg1, dtype, copy)
    data, rows, cols, extent = _given(arg1, shape, dtype, copy)
    return rows_first(cls, data, rows, cols, extent)


def _by_columns(cls: Any, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    if _is_compressed(arg1):
        return _compressed(cls, arg1, shape, dtype, copy)
    if isinstance(arg1, (sparse.csc_matrix, sparse.csc_array)):
        return _recompressed(cls, arg1, dtype, copy)
    data, rows, cols, extent = _given(arg1, shape, dtype, copy)
    return columns_first(cls, data, rows, cols, extent)


def _as_triplets(cls: Any, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    data, rows, cols, extent = _given(arg1, shape, dtype, copy)
    return made_of(cls, data=data, row=rows, col=cols, shape=extent)


def _of_diagonals(cls: Any, arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    if not (isinstance(arg1, tuple) and shape is not None):
        raise NotDifferentiable(
            "a sparse matrix of diagonals has a derivative by the values on them",
            hint="give it `(data, offsets)` and `shape`, or make it with `scipy.sparse.diags`",
        )
    data, offsets = arg1
    rows = np.atleast_2d(_values(data, dtype, copy))
    return made_of(cls, data=rows, offsets=np.atleast_1d(offsets), shape=shape)


@constructor_of(sparse.csr_matrix)
def csr_matrix(arg1: Any, *given: Any, **options: Any) -> Any:
    """A sparse matrix that is compressed by rows."""
    return _by_rows(sparse.csr_matrix, arg1, *given, **options)


@constructor_of(sparse.csr_array)
def csr_array(arg1: Any, *given: Any, **options: Any) -> Any:
    """A sparse array that is compressed by rows."""
    return _by_rows(sparse.csr_array, arg1, *given, **options)


@constructor_of(sparse.csc_matrix)
def csc_matrix(arg1: Any, *given: Any, **options: Any) -> Any:
    """A sparse matrix that is compressed by columns."""
    return _by_columns(sparse.csc_matrix, arg1, *given, **options)


@constructor_of(sparse.csc_array)
def csc_array(arg1: Any, *given: Any, **options: Any) -> Any:
    """A sparse array that is compressed by columns."""
    return _by_columns(sparse.csc_array, arg1, *given, **options)


@constructor_of(sparse.coo_matrix)
def coo_matrix(arg1: Any, *given: Any, **options: Any) -> Any:
    """A sparse matrix that consists of triplets."""
    return _as_triplets(sparse.coo_matrix, arg1, *given, **options)


@constructor_of(sparse.coo_array)
def coo_array(arg1: Any, *given: Any, **options: Any) -> Any:
    """A sparse array that consists of triplets."""
    return _as_triplets(sparse.coo_array, arg1, *given, **options)


@constructor_of(sparse.dia_matrix)
def dia_matrix(arg1: Any, *given: Any, **options: Any) -> Any:
    """A sparse matrix that keeps diagonals."""
    return _of_diagonals(sparse.dia_matrix, arg1, *given, **options)


@constructor_of(sparse.dia_array)
def dia_array(arg1: Any, *given: Any, **options: Any) -> Any:
    """A sparse array that keeps diagonals."""
    return _of_diagonals(sparse.dia_array, arg1, *given, **options)


def with_values(matrix: Any, data: Any) -> Any:
    """The matrix with other values at the same places."""
    if isinstance(matrix, (sparse.coo_matrix, sparse.coo_array)):
        return made_of(matrix.__class__, data=data, row=matrix.row, col=matrix.col, shape=matrix.shape)
    if isinstance(matrix, (sparse.dia_matrix, sparse.dia_array)):
        return made_of(matrix.__class__, data=data, offsets=matrix.offsets, shape=matrix.shape)
    return made_of(matrix.__class__, data=data, indices=matrix.indices, indptr=matrix.indptr, shape=matrix.shape)


def _copied(matrix: Any) -> Any:
    return with_values(matrix, np.array(matrix.data))


def _demand_one_format(matrix: Any, other: Any) -> Any:
    """Refuses what SciPy gives as a matrix of diagonals, whose values are arranged otherwise."""
    if isinstance(matrix, (sparse.dia_matrix, sparse.dia_array)) and isinstance(
        other, (sparse.dia_matrix, sparse.dia_array)
    ):
        raise NotDifferentiable(
            "of two sparse matrices of diagonals neither product nor sum has a derivative rule",
            hint="convert them: `A.tocsr() @ B.tocsr()`",
        )


def _product(matrix: Any, other: Any) -> Any:
    """The product of two sparse matrices: each value of the first meets those in the row of the other that its column
    says."""
    _demand_one_format(matrix, other)
    first, rows, inner = triplets_of(matrix)
    second, others, cols = triplets_of(other)
    there, here = places_of(others, inner)
    return _like(matrix, first[here] * second[there], rows[here], cols[there], (matrix.shape[0], other.shape[1]))


def _times(matrix: Any, x: Any) -> Any:
    if is_sparse(x):
        return _product(matrix, x)
    data, rows, cols = triplets_of(matrix)
    return triplet_product(data, rows, cols, np.asarray(x), matrix.shape[0])


def _at_both(matrix: Any, other: Any) -> Any:
    """The products of the values that two matrices have at one place."""
    first, rows, cols = triplets_of(matrix)
    second, more_rows, more_cols = triplets_of(other)
    width = matrix.shape[1]
    there, here = places_of(
        np.asarray(more_rows).astype(np.int64) * width + more_cols, np.asarray(rows).astype(np.int64) * width + cols
    )
    return _like(matrix, first[here] * second[there], rows[here], cols[here], matrix.shape)


def _scaled(matrix: Any, other: Any) -> Any:
    if is_sparse(other):
        return _product(matrix, other) if _is_matrix(matrix) else _at_both(matrix, other)
    if np.ndim(other) > 0:
        raise NotDifferentiable(
            "a sparse matrix times an array has a derivative as a product of matrices, or element by element",
            hint="write `A @ x`, or `A.multiply(x)`",
        )
    return with_values(matrix, matrix.data * other)


def _summed(matrix: Any, other: Any, sign: Any) -> Any:
    """The sum of two matrices; 0 is one, with which `sum` begins."""
    if not is_sparse(other) and np.ndim(other) == 0:
        if other == 0:
            return _copied(matrix)
        raise NotDifferentiable(
            "SciPy adds no number but 0 to a sparse matrix", hint="write `A.toarray() + x`, or add to its values"
        )
    if not is_sparse(other):
        if _is_matrix(matrix) or np.ndim(other) < 2:
            raise NotDifferentiable(
                "the sum of a sparse matrix and a dense one, which is a `numpy.matrix`, has no derivative",
                hint="write `A.toarray() + x`",
            )
        return matrix.toarray() + sign * np.asarray(other)
    _demand_one_format(matrix, other)
    first, rows, cols = triplets_of(matrix)
    second, more_rows, more_cols = triplets_of(other)
    data = np.concatenate([first, sign * second])
    return _like(matrix, data, np.concatenate([rows, more_rows]), np.concatenate([cols, more_cols]), matrix.shape)


def _chosen(matrix: Any, rows: Any, cols: Any) -> Any:
    """The matrix of some rows and columns, all that have the same number once each."""
    data, at_rows, at_cols = triplets_of(matrix)
    kept, new_rows = places_of(at_rows, rows)
    again, new_cols = places_of(np.asarray(at_cols)[kept], cols)
    return _like(matrix, data[kept[again]], new_rows[again], new_cols, (len(rows), len(cols)))


def _part(matrix: Any, at_row: Any, at_col: Any) -> Any:
    """An element, or the matrix of some rows and columns."""
    rows, cols = np.arange(matrix.shape[0])[at_row], np.arange(matrix.shape[1])[at_col]
    if np.ndim(rows) == 0 and np.ndim(cols) == 0:
        data, at_rows, at_cols = triplets_of(matrix)
        return np.sum(data[np.nonzero((at_rows == rows) & (at_cols == cols))[0]])
    if not isinstance(at_row, slice) and not isinstance(at_col, slice) and np.ndim(rows) + np.ndim(cols) > 0:
        raise NotDifferentiable(
            "elements of a sparse matrix by several rows and columns have no derivative rule",
            hint="write `A[rows][:, cols]`, or `A.toarray()[rows, cols]`",
        )
    if (np.ndim(rows) == 0 or np.ndim(cols) == 0) and not _is_matrix(matrix):
        raise NotDifferentiable(
            "one row or column of a sparse array has no derivative rule, for it has one axis",
            hint="write `A[i : i + 1]`, or `A.toarray()[i]`",
        )
    return _chosen(matrix, np.atleast_1d(rows), np.atleast_1d(cols))


def _total(matrix: Any, axis: Any) -> Any:
    data, rows, cols = triplets_of(matrix)
    if axis is None:
        return np.sum(data)
    if _is_matrix(matrix):
        raise NotDifferentiable(
            "sums along an axis of a sparse matrix, which are a `numpy.matrix`, have no derivative",
            hint="write `A @ np.ones(A.shape[1])`, or use a sparse array (`scipy.sparse.csr_array`)",
        )
    along = axis + 2 if axis < 0 else axis
    return _summed_at(data, rows if along == 1 else cols, matrix.shape[1 - along])


@methods_of(*_MATRICES)
class SparseMatrix:
    """What is made of values at constant places."""

    data: Any
    shape: Any

    def __matmul__(self, other: Any) -> Any:
        """The matrix times a vector, the columns of a table, or another matrix."""
        return _times(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        """A vector, or the rows of a table, times the matrix."""
        data, rows, cols = triplets_of(self)
        found = triplet_product(data, cols, rows, np.transpose(np.asarray(other)), self.shape[1])
        return np.transpose(found)

    def dot(self, other: Any) -> Any:
        """The matrix times a vector, the columns of a table, another matrix, or a number."""
        if not is_sparse(other) and np.ndim(other) == 0:
            return _scaled(self, other)
        return _times(self, other)

    def __mul__(self, other: Any) -> Any:
        """The matrix times a number; times a sparse one, as a matrix or element by element."""
        return _scaled(self, other)

    def __rmul__(self, other: Any) -> Any:
        """A number times the matrix."""
        return _scaled(self, other)

    def multiply(self, other: Any) -> Any:
        """The matrix times another, a dense one or a number, element by element."""
        if is_sparse(other):
            return _at_both(self, other)
        if np.ndim(other) == 0:
            return _scaled(self, other)
        data, rows, cols = triplets_of(self)
        cls = sparse.coo_matrix if _is_matrix(self) else sparse.coo_array
        factors = np.broadcast_to(np.asarray(other), self.shape)[rows, cols]
        return made_of(cls, data=data * factors, row=rows, col=cols, shape=self.shape)

    def power(self, n: Any, dtype: Any = None) -> Any:
        """The values to a power."""
        return with_values(self, self.data**n)

    def __truediv__(self, other: Any) -> Any:
        """The matrix by a number."""
        return _scaled(self, 1.0 / other)

    def __neg__(self) -> Any:
        """The negative matrix."""
        return with_values(self, -self.data)

    def __add__(self, other: Any) -> Any:
        """The sum with a matrix."""
        return _summed(self, other, 1.0)

    def __sub__(self, other: Any) -> Any:
        """The difference from a matrix."""
        return _summed(self, other, -1.0)

    def __radd__(self, other: Any) -> Any:
        """The sum with a matrix that stands before it."""
        return _summed(other, self, 1.0) if is_sparse(other) else _summed(self, other, 1.0)

    def __rsub__(self, other: Any) -> Any:
        """The difference of it from a matrix."""
        return _summed(other, self, -1.0) if is_sparse(other) else _summed(with_values(self, -self.data), other, 1.0)

    def __getitem__(self, key: Any) -> Any:
        """An element, or some rows, or some columns of them."""
        return _part(self, key[0], key[1]) if isinstance(key, tuple) else _part(self, key, slice(None))

    def getrow(self, i: Any) -> Any:
        """A row, as a matrix."""
        rows = np.arange(self.shape[0])[i]
        data, at_rows, at_cols = triplets_of(self)
        kept, new_rows = places_of(at_rows, np.atleast_1d(rows))
        return rows_first(sparse.csr_matrix, data[kept], new_rows, np.asarray(at_cols)[kept], (1, self.shape[1]))

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The sum of all values, or of each row or column."""
        return _total(self, axis)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The mean of all elements, or of each row or column."""
        total = _total(self, axis)
        count = self.shape[0] * self.shape[1]
        return total / (count if axis is None else self.shape[axis])

    def trace(self, offset: Any = 0) -> Any:
        """The sum of a diagonal."""
        data, rows, cols = triplets_of(self)
        return np.sum(data[np.nonzero(cols - rows == offset)[0]])

    def diagonal(self, k: Any = 0) -> Any:
        """The elements on a diagonal."""
        data, rows, cols = triplets_of(self)
        there = np.nonzero(cols - rows == k)[0]
        return _summed_at(data[there], np.minimum(rows, cols)[there], diagonal_length(self.shape, k))

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        """The transposed matrix, of the same values."""
        found = _transposed(self)
        return _copied(found) if copy else found

    @property
    def T(self) -> Any:
        """The transposed matrix, of the same values."""
        return _transposed(self)

    @property
    def nnz(self) -> Any:
        """How many values there are."""
        return len(triplets_of(self)[0])

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        """The dense matrix."""
        data, rows, cols = triplets_of(self)
        places = np.asarray(rows).astype(np.int64) * self.shape[1] + cols
        return np.reshape(_summed_at(data, places, self.shape[0] * self.shape[1]), self.shape)

    def copy(self) -> Any:
        """The matrix, of values of its own."""
        return _copied(self)

    def tocoo(self, copy: Any = True) -> Any:
        """The matrix, as triplets."""
        if isinstance(self, (sparse.coo_matrix, sparse.coo_array)):
            return _copied(self) if copy else self
        data, rows, cols = triplets_of(self)
        values = np.array(data) if copy else data
        cls = sparse.coo_matrix if _is_matrix(self) else sparse.coo_array
        return made_of(cls, data=values, row=rows, col=cols, shape=self.shape)

    def tocsr(self, copy: Any = False) -> Any:
        """The matrix, compressed by rows: itself where it is."""
        if isinstance(self, (sparse.csr_matrix, sparse.csr_array)):
            return _copied(self) if copy else self
        data, rows, cols = triplets_of(self)
        return rows_first(sparse.csr_matrix if _is_matrix(self) else sparse.csr_array, data, rows, cols, self.shape)

    def tocsc(self, copy: Any = False) -> Any:
        """The matrix, compressed by columns: itself where it is."""
        if isinstance(self, (sparse.csc_matrix, sparse.csc_array)):
            return _copied(self) if copy else self
        data, rows, cols = triplets_of(self)
        return columns_first(sparse.csc_matrix if _is_matrix(self) else sparse.csc_array, data, rows, cols, self.shape)


def _transposed(matrix: Any) -> Any:
    extent = (matrix.shape[1], matrix.shape[0])
    if isinstance(matrix, (sparse.coo_matrix, sparse.coo_array)):
        return made_of(matrix.__class__, data=matrix.data, row=matrix.col, col=matrix.row, shape=extent)
    if isinstance(matrix, (sparse.dia_matrix, sparse.dia_array)):
        raise NotDifferentiable(
            "the transpose of a sparse matrix of diagonals has no derivative rule", hint="convert it: `A.tocsr().T`"
        )
    if isinstance(matrix, sparse.csr_matrix):
        cls = sparse.csc_matrix
    elif isinstance(matrix, sparse.csc_matrix):
        cls = sparse.csr_matrix
    elif isinstance(matrix, sparse.csr_array):
        cls = sparse.csc_array
    else:
        cls = sparse.csr_array
    return made_of(cls, data=matrix.data, indices=matrix.indices, indptr=matrix.indptr, shape=extent)


# Functions that make sparse matrices: of diagonals, of products of Kronecker's, of blocks.


def _in_format(matrix: Any, format: Any, usual: Any) -> Any:
    """The matrix in the format of that name; `usual` is the name where there is none."""
    if format is None or format == usual:
        return matrix
    if format == "csr":
        return matrix.tocsr()
    if format == "csc":
        return matrix.tocsc()
    if format == "coo":
        return matrix.tocoo()
    raise NotDifferentiable(
        "sparse matrices of this `format` have no derivative rules", hint="give it `format='csr'`, 'csc' or 'coo'"
    )


def _of_offsets(cls: Any, diagonals: Any, offsets: Any, shape: Any, format: Any) -> Any:
    """A matrix of diagonals, of which one with a single element is as long as it has to be."""
    if isinstance(offsets, (int, np.integer)):
        return _of_rows(cls, (np.atleast_1d(diagonals),), (offsets,), shape, format)
    return _of_rows(cls, diagonals, offsets, shape, format)


def _of_rows(cls: Any, diagonals: Any, offsets: Any, shape: Any, format: Any) -> Any:
    if shape is None:
        size = np.size(diagonals[0]) + abs(int(offsets[0]))
        height, width = size, size
    else:
        height, width = shape
    rows = []
    for j in range(len(offsets)):
        start = max(0, int(offsets[j]))
        length = min(height + int(offsets[j]), width - int(offsets[j]), height, width)
        values = np.ones(length) * np.atleast_1d(diagonals[j])[:length]
        rows.append(np.concatenate([np.zeros(start), values, np.zeros(width - start - length)]))
    return _in_format(
        made_of(cls, data=np.stack(rows), offsets=np.array(offsets), shape=(height, width)), format, "dia"
    )


@composition(sparse.diags, domain=(), containers=True, always=True)
def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None) -> Any:
    """A sparse matrix of diagonals."""
    return _of_offsets(sparse.dia_matrix, diagonals, offsets, shape, format)


@composition(sparse.diags_array, domain=(), containers=True, always=True)
def diags_array(
    diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> Any:
    """A sparse array of diagonals."""
    return _of_offsets(sparse.dia_array, diagonals, offsets, shape, format)


@composition(sparse.spdiags, domain=(), containers=True, always=True)
def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> Any:
    """A sparse matrix of diagonals, each value below the column that it is in."""
    height, width = m if m is not None and n is None else (m, n)
    rows = np.atleast_2d(data) * 1.0
    if m is None:
        height, width = np.size(rows[0]), np.size(rows[0])
    found = made_of(sparse.dia_matrix, data=rows, offsets=np.atleast_1d(diags), shape=(height, width))
    return _in_format(found, format, "dia")


@composition(sparse.eye, domain=(), containers=True, always=True)
def eye(m: Any, n: Any = None, k: Any = 0, dtype: Any = float, format: Any = None) -> Any:
    """A sparse matrix with ones on a diagonal."""
    return _of_offsets(sparse.dia_matrix, 1.0, k, (m, m if n is None else n), format)


@composition(sparse.eye_array, domain=(), containers=True, always=True)
def eye_array(m: Any, n: Any = None, *, k: Any = 0, dtype: Any = float, format: Any = None) -> Any:
    """A sparse array with ones on a diagonal."""
    return _of_offsets(sparse.dia_array, 1.0, k, (m, m if n is None else n), format)


@composition(sparse.identity, domain=(), containers=True, always=True)
def identity(n: Any, dtype: Any = "d", format: Any = None) -> Any:
    """A sparse matrix with ones on its diagonal."""
    return _of_offsets(sparse.dia_matrix, 1.0, 0, (n, n), format)


def _parts(matrix: Any) -> Any:
    """Values, rows, columns and shape of a sparse matrix, or of a dense one."""
    if is_sparse(matrix):
        data, rows, cols = triplets_of(matrix)
        return data, np.asarray(rows).astype(np.int64), np.asarray(cols).astype(np.int64), matrix.shape
    dense = np.atleast_2d(matrix) * 1.0
    rows, cols = np.nonzero(dense)
    return dense[rows, cols], rows, cols, np.shape(dense)


def _is_array(value: Any) -> Any:
    """Whether a value is one of SciPy's sparse arrays, not of its matrices."""
    return isinstance(value, (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.dia_array))


@composition(sparse.kron, domain=(), containers=True, always=True)
def kron(A: Any, B: Any, format: Any = None) -> Any:
    """Product of Kronecker's."""
    data, rows, cols, extent = _parts(A)
    inner, inner_rows, inner_cols, block = _parts(B)
    if format is None and 2 * len(inner) >= block[0] * block[1]:
        raise NotDifferentiable(
            "scipy.sparse.kron with a second factor that is not sparse, which gives a matrix of dense blocks, has no "
            "derivative rule",
            hint="give it `format='csr'`",
        )
    values = np.ravel(data[:, None] * inner)
    at_rows = np.ravel(rows[:, None] * block[0] + inner_rows)
    at_cols = np.ravel(cols[:, None] * block[1] + inner_cols)
    cls = sparse.coo_array if _is_array(A) or _is_array(B) else sparse.coo_matrix
    found = made_of(cls, data=values, row=at_rows, col=at_cols, shape=(extent[0] * block[0], extent[1] * block[1]))
    return _in_format(found, format, "coo")


def _joined(blocks: Any, down: Any, across: Any, format: Any) -> Any:
    """A matrix of blocks, each so far down and to the right of the last as that is high or wide, or not at all."""
    values, at_rows, at_cols = [], [], []
    top, left, height, width = 0, 0, 0, 0
    for block in blocks:
        data, rows, cols, extent = _parts(block)
        values.append(data)
        at_rows.append(rows + top)
        at_cols.append(cols + left)
        height, width = max(height, top + extent[0]), max(width, left + extent[1])
        top, left = top + extent[0] * down, left + extent[1] * across
    data, rows, cols = np.concatenate(values), np.concatenate(at_rows), np.concatenate(at_cols)
    first, shape = blocks[0], (height, width)
    if format is None and isinstance(first, (sparse.csr_matrix, sparse.csr_array)):
        return rows_first(sparse.csr_array if _is_array(first) else sparse.csr_matrix, data, rows, cols, shape)
    if format is None and isinstance(first, (sparse.csc_matrix, sparse.csc_array)):
        return columns_first(sparse.csc_array if _is_array(first) else sparse.csc_matrix, data, rows, cols, shape)
    cls = sparse.coo_array if _is_array(first) else sparse.coo_matrix
    return _in_format(made_of(cls, data=data, row=rows, col=cols, shape=shape), format, "coo")


@composition(sparse.hstack, domain=(), containers=True, always=True)
def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """Sparse matrices side by side."""
    return _joined(blocks, 0, 1, format)


@composition(sparse.vstack, domain=(), containers=True, always=True)
def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """Sparse matrices one below the other."""
    return _joined(blocks, 1, 0, format)


@composition(sparse.block_diag, domain=(), containers=True, always=True)
def block_diag(mats: Any, format: Any = None, dtype: Any = None) -> Any:
    """Matrices along the diagonal of a sparse one."""
    return _joined(mats, 1, 1, "coo" if format is None else format)


def _of_blocks(blocks: Any, cls: Any, format: Any) -> Any:
    """A matrix of rows of blocks, each None where there are zeros; SciPy's own choice of the format is by rows."""
    heights, widths = [0] * len(blocks), [0] * len(blocks[0])
    for i in range(len(blocks)):
        for j in range(len(blocks[i])):
            if blocks[i][j] is not None:
                _, _, _, extent = _parts(blocks[i][j])
                heights[i], widths[j] = extent
    values, at_rows, at_cols = [], [], []
    for i in range(len(blocks)):
        for j in range(len(blocks[i])):
            if blocks[i][j] is not None:
                data, rows, cols, _ = _parts(blocks[i][j])
                values.append(data)
                at_rows.append(rows + sum(heights[:i]))
                at_cols.append(cols + sum(widths[:j]))
    data, rows, cols = np.concatenate(values), np.concatenate(at_rows), np.concatenate(at_cols)
    shape = (sum(heights), sum(widths))
    return _in_format(made_of(cls, data=data, row=rows, col=cols, shape=shape), format, "coo")


@composition(sparse.bmat, domain=(), containers=True, always=True)
def bmat(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """A sparse matrix of rows of blocks."""
    return _of_blocks(blocks, sparse.coo_matrix, format)


@composition(sparse.block_array, domain=(), containers=True, always=True)
def block_array(blocks: Any, *, format: Any = None, dtype: Any = None) -> Any:
    """A sparse array of rows of blocks."""
    return _of_blocks(blocks, sparse.coo_array, format)


def _side(A: Any, kept: Any, format: Any) -> Any:
    """The values of a matrix that are kept, in their places."""
    data, rows, cols, extent = _parts(A)
    cls = sparse.coo_array if _is_array(A) else sparse.coo_matrix
    found = made_of(cls, data=data[kept], row=rows[kept], col=cols[kept], shape=extent)
    return _in_format(found, format, "coo")


@composition(sparse.tril, domain=(), containers=True, always=True)
def tril(A: Any, k: Any = 0, format: Any = None) -> Any:
    """The part of a matrix on and below a diagonal, as a sparse one."""
    _, rows, cols, _ = _parts(A)
    return _side(A, rows + k >= cols, format)


@composition(sparse.triu, domain=(), containers=True, always=True)
def triu(A: Any, k: Any = 0, format: Any = None) -> Any:
    """The part of a matrix on and above a diagonal, as a sparse one."""
    _, rows, cols, _ = _parts(A)
    return _side(A, rows + k <= cols, format)
