"""Factors by elimination with pivots, and systems that are solved with them.

The order of the rows is found once, and counts as a constant: it changes in steps. Formula: with F = L⁻¹ dA U⁻¹ the
factors change by L times the strict lower triangle of F, and by its upper triangle times U.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from tangentx.arrays import eliminated, order_of_pivots, stop_gradient
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import adjoint, constant

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
