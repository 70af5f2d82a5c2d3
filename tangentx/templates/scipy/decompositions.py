"""Eigenvalues, singular values and pseudo-inverses: NumPy's.

The signs of eigenvectors and singular vectors are the library's choice, and SciPy's is not NumPy's: those are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition


@composition(linalg.eigh, domain=("np.diag(np.arange(3.0)) + 0.2 * A(3,3), eigvals_only=True",))
def eigh(a: Any, *, lower: Any = True, eigvals_only: Any = False, check_finite: Any = True) -> Any:
    """Eigenvalues of a symmetric matrix, of which one triangle is read."""
    if not eigvals_only:
        raise NotDifferentiable(
            "scipy.linalg.eigh has a derivative of eigenvalues alone", hint="use np.linalg.eigh for eigenvectors"
        )
    return np.linalg.eigvalsh(a, "L" if lower else "U")


@composition(linalg.eigvalsh, domain=("np.diag(np.arange(3.0)) + 0.2 * A(3,3)",))
def eigvalsh(a: Any, *, lower: Any = True, check_finite: Any = True) -> Any:
    """Eigenvalues of a symmetric matrix, of which one triangle is read."""
    return np.linalg.eigvalsh(a, "L" if lower else "U")


@composition(linalg.svd, domain=("A(2,2), compute_uv=False",))
def svd(a: Any, full_matrices: Any = True, compute_uv: Any = True, check_finite: Any = True) -> Any:
    """Singular values."""
    if compute_uv:
        raise NotDifferentiable(
            "scipy.linalg.svd has a derivative of singular values alone", hint="use np.linalg.svd for vectors"
        )
    return np.linalg.svd(a, full_matrices, False)


@composition(linalg.svdvals, domain=("A(3,2)",))
def svdvals(a: Any, check_finite: Any = True) -> Any:
    """Singular values."""
    return np.linalg.svd(a, False, False)


@composition(linalg.pinv, domain=("A(3,2)",))
def pinv(a: Any, *, check_finite: Any = True) -> Any:
    """Pseudo-inverse of a matrix of full rank."""
    return np.linalg.pinv(a)
