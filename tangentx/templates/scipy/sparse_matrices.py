"""Sparse matrices of SciPy's: made of values that vary, multiplied, added, transposed, and systems with them.

The places of the values are constants. A matrix that is made of a dense one has the places that are not 0 there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from tangentx.arrays import (
    compressed,
    made_of,
    row_of_each,
    sparse_found,
    sparse_iterated,
    sparse_solved,
    stop_gradient,
    triplet_product,
)
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.library_classes import constructor_of, methods_of

_BY_ROWS = (sparse.csr_matrix, sparse.csr_array)
_BY_COLUMNS = (sparse.csc_matrix, sparse.csc_array)
_TRIPLETS = (sparse.coo_matrix, sparse.coo_array)
_MATRICES = (*_BY_ROWS, *_BY_COLUMNS, *_TRIPLETS)


def _triplets(matrix: Any) -> Any:
    """Values, rows and columns."""
    if isinstance(matrix, (sparse.csr_matrix, sparse.csr_array)):
        return matrix.data, row_of_each(matrix.indptr), matrix.indices
    if isinstance(matrix, (sparse.csc_matrix, sparse.csc_array)):
        return matrix.data, matrix.indices, row_of_each(matrix.indptr)
    return matrix.data, matrix.row, matrix.col


def _is_sparse(value: Any) -> Any:
    return isinstance(
        value,
        (
            sparse.csr_matrix,
            sparse.csr_array,
            sparse.csc_matrix,
            sparse.csc_array,
            sparse.coo_matrix,
            sparse.coo_array,
        ),
    )


def _given(arg1: Any, shape: Any) -> Any:
    """Values, rows, columns and shape of what a matrix is made of, if not of compressed rows."""
    if _is_sparse(arg1):
        data, rows, cols = _triplets(arg1)
        return data, rows, cols, arg1.shape
    if isinstance(arg1, tuple):
        data, (rows, cols) = arg1
        rows, cols = np.asarray(rows), np.asarray(cols)
        if shape is None:
            return np.asarray(data) * 1.0, rows, cols, (int(np.max(rows)) + 1, int(np.max(cols)) + 1)
        return np.asarray(data) * 1.0, rows, cols, shape
    dense = np.asarray(arg1) * 1.0
    rows, cols = np.nonzero(dense)
    return dense[rows, cols], rows, cols, np.shape(dense)


def _rows_first(cls: Any, data: Any, rows: Any, cols: Any, shape: Any) -> Any:
    """A matrix that is compressed by rows, those that have one place summed."""
    sums, indices, indptr = compressed(rows, cols, shape)
    values = np.bincount(sums, data, len(indices))
    return made_of(cls, data=values, indices=indices, indptr=indptr, shape=shape)


def _columns_first(cls: Any, data: Any, rows: Any, cols: Any, shape: Any) -> Any:
    """A matrix that is compressed by columns, those that have one place summed."""
    sums, indices, indptr = compressed(cols, rows, (shape[1], shape[0]))
    values = np.bincount(sums, data, len(indices))
    return made_of(cls, data=values, indices=indices, indptr=indptr, shape=shape)


def _compressed(cls: Any, arg1: Any, shape: Any) -> Any:
    """A matrix of given values, columns (or rows), and where each row (or column) begins."""
    if shape is None:
        raise NotDifferentiable(
            "a sparse matrix of compressed rows has a derivative where its shape is given", hint="give it `shape`"
        )
    data, indices, indptr = arg1
    return made_of(
        cls, data=np.asarray(data) * 1.0, indices=np.asarray(indices), indptr=np.asarray(indptr), shape=shape
    )


def _is_compressed(arg1: Any) -> Any:
    return isinstance(arg1, tuple) and len(arg1) == 3


@constructor_of(sparse.csr_matrix)
def csr_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    """A matrix that is compressed by rows."""
    if _is_compressed(arg1):
        return _compressed(sparse.csr_matrix, arg1, shape)
    data, rows, cols, extent = _given(arg1, shape)
    return _rows_first(sparse.csr_matrix, data, rows, cols, extent)


@constructor_of(sparse.csr_array)
def csr_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    """A matrix that is compressed by rows."""
    if _is_compressed(arg1):
        return _compressed(sparse.csr_array, arg1, shape)
    data, rows, cols, extent = _given(arg1, shape)
    return _rows_first(sparse.csr_array, data, rows, cols, extent)


@constructor_of(sparse.csc_matrix)
def csc_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    """A matrix that is compressed by columns."""
    if _is_compressed(arg1):
        return _compressed(sparse.csc_matrix, arg1, shape)
    data, rows, cols, extent = _given(arg1, shape)
    return _columns_first(sparse.csc_matrix, data, rows, cols, extent)


@constructor_of(sparse.csc_array)
def csc_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    """A matrix that is compressed by columns."""
    if _is_compressed(arg1):
        return _compressed(sparse.csc_array, arg1, shape)
    data, rows, cols, extent = _given(arg1, shape)
    return _columns_first(sparse.csc_array, data, rows, cols, extent)


@constructor_of(sparse.coo_matrix)
def coo_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    """A matrix as triplets."""
    data, rows, cols, extent = _given(arg1, shape)
    return made_of(sparse.coo_matrix, data=data, row=rows, col=cols, shape=extent)


@constructor_of(sparse.coo_array)
def coo_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    """A matrix as triplets."""
    data, rows, cols, extent = _given(arg1, shape)
    return made_of(sparse.coo_array, data=data, row=rows, col=cols, shape=extent)


def _with_values(matrix: Any, data: Any) -> Any:
    """The matrix with other values at the same places."""
    if isinstance(matrix, (sparse.coo_matrix, sparse.coo_array)):
        return made_of(matrix.__class__, data=data, row=matrix.row, col=matrix.col, shape=matrix.shape)
    return made_of(matrix.__class__, data=data, indices=matrix.indices, indptr=matrix.indptr, shape=matrix.shape)


def _times(matrix: Any, x: Any) -> Any:
    if _is_sparse(x):
        raise NotDifferentiable(
            "the product of two sparse matrices has no derivative rule", hint="multiply by dense columns: `A @ (B @ x)`"
        )
    data, rows, cols = _triplets(matrix)
    return triplet_product(data, rows, cols, np.asarray(x), matrix.shape[0])


def _scaled(matrix: Any, other: Any) -> Any:
    if _is_sparse(other):
        raise NotDifferentiable(
            "products of two sparse matrices have no derivative rule", hint="multiply by dense columns: `A @ (B @ x)`"
        )
    if np.ndim(other) > 0:
        raise NotDifferentiable(
            "a sparse matrix times an array has a derivative as a product of matrices", hint="write `A @ x`"
        )
    return _with_values(matrix, matrix.data * other)


def _summed(matrix: Any, other: Any, sign: Any) -> Any:
    """The sum of two matrices, compressed by rows."""
    if not _is_sparse(other):
        return matrix.toarray() + sign * np.asarray(other)
    first, rows, cols = _triplets(matrix)
    second, more_rows, more_cols = _triplets(other)
    data = np.concatenate([first, sign * second])
    places = np.concatenate([rows, more_rows]), np.concatenate([cols, more_cols])
    if isinstance(matrix, (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix)):
        return _rows_first(sparse.csr_matrix, data, places[0], places[1], matrix.shape)
    return _rows_first(sparse.csr_array, data, places[0], places[1], matrix.shape)


@methods_of(*_MATRICES)
class SparseMatrix:
    """What is made of values at constant places."""

    data: Any
    shape: Any

    def __matmul__(self, other: Any) -> Any:
        """The matrix times a vector, or the columns of a table."""
        return _times(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        """A vector, or the rows of a table, times the matrix."""
        data, rows, cols = _triplets(self)
        found = triplet_product(data, cols, rows, np.transpose(np.asarray(other)), self.shape[1])
        return np.transpose(found)

    def dot(self, other: Any) -> Any:
        """The matrix times a vector, or the columns of a table."""
        return _times(self, other)

    def __mul__(self, other: Any) -> Any:
        """The matrix times a number."""
        return _scaled(self, other)

    def __rmul__(self, other: Any) -> Any:
        """A number times the matrix."""
        return _scaled(self, other)

    def __truediv__(self, other: Any) -> Any:
        """The matrix by a number."""
        return _scaled(self, 1.0 / other)

    def __neg__(self) -> Any:
        """The negative matrix."""
        return _with_values(self, -self.data)

    def __add__(self, other: Any) -> Any:
        """The sum with a matrix."""
        return _summed(self, other, 1.0)

    def __sub__(self, other: Any) -> Any:
        """The difference from a matrix."""
        return _summed(self, other, -1.0)

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        """The transposed matrix."""
        return _transposed(self)

    @property
    def T(self) -> Any:
        """The transposed matrix."""
        return _transposed(self)

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        """The dense matrix."""
        data, rows, cols = _triplets(self)
        return np.reshape(np.bincount(rows * self.shape[1] + cols, data, self.shape[0] * self.shape[1]), self.shape)

    def diagonal(self, k: Any = 0) -> Any:
        """The elements on a diagonal."""
        return np.diagonal(self.toarray(), k)

    def tocsr(self, copy: Any = False) -> Any:
        """The matrix, compressed by rows."""
        data, rows, cols = _triplets(self)
        if isinstance(self, (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix)):
            return _rows_first(sparse.csr_matrix, data, rows, cols, self.shape)
        return _rows_first(sparse.csr_array, data, rows, cols, self.shape)

    def tocsc(self, copy: Any = False) -> Any:
        """The matrix, compressed by columns."""
        data, rows, cols = _triplets(self)
        if isinstance(self, (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix)):
            return _columns_first(sparse.csc_matrix, data, rows, cols, self.shape)
        return _columns_first(sparse.csc_array, data, rows, cols, self.shape)


def _transposed(matrix: Any) -> Any:
    extent = (matrix.shape[1], matrix.shape[0])
    if isinstance(matrix, (sparse.coo_matrix, sparse.coo_array)):
        return made_of(matrix.__class__, data=matrix.data, row=matrix.col, col=matrix.row, shape=extent)
    if isinstance(matrix, sparse.csr_matrix):
        cls = sparse.csc_matrix
    elif isinstance(matrix, sparse.csc_matrix):
        cls = sparse.csr_matrix
    elif isinstance(matrix, sparse.csr_array):
        cls = sparse.csc_array
    else:
        cls = sparse.csr_array
    return made_of(cls, data=matrix.data, indices=matrix.indices, indptr=matrix.indptr, shape=extent)


@composition(linalg.spsolve, domain=(), containers=True, always=True)
def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: Any = True) -> Any:
    """Solution of a sparse system."""
    if _is_sparse(b):
        raise NotDifferentiable(
            "scipy.sparse.linalg.spsolve has a derivative for dense right sides", hint="b.toarray()"
        )
    data, rows, cols = _triplets(A)
    return sparse_solved(data, rows, cols, np.asarray(b) * 1.0)


class Factors:
    """What `splu` and `factorized` give: a matrix, with which systems are solved."""

    def __init__(self, data: Any, rows: Any, cols: Any) -> None:
        self.data = data
        self.rows = rows
        self.cols = cols

    def solve(self, rhs: Any, trans: Any = "N") -> Any:
        """Solution of a system, or of the transposed one."""
        if trans == "N":
            return sparse_solved(self.data, self.rows, self.cols, np.asarray(rhs) * 1.0)
        return sparse_solved(self.data, self.cols, self.rows, np.asarray(rhs) * 1.0)

    def __call__(self, rhs: Any) -> Any:
        """Solution of a system."""
        return self.solve(rhs)


@composition(linalg.splu, domain=(), containers=True, always=True)
def splu(
    A: Any, permc_spec: Any = None, diag_pivot_thresh: Any = None, relax: Any = None, panel_size: Any = None
) -> Any:
    """Factors of a sparse matrix."""
    data, rows, cols = _triplets(A)
    return Factors(data, rows, cols)


@composition(linalg.factorized, domain=(), containers=True, always=True)
def factorized(A: Any) -> Any:
    """A function that solves systems with a sparse matrix."""
    data, rows, cols = _triplets(A)
    return Factors(data, rows, cols)


def _iterated(name: Any, A: Any, b: Any, x0: Any, M: Any, callback: Any, options: Any) -> Any:
    """What a solver finds, as a function of the system, and what it says."""
    if M is not None or callback is not None:
        raise NotDifferentiable(
            "iterative solvers of scipy.sparse.linalg have a derivative without `M` and `callback`",
            hint="leave them out, or use `spsolve`",
        )
    data, rows, cols = _triplets(A)
    right = np.asarray(b) * 1.0
    found = sparse_iterated(stop_gradient(data), rows, cols, stop_gradient(right), name, x0, options)
    return sparse_found(data, rows, cols, right, found[:-1]), int(found[-1])


@composition(linalg.cg, domain=(), containers=True, always=True)
def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
) -> Any:
    """Solution of a system with a symmetric, positive definite matrix: differentiated as an exact one."""
    return _iterated("cg", A, b, x0, M, callback, (rtol, atol, maxiter))


@composition(linalg.bicgstab, domain=(), containers=True, always=True)
def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
) -> Any:
    """Solution of a system: differentiated as an exact one."""
    return _iterated("bicgstab", A, b, x0, M, callback, (rtol, atol, maxiter))


@composition(linalg.gmres, domain=(), containers=True, always=True)
def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
) -> Any:
    """Solution of a system: differentiated as an exact one."""
    return _iterated("gmres", A, b, x0, M, callback, (rtol, atol, maxiter))
