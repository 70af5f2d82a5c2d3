"""Eigenvalues and vectors, singular values and vectors, QR and polar factors, pseudo-inverses.

The parts are found once, by SciPy, as constants; each is then an operation of its own (`arrays.factorisations`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from tangentx.arrays import (
    directions_of,
    eigenvalues_of,
    eigenvectors_of,
    left_basis_of,
    left_vectors_of,
    mirrored,
    orthonormal_of,
    rank_cutoff,
    right_vectors_of,
    roots_of,
    singular_values_of,
    stop_gradient,
    triangular_of,
)
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition


def _turned(a: Any) -> Any:
    """The conjugate transpose."""
    return np.conj(np.swapaxes(a, -1, -2))


def _seen_by(b: Any, matrix: Any, side: Any, type: Any, by_value: Any) -> Any:
    """The matrix of the ordinary problem that a generalised one comes to, and the factor of `b`."""
    if type != 1 or by_value is not None:
        raise NotDifferentiable(
            "scipy.linalg.eigh has a derivative for type=1 and for subsets by index",
            hint="leave `type` and `subset_by_value` out",
        )
    factor = np.linalg.cholesky(mirrored(b, side))
    half = np.linalg.solve(factor, matrix)
    return np.linalg.solve(factor, _turned(half)), factor


@composition(
    linalg.eigh,
    domain=(
        "np.diag(np.arange(3.0)) + 0.2 * A(3,3), eigvals_only=True",
        "np.diag(np.arange(3.0)) + 0.2 * A(3,3), lower=False, eigvals_only=True, subset_by_index=(1, 2)",
        "np.diag(np.arange(3.0)) + 0.2 * A(3,3), 0.2 * A(3,3) + 3.0 * np.eye(3), eigvals_only=True",
    ),
)
def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: Any = True,
    eigvals_only: Any = False,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    type: Any = 1,
    check_finite: Any = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any:
    """Eigenvalues of a Hermitian matrix, of which one triangle is read, and eigenvectors up to their sign."""
    side = "L" if lower else "U"
    matrix = mirrored(a, side)
    first, last = (0, np.shape(matrix)[-1] - 1) if subset_by_index is None else subset_by_index
    if b is None:
        seen, factor = matrix, None
        values, vectors = linalg.eigh(stop_gradient(matrix))
    else:
        seen, factor = _seen_by(b, matrix, side, type, subset_by_value)
        values, columns = linalg.eigh(stop_gradient(matrix), stop_gradient(mirrored(b, side)))
        vectors = np.matmul(_turned(stop_gradient(factor)), columns)
    found = eigenvalues_of(seen, values, vectors)[..., first : last + 1]
    if eigvals_only:
        return found
    basis = eigenvectors_of(seen, values, vectors)
    basis = basis if factor is None else np.linalg.solve(_turned(factor), basis)
    return found, basis[..., first : last + 1]


@composition(linalg.eigvalsh, domain=("np.diag(np.arange(3.0)) + 0.2 * A(3,3)",))
def eigvalsh(
    a: Any,
    b: Any = None,
    *,
    lower: Any = True,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    type: Any = 1,
    check_finite: Any = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any:
    """Eigenvalues of a Hermitian matrix, of which one triangle is read."""
    return linalg.eigh(
        a,
        b,
        lower=lower,
        eigvals_only=True,
        type=type,
        subset_by_index=subset_by_index,
        subset_by_value=subset_by_value,
    )


@composition(linalg.eig, domain=())
def eig(
    a: Any,
    b: Any = None,
    left: Any = False,
    right: Any = True,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    homogeneous_eigvals: Any = False,
) -> Any:
    """Eigenvalues of a square matrix, and right eigenvectors of length 1."""
    if left or b is not None or homogeneous_eigvals:
        raise NotDifferentiable(
            "scipy.linalg.eig has a derivative of eigenvalues and right eigenvectors of one matrix",
            hint="for a second matrix give it np.linalg.solve(b, a), for left vectors the transposed one",
        )
    given = np.asarray(a)
    values, found = linalg.eig(stop_gradient(given))  # a complex matrix has them in another order
    matrix, vectors = given + 0j, found + 0j
    if not right:
        return roots_of(matrix, values, vectors)
    return roots_of(matrix, values, vectors), directions_of(matrix, values, vectors)


@composition(linalg.eigvals, domain=("C(3,3)", "np.array([[1.0, -2.0], [3.0, 1.0]]) + 0.1 * A(2,2)"))
def eigvals(
    a: Any, b: Any = None, overwrite_a: Any = False, check_finite: Any = True, homogeneous_eigvals: Any = False
) -> Any:
    """Eigenvalues of a square matrix."""
    return linalg.eig(a, b, False, False, homogeneous_eigvals=homogeneous_eigvals)


@composition(
    linalg.eigh_tridiagonal, domain=("P(3) + np.arange(3.0), 0.3 * P(2), True", "P(4), P(3), True, 'i', (1, 2)")
)
def eigh_tridiagonal(
    d: Any,
    e: Any,
    eigvals_only: Any = False,
    select: Any = "a",
    select_range: Any = None,
    check_finite: Any = True,
    tol: Any = 0.0,
    lapack_driver: Any = "auto",
) -> Any:
    """Eigenvalues and vectors of a symmetric matrix of three diagonals."""
    if select not in ("a", "i"):
        raise NotDifferentiable(
            "scipy.linalg.eigh_tridiagonal has no derivative for eigenvalues by range", hint="select them by index: 'i'"
        )
    matrix = np.diag(d) + np.diag(e, -1)
    return linalg.eigh(matrix, eigvals_only=eigvals_only, subset_by_index=select_range if select == "i" else None)


@composition(linalg.eigvalsh_tridiagonal, domain=("P(3) + np.arange(3.0), 0.3 * P(2)",))
def eigvalsh_tridiagonal(
    d: Any,
    e: Any,
    select: Any = "a",
    select_range: Any = None,
    check_finite: Any = True,
    tol: Any = 0.0,
    lapack_driver: Any = "auto",
) -> Any:
    """Eigenvalues of a symmetric matrix of three diagonals."""
    return linalg.eigh_tridiagonal(d, e, True, select, select_range)


@composition(linalg.svd, domain=("A(2,2), compute_uv=False", "C(3,2), True, False"))
def svd(
    a: Any,
    full_matrices: Any = True,
    compute_uv: Any = True,
    overwrite_a: Any = False,
    check_finite: Any = True,
    lapack_driver: Any = "gesdd",
) -> Any:
    """Singular values and vectors; what completes a basis has the derivative of the space that it spans."""
    matrix = np.asarray(a)
    columns, values, rows = linalg.svd(
        stop_gradient(matrix), full_matrices, check_finite=check_finite, lapack_driver=lapack_driver
    )
    count = np.shape(values)[-1]
    left, right = columns[..., :count], rows[..., :count, :]
    found = singular_values_of(matrix, left, values, right)
    if not compute_uv:
        return found
    if not full_matrices:
        return left_vectors_of(matrix, left, values, right), found, right_vectors_of(matrix, left, values, right)
    u = left_basis_of(matrix, columns, left, values, right)
    v = left_basis_of(_turned(matrix), _turned(rows), _turned(right), values, _turned(left))
    return u, found, _turned(v)


@composition(linalg.svdvals, domain=("A(3,2)",))
def svdvals(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """Singular values."""
    return linalg.svd(a, False, False, False, check_finite)


@composition(
    linalg.qr,
    domain=("A(3,2), mode='economic'", "A(2,3)", "A(3,2), False, None, 'r'", "A(2,3), mode='economic', pivoting=True"),
)
def qr(
    a: Any,
    overwrite_a: Any = False,
    lwork: Any = None,
    mode: Any = "full",
    pivoting: Any = False,
    check_finite: Any = True,
) -> Any:
    """Orthonormal columns times an upper triangular matrix, and the order of the columns, which is a constant."""
    matrix = np.asarray(a)
    rows, columns = np.shape(matrix)[-2], np.shape(matrix)[-1]
    if mode == "raw" or (mode == "full" and rows > columns):
        raise NotDifferentiable(
            "what completes the basis of scipy.linalg.qr has no derivative", hint="use mode='economic'"
        )
    if pivoting:
        order = linalg.qr(stop_gradient(matrix), False, lwork, "r", True, check_finite)[1]
        matrix = matrix[:, order]
    head = matrix[..., :rows]
    q, r = linalg.qr(stop_gradient(head), False, lwork, "economic", False, check_finite)
    across, upper = orthonormal_of(head, q, r), triangular_of(head, q, r)
    if columns > rows:
        upper = np.concatenate([upper, np.matmul(_turned(across), matrix[..., rows:])], axis=-1)
    if mode == "r":
        if rows > columns:
            upper = np.concatenate([upper, np.zeros((rows - columns, columns), upper.dtype)], axis=-2)
        return (upper, order) if pivoting else (upper,)
    return (across, upper, order) if pivoting else (across, upper)


@composition(linalg.polar, domain=("A(2,2) + 3.0 * np.eye(2)", "A(3,2)", "A(2,3), 'left'"))
def polar(a: Any, side: Any = "right") -> Any:
    """A matrix with orthonormal columns or rows and a symmetric one; of full rank."""
    matrix = np.asarray(a)
    rows, columns = np.shape(matrix)
    if (rows < columns) if side == "right" else (columns < rows):
        raise NotDifferentiable(
            "scipy.linalg.polar has a derivative with the smaller factor", hint="give the other `side`"
        )
    if np.size(matrix) == 0 or not np.linalg.cond(stop_gradient(matrix)) < 1e5:
        raise NotDifferentiable(
            "scipy.linalg.polar of a matrix that is nearly of lower rank has no derivative",
            hint="write it by `scipy.linalg.svd` where the singular values differ",
        )
    if side == "right":
        p = linalg.sqrtm(np.matmul(_turned(matrix), matrix))
        return _turned(np.linalg.solve(p, _turned(matrix))), p
    p = linalg.sqrtm(np.matmul(matrix, _turned(matrix)))
    return np.linalg.solve(p, matrix), p


@composition(linalg.orthogonal_procrustes, domain=("A(4,2), A(4,2)",))
def orthogonal_procrustes(A: Any, B: Any, check_finite: Any = True) -> Any:
    """The rotation or reflection that brings the rows of one table nearest to those of another, and its scale."""
    product = np.matmul(np.transpose(A), np.asarray(B))
    if np.size(product) == 0 or not np.linalg.cond(stop_gradient(product)) < 1e5:
        raise NotDifferentiable(
            "scipy.linalg.orthogonal_procrustes has no derivative where the product of the tables is nearly singular",
            hint="write it by `scipy.linalg.svd` where the singular values differ",
        )
    u, p = linalg.polar(product)
    return u, np.trace(p)


@composition(linalg.pinv, domain=("A(3,2)", "C(2,3), rtol=1e-9", "A(3,2), atol=1e-9, return_rank=True"))
def pinv(a: Any, *, atol: Any = None, rtol: Any = None, return_rank: Any = False, check_finite: Any = True) -> Any:
    """Pseudo-inverse; where the rank is not full, its derivative among matrices of the same rank."""
    if atol is None and not return_rank:
        return np.linalg.pinv(a, rtol=rtol)
    values = np.linalg.svdvals(stop_gradient(a))
    cutoff = rank_cutoff(a, None) if rtol is None else rtol
    if atol is not None:
        cutoff = cutoff + atol / values[0]
    found = np.linalg.pinv(a, rtol=cutoff)
    return (found, int(np.sum(values > cutoff * values[0]))) if return_rank else found


@composition(linalg.pinvh, domain=("A(3,3)", "A(3,3), lower=False", "A(3,3), 1e-9"))
def pinvh(
    a: Any,
    atol: Any = None,
    rtol: Any = None,
    lower: Any = True,
    return_rank: Any = False,
    check_finite: Any = True,
) -> Any:
    """Pseudo-inverse of a Hermitian matrix, of which one triangle is read."""
    return linalg.pinv(mirrored(a, "L" if lower else "U"), atol=atol, rtol=rtol, return_rank=return_rank)


@composition(linalg.lstsq, domain=("A(4,2), A(4)", "A(4,2), A(4,3)", "A(2,3), A(2,1), 1e-12"))
def lstsq(
    a: Any,
    b: Any,
    cond: Any = None,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    lapack_driver: Any = None,
) -> Any:
    """The shortest of the best solutions of a system, its residuals, the rank and the singular values."""
    if lapack_driver == "gelsy":
        raise NotDifferentiable(
            "scipy.linalg.lstsq has no derivative with lapack_driver='gelsy'", hint="leave the driver out"
        )
    x, lengths, rank, values = np.linalg.lstsq(a, b, 2.220446049250313e-16 if cond is None else cond)
    if np.ndim(b) > 1:
        return x, lengths, int(rank), values
    if np.shape(lengths)[0] == 0:
        raise NotDifferentiable(
            "scipy.linalg.lstsq of one right side has a derivative for more equations than unknowns, of full rank",
            hint="use np.linalg.lstsq",
        )
    return x, np.sum(lengths), int(rank), values
