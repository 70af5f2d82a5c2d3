"""Linear systems, triangular and general, their factors, inverses, determinants and norms."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from tangentx.arrays import columns_outer, eliminated, order_of_pivots, other_side, stop_gradient, triangle, turned
from tangentx.errors import NotDifferentiable
from tangentx.templates import linear_algebra
from tangentx.templates.compositions import composition
from tangentx.templates.registry import adjoint, constant, same_rule

# Linear systems, triangular and general, inverses, determinants and norms.
#
# What SciPy reads of a matrix alone has a derivative: of one that is said to be symmetric one triangle.


@adjoint(
    linalg.solve_triangular,
    domain=("A(2,2) + 4.0 * np.eye(2), A(2)", "A(3,3) + 4.0 * np.eye(3), A(3,2), 1, True, True"),
)
def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: Any = False,
    unit_diagonal: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    *,
    ans: Any,
    ans_bar: Any,
) -> Any:
    """Solution of a triangular system; its adjoint solves the transposed one."""
    b_bar = linalg.solve_triangular(a, ans_bar, other_side(trans), lower, unit_diagonal, check_finite=False)
    a_bar = -triangle(turned(columns_outer(b_bar, ans), trans), lower, unit_diagonal)
    return a_bar, b_bar


@solve_triangular.tangent
def solve_triangular_tangent(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: Any = False,
    unit_diagonal: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    *,
    ans: Any,
    a_dot: Any,
    b_dot: Any,
) -> Any:
    """The same system for the tangents."""
    moved = b_dot - np.matmul(turned(triangle(a_dot, lower, unit_diagonal), trans), ans)
    ans_dot = linalg.solve_triangular(a, moved, trans, lower, unit_diagonal, check_finite=False)
    return ans_dot


def _as_read(a: Any, lower: Any, assume_a: Any) -> Any:
    """The matrix of which a solver that assumes something reads a part."""
    if assume_a in (None, "gen", "general"):
        return a
    if assume_a in ("upper triangular", "lower triangular"):
        return np.triu(a) if assume_a == "upper triangular" else np.tril(a)
    if assume_a == "diagonal":
        return a * np.eye(np.shape(a)[-1])
    if assume_a in ("sym", "symmetric"):
        return np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2) if lower else np.triu(a) + _below(np.triu(a, 1))
    if assume_a in ("pos", "positive definite", "her", "hermitian"):
        return np.tril(a) + np.conj(_below(np.tril(a, -1))) if lower else np.triu(a) + np.conj(_below(np.triu(a, 1)))
    raise NotDifferentiable(
        "scipy.linalg.solve has no derivative for this `assume_a`", hint="leave `assume_a` out, or use 'sym' or 'pos'"
    )


def _below(half: Any) -> Any:
    return np.swapaxes(half, -1, -2)


same_rule(linear_algebra.solve, linalg.solve)


@composition(
    linalg.solve,
    domain=(
        "A(2,2) + 4.0 * np.eye(2), A(2,3), assume_a='pos'",
        "A(2,2) + 4.0 * np.eye(2), A(2), lower=True, assume_a='sym'",
        "A(2,2) + 4.0 * np.eye(2), A(2), transposed=True",
    ),
)
def solve(
    a: Any,
    b: Any,
    lower: Any = False,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    assume_a: Any = None,
    transposed: Any = False,
) -> Any:
    """Solution of a linear system."""
    matrix = _as_read(np.asarray(a), lower, assume_a)
    return linalg.solve(_below(matrix) if transposed else matrix, np.asarray(b))


@adjoint(linalg.inv, domain=("A(2,2) + 4.0 * np.eye(2)",))
def inv(a: Any, overwrite_a: Any = False, check_finite: Any = True, *, ans: Any, ans_bar: Any) -> Any:
    """Inverse of a matrix, as SciPy finds it."""
    turned = np.swapaxes(ans, -1, -2)
    a_bar = -np.matmul(np.matmul(turned, ans_bar), turned)
    return a_bar


@inv.tangent
def inv_tangent(a: Any, overwrite_a: Any = False, check_finite: Any = True, *, ans: Any, a_dot: Any) -> Any:
    """Tangent of the inverse."""
    ans_dot = -np.matmul(np.matmul(ans, a_dot), ans)
    return ans_dot


@composition(linalg.det, double=True, domain=("A(2,2) + 4.0 * np.eye(2)",))
def det(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """Determinant of a matrix."""
    return np.linalg.det(a)


@composition(linalg.norm, domain=("A(3)", "A(2,3), None, 1", "A(3), 1"))
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: Any = False, check_finite: Any = True) -> Any:
    """Norm of a vector or of a matrix."""
    found = np.linalg.norm(a, ord, axis, keepdims)
    if axis is None and not keepdims and np.ndim(a) == 1 and ord in (None, 2) and found.dtype == np.float32:
        return np.float64(found)  # SciPy has BLAS calculate it, and that give a number
    return found


# Triangular factors, and systems that are solved with them.


@composition(linalg.cholesky, domain=("A(2,2) + 4.0 * np.eye(2)", "A(2,2) + 4.0 * np.eye(2), True"))
def cholesky(a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """Triangular factor of a symmetric matrix, of which the triangle of that side is read."""
    if lower:
        return np.linalg.cholesky(np.asarray(a))
    return np.swapaxes(np.linalg.cholesky(np.swapaxes(np.asarray(a), -1, -2)), -1, -2)


@composition(linalg.cho_factor, domain=())
def cho_factor(a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """The factor, beside it what the other triangle held, as SciPy leaves it, and on which side it is."""
    beside = np.triu(a, 1) if lower else np.tril(a, -1)
    return linalg.cholesky(a, lower) + beside, lower


@composition(linalg.cho_solve, domain=(), containers=True)
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: Any = False, check_finite: Any = True) -> Any:
    """Solution of a system by the factor of `cho_factor`: two triangular ones."""
    c, lower = c_and_lower
    if lower:
        half = linalg.solve_triangular(c, b, 0, True, check_finite=check_finite)
        return linalg.solve_triangular(c, half, 1, True, check_finite=check_finite)
    half = linalg.solve_triangular(c, b, 1, False, check_finite=check_finite)
    return linalg.solve_triangular(c, half, 0, False, check_finite=check_finite)


# Factors by elimination with pivots, and systems that are solved with them.
#
# The order of the rows is found once, and counts as a constant: it changes in steps. Formula: with F = L⁻¹ dA U⁻¹ the
# factors change by L times the strict lower triangle of F, and by its upper triangle times U.

constant(order_of_pivots)


@adjoint(eliminated, domain=(), drawn=False)
def eliminated_(a: Any, found: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Both factors of a square matrix, the ones of the diagonal left out."""
    lower = np.swapaxes(np.tril(ans, -1) + np.eye(np.shape(ans)[-1]), -1, -2)
    upper = np.swapaxes(np.triu(ans), -1, -2)
    inner = np.tril(np.matmul(lower, np.tril(ans_bar, -1)), -1) + np.triu(np.matmul(np.triu(ans_bar), upper))
    half = np.linalg.solve(lower, inner)
    a_bar = np.swapaxes(np.linalg.solve(np.triu(ans), np.swapaxes(half, -1, -2)), -1, -2)
    return a_bar


