"""Matrices that are made of rows of numbers or of blocks, or have few diagonals, and systems with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from tangentx.arrays import band_outer, band_product, band_transpose, reversed_pair
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import adjoint, constant

# Matrices that are made of rows of numbers or of blocks, and systems with them.

constant(linalg.hadamard, linalg.helmert, linalg.hilbert, linalg.invhilbert, linalg.pascal, linalg.invpascal)
constant(linalg.dft, linalg.bandwidth, linalg.issymmetric, linalg.ishermitian)


@composition(linalg.block_diag, domain=("A(2,2), A(1,3)", "A(2), x, A(2,1)"))
def block_diag(*arrs: Any) -> Any:
    """Matrices along the diagonal of one; a row is a matrix of one row."""
    blocks = [np.atleast_2d(a) * 1.0 for a in arrs]  # whole numbers beside what varies
    width = sum([block.shape[1] for block in blocks])
    rows = []
    before = 0
    for block in blocks:
        left = np.zeros((block.shape[0], before), block.dtype)
        right = np.zeros((block.shape[0], width - before - block.shape[1]), block.dtype)
        rows.append(np.concatenate([left, block, right], axis=1))
        before += block.shape[1]
    return np.concatenate(rows, axis=0)


@composition(linalg.toeplitz, domain=("A(3)", "A(3), A(2)"))
def toeplitz(c: Any, r: Any = None) -> Any:
    """Matrix with constant diagonals: the first column, and the first row but for its first element."""
    column = np.ravel(c)
    row = np.conj(column) if r is None else np.ravel(r)
    along = np.concatenate([np.flip(row[1:]), column])
    return along[len(row) - 1 + np.arange(len(column))[:, None] - np.arange(len(row))]


@composition(linalg.circulant, domain=("A(3)",))
def circulant(c: Any) -> Any:
    """Matrix whose columns are the first one, turned round."""
    places = np.arange(len(c))
    return np.asarray(c)[(places[:, None] - places) % len(c)]


@composition(linalg.hankel, domain=("A(3)", "A(3), A(2)"))
def hankel(c: Any, r: Any = None) -> Any:
    """Matrix with constant diagonals from the right: the first column, and the last row but for its first element."""
    column = np.ravel(c)
    row = 0.0 * column if r is None else np.ravel(r)
    along = np.concatenate([column, row[1:]])
    return along[np.arange(len(column))[:, None] + np.arange(len(row))]


@composition(linalg.companion, domain=("P(4)",))
def companion(a: Any) -> Any:
    """Matrix whose characteristic polynomial has the coefficients."""
    given = np.asarray(a)
    return np.concatenate(
        [(-given[1:] / given[0])[None, :], np.eye(len(given) - 2, len(given) - 1, dtype=given.dtype)], axis=0
    )


@composition(linalg.fiedler, domain=("A(3)",))
def fiedler(a: Any) -> Any:
    """Distances of all pairs of numbers."""
    given = np.atleast_1d(a)
    return np.abs(given[:, None] - given)


@composition(linalg.leslie, domain=("A(3), A(2)",))
def leslie(f: Any, s: Any) -> Any:
    """Matrix of a population by age: births in the first row, survival below the diagonal."""
    below = np.concatenate([np.diag(s), np.zeros((len(s), 1), np.asarray(s).dtype)], axis=1)
    return np.concatenate([np.asarray(f)[None, :], below], axis=0)


@composition(linalg.diagsvd, domain=("A(2), 2, 3", "A(2), 3, 2"))
def diagsvd(s: Any, M: Any, N: Any) -> Any:
    """Matrix of singular values."""
    square = np.diag(s)
    if len(s) == M:
        return np.concatenate([square, np.zeros((M, N - M), square.dtype)], axis=1)
    return np.concatenate([square, np.zeros((M - N, N), square.dtype)], axis=0)


@composition(linalg.khatri_rao, domain=("A(2,3), A(4,3)",))
def khatri_rao(a: Any, b: Any) -> Any:
    """Products of Kronecker of the columns of two matrices."""
    first, second = np.asarray(a), np.asarray(b)
    return np.reshape(first[:, None, :] * second[None, :, :], (-1, np.shape(first)[1]))


@composition(linalg.convolution_matrix, domain=("A(3), 4", "A(3), 2, 'same'", "A(2), 4, 'valid'"))
def convolution_matrix(a: Any, n: Any, mode: Any = "full") -> Any:
    """Matrix by which a row of `n` numbers is convolved with `a`."""
    given = np.asarray(a)
    count = len(given)
    before = (min(n, count) - 1) // 2 if mode == "same" else 0 if mode == "full" else min(n, count) - 1
    rows = n + count - 1 if mode == "full" else max(n, count) if mode == "same" else max(n, count) - min(n, count) + 1
    places = before + np.arange(rows)[:, None] - np.arange(n)
    outside = (places < 0) | (places >= count)
    return np.where(outside, 0.0, given[np.where(outside, 0, places)])


@composition(linalg.matmul_toeplitz, double=True, domain=("A(3), A(3)", "(A(3), A(2)), A(2,4)"), containers=True)
def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: Any = False, workers: Any = None) -> Any:
    """Product of a matrix with constant diagonals."""
    if np.size(x) == 0:
        raise NotDifferentiable("scipy.linalg.matmul_toeplitz has no derivative of no numbers", hint="leave them out")
    return np.matmul(_of_diagonals(c_or_cr), np.asarray(x))


@composition(linalg.solve_toeplitz, double=True, domain=("P(3) * np.array([9.0, 1.0, 1.0]), A(3)",), containers=True)
def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: Any = True) -> Any:
    """Solution of a system with constant diagonals."""
    return np.linalg.solve(_of_diagonals(c_or_cr), np.asarray(b))


def _of_diagonals(c_or_cr: Any) -> Any:
    if isinstance(c_or_cr, tuple):
        c, r = c_or_cr
        return linalg.toeplitz(np.asarray(c), np.asarray(r))
    return linalg.toeplitz(np.asarray(c_or_cr))


@composition(linalg.solve_circulant, domain=("P(3) * np.array([9.0, 1.0, 1.0]), A(3)",))
def solve_circulant(
    c: Any, b: Any, singular: Any = "raise", tol: Any = None, caxis: Any = -1, baxis: Any = 0, outaxis: Any = 0
) -> Any:
    """Solution of a system whose columns are the first one, turned round."""
    if singular != "raise" or np.ndim(c) != 1 or np.ndim(b) != 1:
        raise NotDifferentiable(
            "scipy.linalg.solve_circulant has a derivative for two rows of numbers, with singular='raise'",
            hint="use scipy.linalg.solve and scipy.linalg.circulant",
        )
    return np.linalg.solve(linalg.circulant(c), np.asarray(b))


# Systems with matrices of few diagonals.


@adjoint(
    linalg.solve_banded,
    domain=(
        "(1, 1), A(3,4) + np.array([[0.0], [5.0], [0.0]]), A(4)",
        "(2, 1), A(4,5) + np.array([[0.0], [8.0], [0.0], [0.0]]), A(5,2)",
        "(0, 1), A(2,4) + np.array([[0.0], [5.0]]), A(4)",
    ),
)
def solve_banded(
    l_and_u: Any,
    ab: Any,
    b: Any,
    overwrite_ab: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    *,
    ans: Any,
    ans_bar: Any,
) -> Any:
    """Solution of a system of few diagonals; its adjoint solves the transposed one."""
    b_bar = linalg.solve_banded(
        reversed_pair(l_and_u), band_transpose(ab, l_and_u), ans_bar, False, False, check_finite
    )
    ab_bar = -band_outer(b_bar, ans, l_and_u)
    return ab_bar, b_bar


@solve_banded.tangent
def solve_banded_tangent(
    l_and_u: Any,
    ab: Any,
    b: Any,
    overwrite_ab: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    *,
    ans: Any,
    ab_dot: Any,
    b_dot: Any,
) -> Any:
    """The same system for the tangents."""
    moved = b_dot - band_product(ab_dot, ans, l_and_u)
    ans_dot = linalg.solve_banded(l_and_u, ab, moved, False, False, check_finite)
    return ans_dot


def _hermitian(ab: Any, lower: Any) -> Any:
    """All diagonals of a Hermitian matrix of which one half is stored."""
    count = ab.shape[0] - 1
    if lower:
        turned = np.conj(band_transpose(ab, (count, 0)))
        return np.concatenate([turned[:count], ab], axis=0)
    turned = np.conj(band_transpose(ab, (0, count)))
    return np.concatenate([ab, turned[1:]], axis=0)


@composition(
    linalg.solveh_banded,
    domain=(
        "np.stack([0.3 * A(4), 5.0 + A(4)]), A(4)",
        "np.stack([5.0 + A(4), 0.3 * A(4), 0.2 * A(4)]), A(4,2), lower=True",
    ),
)
def solveh_banded(
    ab: Any,
    b: Any,
    overwrite_ab: Any = False,
    overwrite_b: Any = False,
    lower: Any = False,
    check_finite: Any = True,
) -> Any:
    """Solution of a Hermitian, positive definite system of few diagonals."""
    matrix = np.asarray(ab)
    count = matrix.shape[0] - 1
    return linalg.solve_banded((count, count), _hermitian(matrix, lower), b, False, False, check_finite)


@composition(linalg.cho_solve_banded, domain=(), containers=True)
def cho_solve_banded(cb_and_lower: Any, b: Any, overwrite_b: Any = False, check_finite: Any = True) -> Any:
    """Solution of a system by the factor of `cholesky_banded`: two triangular ones."""
    cb, lower = cb_and_lower
    factor = np.asarray(cb)
    count = factor.shape[0] - 1
    if lower:
        turned = np.conj(band_transpose(factor, (count, 0)))
        half = linalg.solve_banded((count, 0), factor, b, False, False, check_finite)
        return linalg.solve_banded((0, count), turned, half, False, False, check_finite)
    turned = np.conj(band_transpose(factor, (0, count)))
    half = linalg.solve_banded((count, 0), turned, b, False, False, check_finite)
    return linalg.solve_banded((0, count), factor, half, False, False, check_finite)
