"""Factorisations and systems in terms of their parts, and NumPy's other names for products.

The parts of a factorisation are found once, and each is an operation of its own: see `tangentx.arrays.factorisations`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.arrays import (
    det_phase,
    det_sign,
    directions_of,
    eigen_parts,
    eigenvalues_of,
    eigenvectors_of,
    hermitian_parts,
    left_basis_of,
    left_vectors_of,
    log_det,
    mirrored,
    orthonormal_of,
    pseudo_inverse_found,
    pseudo_inverse_of,
    rank_cutoff,
    rank_of,
    right_vectors_of,
    roots_of,
    shape_of_inverse,
    singular_parts,
    singular_values_of,
    square_shape,
    triangular_of,
    triangular_parts,
)
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import constant

_SIGN_AND_LOG: Any = type(np.linalg.slogdet(np.eye(1)))
_EIG: Any = type(np.linalg.eig(np.eye(1)))
_EIGH: Any = type(np.linalg.eigh(np.eye(1)))
_SVD: Any = type(np.linalg.svd(np.eye(1)))
_QR: Any = type(np.linalg.qr(np.eye(1)))

constant(np.linalg.matrix_rank, pseudo_inverse_found, rank_cutoff, rank_of, shape_of_inverse, square_shape)

_APART = "np.diag([1.0, 2.5, 4.0]) + 0.3 * A(3,3)"


@composition(np.linalg.eigh, domain=(_APART, "np.diag([1.0, 4.0]) + 0.3 * A(3,2,2), 'U'"), in_place=True)
def eigh(a: Any, UPLO: Any = "L") -> Any:
    """Eigenvalues and eigenvectors of a Hermitian matrix, read in one triangle, which gets all of the gradient."""
    matrix = mirrored(a, UPLO)
    values, vectors = hermitian_parts(matrix, UPLO)
    return _EIGH(eigenvalues_of(matrix, values, vectors), eigenvectors_of(matrix, values, vectors))


@composition(np.linalg.eigvalsh, domain=("A(3,3)", "C(2,3,3), UPLO='U'"), in_place=True)
def eigvalsh(a: Any, UPLO: Any = "L") -> Any:
    """Eigenvalues of a Hermitian matrix."""
    matrix = mirrored(a, UPLO)
    values, vectors = hermitian_parts(matrix, UPLO)
    return eigenvalues_of(matrix, values, vectors)


@composition(np.linalg.eig, domain=(), in_place=True)
def eig(a: Any) -> Any:
    """Eigenvalues and eigenvectors of a square matrix."""
    values, vectors = eigen_parts(a)
    return _EIG(roots_of(a, values, vectors), directions_of(a, values, vectors))


@composition(
    np.linalg.eigvals, domain=("np.array([[1.0, -2.0], [3.0, 1.0]]) + 0.1 * A(2,2)", "C(2,3,3)"), in_place=True
)
def eigvals(a: Any) -> Any:
    """Eigenvalues of a square matrix."""
    values, vectors = eigen_parts(a)
    return roots_of(a, values, vectors)


@composition(
    np.linalg.svd,
    domain=("A(3,2), False", "A(2,3), full_matrices=False", "A(2,2)", "C(3,2), compute_uv=False", "A(4,2,2)"),
    in_place=True,
)
def svd(a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False) -> Any:
    """Singular values and vectors; what completes a basis has the derivative of the space that it spans."""
    matrix = mirrored(a) if hermitian else a
    if not compute_uv:
        found = np.linalg.svdvals(matrix)
    elif not full_matrices:
        left, values, right = singular_parts(matrix, False, hermitian)
        u, vh = left_vectors_of(matrix, left, values, right), right_vectors_of(matrix, left, values, right)
        found = _SVD(u, singular_values_of(matrix, left, values, right), vh)
    else:
        columns, values, rows = singular_parts(matrix, True, hermitian)
        count = np.shape(values)[-1]
        left, right = columns[..., :count], rows[..., :count, :]
        u = left_basis_of(matrix, columns, left, values, right)
        v = left_basis_of(_turned(matrix), _turned(rows), _turned(right), values, _turned(left))
        found = _SVD(u, singular_values_of(matrix, left, values, right), _turned(v))
    return found


def _turned(a: Any) -> Any:
    """The conjugate transpose."""
    return np.conj(np.swapaxes(a, -1, -2))


@composition(np.linalg.svdvals, domain=("A(3,2)", "C(4,2,3)"), in_place=True)
def svdvals(x: Any) -> Any:
    """Singular values."""
    left, values, right = singular_parts(x)
    return singular_values_of(x, left, values, right)


@composition(np.linalg.qr, domain=("A(3,2)", "A(2,4)", "A(2,3,3), 'r'", "C(3,2)", "C(2,2), mode='complete'"))
def qr(a: Any, mode: Any = "reduced") -> Any:
    """Orthonormal columns times an upper triangular matrix; of a wide matrix the first columns make both."""
    rows, columns = np.shape(a)[-2], np.shape(a)[-1]
    if mode not in ("reduced", "complete", "r"):
        raise NotDifferentiable("np.linalg.qr in this mode has no derivative", hint="use 'reduced' or 'r'")
    if mode == "complete" and rows > columns:
        raise NotDifferentiable(
            "what completes the basis of np.linalg.qr has no derivative", hint="use the mode 'reduced'"
        )
    head = a[..., :rows]
    q, r = triangular_parts(head)
    across, upper = orthonormal_of(head, q, r), triangular_of(head, q, r)
    if columns > rows:
        upper = np.concatenate([upper, np.matmul(_turned(across), a[..., rows:])], axis=-1)
    if mode == "r":
        return upper
    return _QR(across, upper)


@composition(
    np.linalg.pinv,
    domain=("A(3,2)", "A(2,3,4)", "C(2,2)", "A(2,3), 1e-9", "A(2,2) + 4.0 * np.eye(2), hermitian=True"),
)
def pinv(a: Any, rcond: Any = None, hermitian: Any = False, *, rtol: Any = None) -> Any:
    """Pseudo-inverse; where the rank is not full, its derivative among matrices of the same rank."""
    matrix = mirrored(a) if hermitian and np.size(a) > 0 else a
    return pseudo_inverse_of(matrix, pseudo_inverse_found(matrix, rcond, hermitian, rtol))


@composition(
    np.linalg.lstsq, domain=("A(4,2), A(4)", "A(4,2), A(4,3), None", "A(2,3), A(2), None", "C(3,2), C(3), None")
)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """The shortest of the best solutions of a system, its residuals, the rank and the singular values."""
    rank = rank_of(a, rcond)
    x = np.matmul(pseudo_inverse_of(a, pseudo_inverse_found(a, rank_cutoff(a, rcond), False, None)), b)
    lengths = np.sum(np.abs(b - np.matmul(a, x)) ** 2, axis=0, keepdims=np.ndim(b) == 1)
    if rank < np.shape(a)[1] or np.shape(a)[0] <= np.shape(a)[1]:
        lengths = lengths[:0]
    return x, lengths, np.int32(rank), np.linalg.svdvals(a)


@composition(np.linalg.tensorsolve, domain=("A(2,3,6), A(2,3)", "A(2,6,3), A(2,3), axes=(1,)"))
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """Solution of a system whose unknowns are a tensor."""
    if axes is not None:
        a = np.moveaxis(a, axes, tuple(range(-len(axes), 0)))
    shape = a.shape[np.ndim(b) :]
    return np.reshape(np.linalg.solve(np.reshape(a, (-1, math.prod(shape))), np.ravel(b)), shape)


@composition(np.linalg.tensorinv, domain=("A(2,3,6), 2", "A(4,2,2), ind=1"))
def tensorinv(a: Any, ind: Any = 2) -> Any:
    """Inverse of a product over several axes."""
    return np.reshape(np.linalg.inv(np.reshape(a, square_shape(a, ind))), shape_of_inverse(a, ind))


@composition(np.linalg.slogdet, domain=("A(2,2)", "A(3,2,2)", "C(2,2)", "C(3,2,2)"))
def slogdet(a: Any) -> Any:
    """Sign and logarithm of the determinant."""
    if np.iscomplexobj(a):
        return _SIGN_AND_LOG(det_phase(a), log_det(a))
    return _SIGN_AND_LOG(det_sign(a), log_det(a))


@composition(
    np.linalg.cholesky, domain=("A(2,2) + 4.0 * np.eye(2), upper=True", "A(3,2,2) + 4.0 * np.eye(2), upper=True")
)
def cholesky(a: Any, *, upper: Any = False) -> Any:
    """The lower triangular factor, or, found in the upper triangle, the upper one."""
    return _turned(np.linalg.cholesky(_turned(a))) if upper else np.linalg.cholesky(a)


@composition(np.linalg.matrix_power, domain=("A(2,2), 3", "A(3,2,2), 0", "A(2,2) + 4.0 * np.eye(2), -2"))
def matrix_power(a: Any, n: Any) -> Any:
    """Repeated product of a matrix with itself; once is the matrix, no copy."""
    if n == 1:
        return a
    factor = np.linalg.inv(a) if n < 0 else a
    result = np.copy(np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), np.shape(a)))
    for _ in range(abs(n)):
        result = np.matmul(result, factor)
    return result


@composition(np.vecdot, np.linalg.vecdot, domain=("A(2,3), A(3)", "C(3), C(3)", "A(3,2), A(3,2), axis=0"))
def vecdot(x1: Any, x2: Any, *, axis: Any = -1) -> Any:
    """Sums of products along an axis, the first factor conjugated."""
    return np.sum(np.conj(np.moveaxis(x1, axis, -1)) * np.moveaxis(x2, axis, -1), axis=-1)


if hasattr(np, "matvec"):  # since NumPy 2.2

    @composition(np.matvec, domain=("A(2,3), A(3)", "A(4,2,3), A(4,3)"))
    def matvec(x1: Any, x2: Any) -> Any:
        """Matrices times vectors."""
        return np.matmul(x1, np.expand_dims(x2, -1))[..., 0]

    @composition(np.vecmat, domain=("A(2), A(2,3)", "C(4,2), C(4,2,3)"))
    def vecmat(x1: Any, x2: Any) -> Any:
        """Vectors, conjugated, times matrices."""
        return np.matmul(np.expand_dims(np.conj(x1), -2), x2)[..., 0, :]


@composition(np.linalg.trace, domain=("A(2,3)", "A(4,3,3), offset=1"))
def trace(x: Any, *, offset: Any = 0, dtype: Any = None) -> Any:
    """Sums of the diagonals of the matrices along the last two axes."""
    return np.trace(x, offset, -2, -1, dtype)


@composition(np.linalg.diagonal, domain=("A(2,3)", "A(4,3,3), offset=-1"))
def diagonal(x: Any, *, offset: Any = 0) -> Any:
    """Diagonals of the matrices along the last two axes."""
    return np.diagonal(x, offset, -2, -1)


@composition(np.linalg.cross, domain=("A(3), A(3)", "A(3,2), A(3,1), axis=0"))
def cross(x1: Any, x2: Any, *, axis: Any = -1) -> Any:
    """Vector products."""
    return np.moveaxis(np.cross(np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1)), -1, axis)


@composition(np.linalg.outer, domain=("A(2), A(3)",))
def outer(x1: Any, x2: Any) -> Any:
    """All products of an element of one vector and one of another."""
    return np.outer(x1, x2)


@composition(np.linalg.tensordot, domain=("A(2,3), A(3,4), axes=1",))
def tensordot(x1: Any, x2: Any, *, axes: Any = 2) -> Any:
    """Products over pairs of axes."""
    return np.tensordot(x1, x2, axes)


@composition(np.linalg.matmul, domain=("A(2,3), A(3,4)",))
def matmul(x1: Any, x2: Any) -> Any:
    """Products of matrices."""
    return np.matmul(x1, x2)