@eliminated_.tangent
def eliminated_dot(a: Any, found: Any, *, ans: Any, a_dot: Any) -> Any:
    """The change, as the factors see it."""
    lower = np.tril(ans, -1) + np.eye(np.shape(ans)[-1])
    upper = np.triu(ans)
    half = np.linalg.solve(lower, a_dot)
    inner = np.swapaxes(np.linalg.solve(np.swapaxes(upper, -1, -2), np.swapaxes(half, -1, -2)), -1, -2)
    ans_dot = np.tril(np.matmul(lower, np.tril(inner, -1)), -1) + np.triu(np.matmul(np.triu(inner), upper))
    return ans_dot


def _packed(ordered: Any, known: Any) -> Any:
    """The factors of a matrix whose rows are in order, in one table; `known` are those of its first square."""
    rows, columns = np.shape(ordered)[-2], np.shape(ordered)[-1]
    size = min(rows, columns)
    if np.any(np.diagonal(known, 0, -2, -1) == 0.0):
        raise NotDifferentiable(
            "scipy.linalg.lu and lu_factor have no derivative where the rank of the matrix is not full",
            hint="use scipy.linalg.qr with `pivoting`",
        )
    square = eliminated(ordered[..., :size, :size], known[..., :size, :size])
    if rows == columns:
        return square
    if rows > columns:
        across = np.linalg.solve(_turned(np.triu(square)), _turned(ordered[..., size:, :]))
        return np.concatenate([square, _turned(across)], axis=-2)
    lower = np.tril(square, -1) + np.eye(size, dtype=square.dtype)
    return np.concatenate([square, np.linalg.solve(lower, ordered[..., size:])], axis=-1)


