"""Matrix factorisations as NumPy computes them, and the conditions under which they have a derivative.

A factorisation is made once, as a constant (`eigen_parts`, `singular_parts`, `triangular_parts`); each factor is then
an operation of its own on the matrix (`eigenvalues_of` and its like), which gives back what was found. So only the
factors that a program reads are differentiated, and a rule may ask for the factors that it needs, with their
derivatives. All functions take stacks of matrices.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable


def mirrored(a: Any, UPLO: Any = "L") -> Any:
    """The Hermitian matrix of which `a` is read in one triangle, the lower one or the upper one."""
    every = np.ones_like(a, dtype=bool)
    read = np.tril(every, -1) if _is_lower(UPLO) else np.triu(every, 1)
    # Chosen, not added: -0.0 stays -0.0, by whose sign LAPACK chooses that of an eigenvector.
    return _with_real_diagonal(np.where(read, a, np.conj(np.swapaxes(a, -1, -2))), a)


def unmirrored(t: Any, UPLO: Any = "L") -> Any:
    """Adjoint of `mirrored`: what both triangles get goes to the one that is read."""
    lower, upper = np.tril(t, -1), np.triu(t, 1)
    one, other = (lower, upper) if _is_lower(UPLO) else (upper, lower)
    return _with_real_diagonal(one + np.conj(np.swapaxes(other, -1, -2)), t)


def _is_lower(UPLO: Any) -> bool:
    return str(UPLO).upper() == "L"


def _with_real_diagonal(made: Any, a: Any) -> Any:
    """`made`, which is new, with the real parts of the diagonal of `a`."""
    places = range(np.shape(a)[-1])
    made[..., places, places] = np.real(np.diagonal(a, axis1=-2, axis2=-1))
    return made


def eigen_parts(a: Any) -> Any:
    """Eigenvalues and eigenvectors of a square matrix."""
    values, vectors = np.linalg.eig(a)
    return values, vectors


def hermitian_parts(a: Any, UPLO: Any = "L") -> Any:
    """Eigenvalues and eigenvectors of a Hermitian matrix."""
    values, vectors = np.linalg.eigh(a, UPLO)
    return values, vectors


def singular_parts(a: Any, full_matrices: Any = False, hermitian: Any = False) -> Any:
    """Left singular vectors, singular values and the conjugate transpose of the right singular vectors."""
    left, values, right = np.linalg.svd(a, full_matrices, hermitian=hermitian)
    return left, values, right


def triangular_parts(a: Any) -> Any:
    """The factors Q and R."""
    q, r = np.linalg.qr(a)
    return q, r


def pseudo_inverse_found(a: Any, rcond: Any, hermitian: Any, rtol: Any) -> Any:
    """The pseudo-inverse; `rtol` counts where it is not None."""
    if rtol is None:
        return np.linalg.pinv(a, rcond, hermitian)
    return np.linalg.pinv(a, rtol if rcond is None else rcond, hermitian)


def rank_cutoff(a: Any, rcond: Any) -> Any:
    """The part of the largest singular value that counts as 0 in a system that is solved for least squares; LAPACK
    takes what is no part of it for the precision."""
    precision = float(np.finfo(np.asarray(a).dtype).eps)
    return max(np.shape(a)) * precision if rcond is None else rcond if 0.0 < rcond < 1.0 else precision


def rank_of(a: Any, rcond: Any) -> Any:
    """How many singular values of a matrix count in a system that is solved for least squares."""
    values = np.linalg.svd(a, compute_uv=False)
    return np.sum(values > rank_cutoff(a, rcond) * np.max(values, initial=0.0))


def square_shape(a: Any, ind: int) -> tuple[int, int]:
    """The shape of a tensor as a matrix that joins its first axes, and the others."""
    shape = np.shape(a)
    return math.prod(shape[:ind]), math.prod(shape[ind:])


def shape_of_inverse(a: Any, ind: int) -> tuple[int, ...]:
    """The shape of the inverse of a tensor with respect to its first axes."""
    shape = np.shape(a)
    return (*shape[ind:], *shape[:ind])


def eigenvalues_of(a: Any, values: Any, vectors: Any) -> Any:
    """The eigenvalues of a Hermitian matrix that have been found."""
    return np.array(values)


def eigenvectors_of(a: Any, values: Any, vectors: Any) -> Any:
    """The eigenvectors of a Hermitian matrix that have been found."""
    return np.array(vectors)


def roots_of(a: Any, values: Any, vectors: Any) -> Any:
    """The eigenvalues of a square matrix that have been found."""
    return np.array(values)


def directions_of(a: Any, values: Any, vectors: Any) -> Any:
    """The eigenvectors of a square matrix that have been found, each of length 1."""
    return np.array(vectors)


def singular_values_of(a: Any, left: Any, values: Any, right: Any) -> Any:
    """The singular values that have been found."""
    return np.array(values)


def left_vectors_of(a: Any, left: Any, values: Any, right: Any) -> Any:
    """The left singular vectors that have been found."""
    return np.array(left)


def right_vectors_of(a: Any, left: Any, values: Any, right: Any) -> Any:
    """The conjugate transpose of the right singular vectors that have been found."""
    return np.array(right)


def left_basis_of(a: Any, basis: Any, left: Any, values: Any, right: Any) -> Any:
    """The left singular vectors that have been found, with those that complete the basis."""
    return np.array(basis)


def orthonormal_of(a: Any, q: Any, r: Any) -> Any:
    """The factor Q that has been found."""
    return np.array(q)


def triangular_of(a: Any, q: Any, r: Any) -> Any:
    """The factor R that has been found."""
    return np.array(r)


def eliminated(a: Any, found: Any) -> Any:
    """The factors L and U of a square matrix that have been found, in one table: the ones of L are left out."""
    return np.array(found)


def order_of_pivots(pivots: Any, a: Any) -> Any:
    """The order of the rows of a matrix, or of each of several, after each row has been exchanged with its pivot."""
    count = np.shape(a)[-2]
    order = np.empty((*np.shape(pivots)[:-1], count), int)
    order[...] = np.arange(count)
    for k in range(min(np.shape(pivots)[-1], count)):
        pivot = np.minimum(np.asarray(pivots)[..., k, None], count - 1)
        other = np.take_along_axis(order, pivot, -1)
        np.put_along_axis(order, pivot, order[..., k, None], -1)
        order[..., k] = other[..., 0]
    return order


def pseudo_inverse_of(a: Any, inverse: Any) -> Any:
    """The pseudo-inverse that has been found."""
    return np.array(inverse)


def counting(values: Any) -> Any:
    """1 for each singular value that is more than rounding, else 0."""
    return 1.0 - _least(values).astype(values.dtype)


def shape_of_values(basis: Any) -> tuple[int, ...]:
    """The shape of one value for each column."""
    shape: tuple[int, ...] = np.shape(basis)
    return shape[:-1]


def beside(q: Any) -> Any:
    """1 where there are directions that are orthogonal to all columns of `q`, else 0."""
    return 1.0 if np.shape(q)[-2] > np.shape(q)[-1] else 0.0


def short_of(a: Any, inverse: Any, axis: int) -> Any:
    """1 for each matrix whose rank is less than its length along `axis`, else 0, as a number for each."""
    rank = np.rint(np.real(np.trace(np.matmul(inverse, a), axis1=-2, axis2=-1)))
    found = (rank < np.shape(a)[axis]).astype(np.real(a).dtype)
    return np.expand_dims(found, (-2, -1))


def demand_apart(t: Any, values: Any) -> Any:
    """`t` itself, cotangents of vectors; raises NotDifferentiable where they want to know how vectors turn whose
    values are equal: such vectors may turn by any angle, and what a function of them and their values does cannot be
    told from these cotangents. Vectors beyond the values complete a basis, as if they had the value 0."""
    near, same = _near(values, np.shape(t)[-1])
    moved = np.any(t != 0, axis=-2)
    if np.any(same) or np.any(near & moved[..., None, :]):
        raise NotDifferentiable(
            "eigenvectors or singular vectors of equal values have no derivative",
            hint="use the values alone, or make them differ; functions of a matrix have series and iterations too",
        )
    return t


def turning(p: Any, values: Any) -> Any:
    """`p` itself, how vectors are to turn, with nan where those of equal values are: see `demand_apart`."""
    near, _ = _near(values, np.shape(p)[-1])
    return np.where(near & (p != 0), np.nan, p).astype(np.asarray(p).dtype) if near.any() else p


def _near(values: Any, size: int) -> tuple[Any, Any]:
    """Which pairs of values are equal but for rounding, and which are the same; zeros are put behind the values."""
    count = np.shape(values)[-1]
    noise = _noise(values, size)
    values = np.concatenate([values, np.zeros((*np.shape(values)[:-1], size - count), values.dtype)], axis=-1)
    gaps = np.abs(values[..., :, None] - values[..., None, :])
    gaps[..., range(size), range(size)] = np.inf
    gaps[..., count:, count:] = np.inf
    return gaps <= noise[..., None], gaps == 0


def _noise(values: Any, size: int) -> Any:
    """What values differ by where they are equal, for each matrix."""
    largest = np.max(np.abs(values), axis=-1, keepdims=True, initial=0.0)
    return 8.0 * size * np.finfo(np.asarray(values).dtype).eps * largest


def demand_rank(t: Any, values: Any, vectors: Any) -> Any:
    """`t` itself, cotangents of singular vectors; raises NotDifferentiable where one of the value 0 is asked for, and
    there are directions that are orthogonal to all vectors: it may be one of those."""
    if beside(vectors) and np.any(_least(values) & np.any(t != 0, axis=-2)):
        raise NotDifferentiable(
            "singular vectors of the value 0 have no derivative", hint="use those of other values: `u[:, :rank]`"
        )
    return t


def leaving(p: Any, values: Any) -> Any:
    """`p` itself, how the columns leave the space of all of them, with nan where the value is 0: see `demand_rank`."""
    least = _least(values)
    lost = np.expand_dims(least, -2) & (p != 0)
    return np.where(lost, np.nan, p).astype(np.asarray(p).dtype) if least.any() else p


def _least(values: Any) -> Any:
    """Which singular values are 0 but for rounding."""
    return values <= _noise(values, np.shape(values)[-1])


def demand_full_rank(t: Any, r: Any) -> Any:
    """`t` itself; raises NotDifferentiable where the triangular matrix `r` has no inverse."""
    diagonal = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    if np.any(diagonal <= _noise(diagonal, np.shape(r)[-1])):
        raise NotDifferentiable(
            "np.linalg.qr of a matrix whose columns depend on one another has no derivative",
            hint="leave out the columns that depend on others",
        )
    return t


def demand_basis(t: Any, vectors: Any) -> Any:
    """`t` itself; raises NotDifferentiable where a matrix has fewer eigenvectors than columns."""
    if np.size(vectors):
        least = np.linalg.svd(vectors, compute_uv=False)[..., -1]
        if np.any(least <= 8.0 * np.shape(vectors)[-1] * np.finfo(vectors.dtype).eps):
            raise NotDifferentiable(
                "eigenvalues of a defective matrix have no derivative",
                hint="use its determinant or its trace, which do not need eigenvectors",
            )
    return t


def demand_exact(t: Any, a: Any, inverse: Any) -> Any:
    """`t` itself; raises NotDifferentiable where small singular values of `a` that are not 0 have been left out of
    its pseudo-inverse."""
    a = np.asarray(a)
    lost = np.max(np.abs(a - np.matmul(a, np.matmul(inverse, a))), axis=(-2, -1), initial=0.0)
    size = np.max(np.abs(a), axis=(-2, -1), initial=0.0)
    growth = 1.0 + size * np.max(np.abs(inverse), axis=(-2, -1), initial=0.0)
    if np.any(lost > 64.0 * max(a.shape[-2:]) ** 2 * np.finfo(a.dtype).eps * size * growth):
        raise NotDifferentiable(
            "a pseudo-inverse that leaves out singular values that are not 0 has no derivative",
            hint="make `rcond` smaller, or solve `a.T @ a + ridge * np.eye(n)` instead",
        )
    return t
