"""Functions of `scipy.linalg` that nothing can be differentiated through, with the reason."""

from __future__ import annotations

from scipy import linalg

from tangentx.templates.refusals import refused

refused(
    *(linalg.null_space, linalg.orth),
    reason="a space has many bases, of which it gives any",
    hint="use the projection on the space, by `scipy.linalg.pinv`: `a @ pinv(a)`, `eye(n) - pinv(a) @ a`",
)
refused(
    linalg.subspace_angles,
    reason="angles near 0 and near a right one are found by different formulas",
    hint="use the cosines: `scipy.linalg.svdvals(qa.T @ qb)` of orthonormal bases by `scipy.linalg.qr`",
)
refused(
    *(linalg.schur, linalg.hessenberg, linalg.qz, linalg.ordqz, linalg.rsf2csf, linalg.cdf2rdf, linalg.cossin),
    *(linalg.ldl, linalg.matrix_balance),
    reason="its factors are not unique, and change in jumps",
    hint="use `scipy.linalg.eig`, `eigh`, `svd`, `lu`, `qr` or `cholesky`, or the function of the matrix that is meant",
)
refused(
    *(linalg.qr_delete, linalg.qr_insert, linalg.qr_update, linalg.qr_multiply, linalg.rq),
    reason="it changes factors that were found before, or leaves them out",
    hint="use `scipy.linalg.qr` with mode='economic' of the whole matrix",
)
refused(
    *(linalg.eig_banded, linalg.eigvals_banded),
    reason="diagonals are put into a form that has no rule",
    hint="use `scipy.linalg.eigh_tridiagonal`, or `scipy.linalg.eigh` of the whole matrix",
)
refused(
    linalg.cholesky_banded,
    reason="its factor is stored by diagonals",
    hint="solve with `scipy.linalg.solveh_banded`; for the factor use `scipy.linalg.cholesky` of the whole matrix",
)
refused(
    *(linalg.funm, linalg.signm, linalg.expm_cond),
    reason="it finds a function of a matrix by one of its numbers at a time",
    hint="use `scipy.linalg.expm`, `logm`, `sqrtm`, `cosm`, `sinm` or `fractional_matrix_power`",
)
refused(
    linalg.fiedler_companion,
    reason="it has no rule",
    hint="use `scipy.linalg.companion`, which has the same eigenvalues",
)
refused(
    linalg.clarkson_woodruff_transform,
    reason="it draws at random what it sums",
    hint="draw the matrix outside of the differentiated function, and multiply by it",
)
refused(
    *(linalg.get_blas_funcs, linalg.get_lapack_funcs, linalg.find_best_blas_type),
    reason="what it gives writes into its arguments",
    hint="use the functions of `scipy.linalg`",
)
