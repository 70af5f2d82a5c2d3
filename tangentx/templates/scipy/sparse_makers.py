"""Functions that make sparse matrices: of diagonals, of products of Kronecker's, of blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tangentx.arrays import made_of
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.scipy.sparse_matrices import columns_first, is_sparse, rows_first, triplets_of


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
