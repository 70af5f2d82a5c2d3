"""Linear systems, triangular and general, inverses, determinants and norms.

What SciPy reads of a matrix alone has a derivative: of one that is said to be symmetric one triangle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from tangentx.arrays import columns_outer, other_side, triangle, turned
from tangentx.errors import NotDifferentiable
from tangentx.templates import linear_algebra
from tangentx.templates.compositions import composition
from tangentx.templates.registry import adjoint, same_rule


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
