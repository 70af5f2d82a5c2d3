"""Linear systems with sparse matrices, by factors and by iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import linalg

from tangentx.arrays import as_written, sparse_found, sparse_iterated, sparse_solved, stop_gradient
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.refusals import refused
from tangentx.templates.scipy.sparse_matrices import is_sparse, triplets_of


@composition(linalg.spsolve, domain=(), containers=True, always=True)
def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: Any = True) -> Any:
    """Solution of a sparse system."""
    if is_sparse(b):
        raise NotDifferentiable(
            "scipy.sparse.linalg.spsolve has a derivative for dense right sides", hint="b.toarray()"
        )
    data, rows, cols = triplets_of(A)
    return sparse_solved(data, rows, cols, np.asarray(b) * 1.0)


class Factors:
    """What `splu` and `factorized` give: a matrix, with which systems are solved."""

    def __init__(self, data: Any, rows: Any, cols: Any) -> None:
        self.data = data
        self.rows = rows
        self.cols = cols

    def solve(self, rhs: Any, trans: Any = "N") -> Any:
        """Solution of a system, or of the transposed one."""
        if trans == "N":
            return sparse_solved(self.data, self.rows, self.cols, np.asarray(rhs) * 1.0)
        return sparse_solved(self.data, self.cols, self.rows, np.asarray(rhs) * 1.0)

    def __call__(self, rhs: Any) -> Any:
        """Solution of a system."""
        return sparse_solved(self.data, self.rows, self.cols, np.asarray(rhs) * 1.0)


@composition(linalg.splu, domain=(), containers=True, always=True)
def splu(
    A: Any, permc_spec: Any = None, diag_pivot_thresh: Any = None, relax: Any = None, panel_size: Any = None
) -> Any:
    """Factors of a sparse matrix."""
    data, rows, cols = triplets_of(A)
    return Factors(data, rows, cols)


@composition(linalg.factorized, domain=(), containers=True, always=True)
def factorized(A: Any) -> Any:
    """A function that solves systems with a sparse matrix."""
    data, rows, cols = triplets_of(A)
    return Factors(data, rows, cols)


def _iterated(
    name: Any,
    A: Any,
    b: Any,
    x0: Any,
    *,
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
) -> Any:
    """What a solver finds, as a function of the system, and what it says: differentiated as an exact solution."""
    if M is not None or callback is not None:
        raise NotDifferentiable(
            "iterative solvers of scipy.sparse.linalg have a derivative without `M` and `callback`",
            hint="leave them out, or use `spsolve`",
        )
    data, rows, cols = triplets_of(A)
    right = np.asarray(b) * 1.0
    options = (rtol, atol, maxiter)
    found = sparse_iterated(stop_gradient(data), rows, cols, stop_gradient(right), name, x0, options)
    return sparse_found(data, rows, cols, right, found[:-1]), int(found[-1])


@composition(linalg.cg, domain=(), containers=True, always=True)
def cg(A: Any, b: Any, x0: Any = None, **options: Any) -> Any:
    """Solution of a system with a symmetric, positive definite matrix, by conjugate gradients."""
    return _iterated("cg", A, b, x0, **options)


@composition(linalg.cgs, domain=(), containers=True, always=True)
def cgs(A: Any, b: Any, x0: Any = None, **options: Any) -> Any:
    """Solution of a system with a matrix, by conjugate gradients squared."""
    return _iterated("cgs", A, b, x0, **options)


@composition(linalg.bicg, domain=(), containers=True, always=True)
def bicg(A: Any, b: Any, x0: Any = None, **options: Any) -> Any:
    """Solution of a system with a matrix, by biconjugate gradients."""
    return _iterated("bicg", A, b, x0, **options)


@composition(linalg.bicgstab, domain=(), containers=True, always=True)
def bicgstab(A: Any, b: Any, x0: Any = None, **options: Any) -> Any:
    """Solution of a system with a matrix, by stabilised biconjugate gradients."""
    return _iterated("bicgstab", A, b, x0, **options)


@composition(linalg.gmres, domain=(), containers=True, always=True)
def gmres(A: Any, b: Any, x0: Any = None, **options: Any) -> Any:
    """Solution of a system with a matrix, by generalised minimal residuals."""
    return _iterated("gmres", A, b, x0, **options)


@composition(linalg.lgmres, domain=(), containers=True, always=True)
def lgmres(A: Any, b: Any, x0: Any = None, **options: Any) -> Any:
    """Solution of a system with a matrix, by generalised minimal residuals and what was found before."""
    return _iterated("lgmres", A, b, x0, **options)


@composition(linalg.gcrotmk, domain=(), containers=True, always=True)
def gcrotmk(A: Any, b: Any, x0: Any = None, **options: Any) -> Any:
    """Solution of a system with a matrix, by residuals in a space that is kept."""
    return _iterated("gcrotmk", A, b, x0, **options)


@composition(linalg.tfqmr, domain=(), containers=True, always=True)
def tfqmr(A: Any, b: Any, x0: Any = None, **options: Any) -> Any:
    """Solution of a system with a matrix, by quasi-minimal residuals without its transpose."""
    return _iterated("tfqmr", A, b, x0, **options)


@composition(linalg.spsolve_triangular, domain=(), containers=True, always=True)
def spsolve_triangular(
    A: Any, b: Any, lower: Any = True, overwrite_A: Any = False, overwrite_b: Any = False, unit_diagonal: Any = False
) -> Any:
    """Solution of a sparse triangular system."""
    if unit_diagonal:
        raise NotDifferentiable(
            "scipy.sparse.linalg.spsolve_triangular has no derivative with `unit_diagonal`",
            hint="store the ones of the diagonal",
        )
    data, rows, cols = triplets_of(A)
    return sparse_solved(data, rows, cols, np.asarray(b) * 1.0)


_TERMS = 26
"""Terms of a series of Taylor's, with which that of a matrix of norm 2 is exact: ``2**26 / 26!`` is below 1e-18."""


def _parts_of_exponent(data: Any, cols: Any) -> int:
    """Into how many steps an exponential is divided: half the largest sum of a column's magnitudes."""
    return max(1, int(np.ceil(0.5 * np.max(np.bincount(cols, np.abs(data)), initial=0.0))))


@composition(linalg.expm_multiply, domain=(), containers=True, always=True)
def expm_multiply(A: Any, B: Any) -> Any:
    """The exponential of a matrix times a vector or a matrix, in steps of series."""
    if is_sparse(A):
        data, _, cols = triplets_of(A)
    else:
        data, cols = np.ravel(A), np.arange(np.size(A)) % np.shape(A)[0]
    count = as_written(_parts_of_exponent, "int", stop_gradient(data), cols)
    total = np.asarray(B) * 1.0
    for _ in range(count):
        term = total
        for k in range(1, _TERMS + 1):
            term = (A @ term) / (count * k)
            total = total + term
    return total


refused(
    *(linalg.eigsh, linalg.eigs, linalg.svds, linalg.lobpcg),
    reason="it finds some of the vectors alone, of which second derivatives need all",
    hint="use `np.linalg.eigh(A.toarray())`, `np.linalg.eig` or `np.linalg.svd`, and take those that are needed",
)
