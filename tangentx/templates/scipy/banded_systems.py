"""Systems with matrices of few diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from tangentx.arrays import band_outer, band_product, band_transpose, reversed_pair
from tangentx.templates.compositions import composition
from tangentx.templates.registry import adjoint


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