def _turned(a: Any) -> Any:
    return np.swapaxes(a, -1, -2)


@composition(
    linalg.lu,
    domain=("A(3,3), True", "A(3,2), permute_l=True", "A(2,4), p_indices=True", "C(3,3), True", "A(2,3,3), True"),
)
def lu(
    a: Any, permute_l: Any = False, overwrite_a: Any = False, check_finite: Any = True, p_indices: Any = False
) -> Any:
    """Order of the rows, lower triangle with ones, upper triangle."""
    matrix = np.asarray(a)
    rows, columns = np.shape(matrix)[-2], np.shape(matrix)[-1]
    size = min(rows, columns)
    if np.size(matrix) == 0:
        raise NotDifferentiable("scipy.linalg.lu has no derivative of no numbers", hint="leave them out")
    places, lower, upper = linalg.lu(stop_gradient(matrix), False, False, check_finite, True)
    known = np.tril(lower[..., :size, :], -1) + upper[..., :size]
    order = np.argsort(places, axis=-1)
    found = _packed(np.take_along_axis(matrix, order[..., None], -2), known)
    first = np.tril(found, -1)[..., :size] + np.eye(rows, size, dtype=matrix.dtype)
    second = np.triu(found)[..., :size, :]
    if p_indices:
        return places, first, second
    if permute_l:
        return np.take_along_axis(first, places[..., None], -2), second
    return np.eye(rows, dtype=np.real(matrix).dtype)[places], first, second


@composition(linalg.lu_factor, domain=())
def lu_factor(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """Both triangles in one table, and with which row each one was exchanged."""
    matrix = np.asarray(a)
    known, pivots = linalg.lu_factor(stop_gradient(matrix), False, check_finite)
    if np.ndim(matrix) == 2:
        return _packed(matrix[order_of_pivots(pivots, matrix)], known), pivots
    order = order_of_pivots(pivots, matrix)
    return _packed(np.take_along_axis(matrix, order[..., None], -2), known), pivots


@composition(linalg.lu_solve, domain=(), containers=True)
def lu_solve(lu_and_piv: Any, b: Any, trans: Any = 0, overwrite_b: Any = False, check_finite: Any = True) -> Any:
    """Solution of a system by the factors of `lu_factor`: two triangular ones."""
    factors, pivots = lu_and_piv
    found, given = np.asarray(factors), np.asarray(b)
    order = order_of_pivots(pivots, found)
    if trans == 0:
        half = linalg.solve_triangular(found, given[order], 0, True, True, check_finite=check_finite)
        return linalg.solve_triangular(found, half, 0, False, check_finite=check_finite)
    matrix = np.conj(found) if trans == 2 else found
    half = linalg.solve_triangular(matrix, given, 1, False, check_finite=check_finite)
    return linalg.solve_triangular(matrix, half, 1, True, True, check_finite=check_finite)[np.argsort(order)]
