"""Triangular factors, and systems that are solved with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from tangentx.templates.compositions import composition


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
