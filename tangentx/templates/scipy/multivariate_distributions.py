"""Distributions of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition


def _normal_logpdf(x: Any, mean: Any, cov: Any) -> Any:
    """By the Cholesky factor of the covariance, of which the lower triangle alone is read, as SciPy does."""
    factor = np.linalg.cholesky(cov)
    size = factor.shape[0]
    apart = np.asarray(x) - mean
    rows = np.reshape(apart, (-1, size))
    whitened = np.linalg.solve(factor, np.transpose(rows))
    squares = np.sum(whitened * whitened, axis=0)
    norm = 0.5 * size * 1.8378770664093453 + np.sum(np.log(np.diagonal(factor)))
    return -0.5 * np.reshape(squares, np.shape(apart)[:-1])[()] - norm


@composition(
    stats.multivariate_normal.logpdf,
    double=True,
    domain=("A(2), A(2), A(2,2) + 4.0 * np.eye(2)", "A(3,2), cov=A(2,2) + 4.0 * np.eye(2)", "A(3), A(3), P(3)"),
)
def multivariate_normal_logpdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Any:
    """Logarithm of the density of the normal distribution of vectors."""
    if allow_singular:
        raise NotDifferentiable(
            "scipy.stats.multivariate_normal has no derivative with allow_singular=True",
            hint="leave it out, and add a small multiple of the unit matrix to the covariance",
        )
    if np.ndim(x) == 0 or (np.ndim(x) == 1 and np.ndim(cov) < 2 and mean is None and np.ndim(cov) == 0):
        raise NotDifferentiable(
            "scipy.stats.multivariate_normal has no derivative for numbers", hint="use scipy.stats.norm"
        )
    size = np.shape(x)[-1]
    table = np.asarray(cov) * np.eye(size) if np.ndim(cov) < 2 else np.asarray(cov)
    if size != np.shape(table)[0]:
        raise NotDifferentiable(
            "scipy.stats.multivariate_normal has no derivative for a row of numbers", hint="use scipy.stats.norm"
        )
    return _normal_logpdf(x, 0.0 if mean is None else np.asarray(mean), table)


@composition(stats.multivariate_normal.pdf, double=True, domain=())
def multivariate_normal_pdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Any:
    """Density of the normal distribution of vectors."""
    return np.exp(stats.multivariate_normal.logpdf(x, mean, cov, allow_singular))


@composition(stats.multivariate_normal.entropy, double=True, domain=("A(2), A(2,2) + 4.0 * np.eye(2)",))
def multivariate_normal_entropy(mean: Any = None, cov: Any = 1) -> Any:
    """Entropy of the normal distribution of vectors."""
    if np.linalg.matrix_rank(cov, rtol=2.3e-10) < len(cov):  # where SciPy leaves the axes without spread out
        raise NotDifferentiable(
            "the entropy of a normal distribution whose covariance is singular has no derivative",
            hint="add a small multiple of the identity",
        )
    factor = np.linalg.cholesky(np.asarray(cov))
    return 1.4189385332046727 * factor.shape[0] + np.sum(np.log(np.diagonal(factor)))


@composition(stats.dirichlet.logpdf, double=True, domain=())
def dirichlet_logpdf(x: Any, alpha: Any) -> Any:
    """Logarithm of the density of the Dirichlet distribution, of all shares."""
    alpha = np.asarray(alpha)
    x = np.asarray(x)
    if np.shape(x)[0] != np.shape(alpha)[0]:
        raise NotDifferentiable(
            "scipy.stats.dirichlet has a derivative for all shares, not for all but the last",
            hint="give it the last one too: np.append(x, 1 - np.sum(x))",
        )
    norm = np.sum(special.gammaln(alpha)) - special.gammaln(np.sum(alpha))
    return np.sum(special.xlogy(np.transpose(alpha - 1.0), np.transpose(x)), axis=-1) - norm


@composition(stats.dirichlet.pdf, double=True, domain=())
def dirichlet_pdf(x: Any, alpha: Any) -> Any:
    """Density of the Dirichlet distribution."""
    return np.exp(stats.dirichlet.logpdf(x, alpha))


def _log_det(factor: Any) -> Any:
    """Logarithm of the determinant of a matrix by its Cholesky factor."""
    return 2.0 * np.sum(np.log(np.diagonal(factor)))


def _one_matrix(x: Any, scale: Any) -> Any:
    """The matrices of a call, one each."""
    if np.ndim(x) != 2 or np.ndim(scale) != 2:
        raise NotDifferentiable(
            "Wishart's distribution has a derivative for one matrix at a time, with a matrix as its scale",
            hint="loop over the matrices; of numbers it is scipy.stats.gamma or invgamma",
        )
    return np.asarray(x), np.asarray(scale)


@composition(
    stats.wishart.logpdf,
    double=True,
    domain=("np.eye(2) * 3.0 + 0.1 * A(2,2), 4.5, np.eye(2) * 2.0 + 0.2 * A(2,2)", "np.eye(3), 3, np.eye(3) + 0.1"),
)
def wishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    """Logarithm of the density of Wishart's distribution; of both matrices the lower triangle alone is read."""
    x, scale = _one_matrix(x, scale)
    factor, root = np.linalg.cholesky(scale), np.linalg.cholesky(x)
    size = scale.shape[0]
    apart = np.linalg.solve(factor, x)
    trace = np.trace(np.linalg.solve(np.transpose(factor), apart))
    norm = 0.5 * df * (size * 0.6931471805599453 + _log_det(factor)) + special.multigammaln(0.5 * df, size)
    return 0.5 * (df - size - 1.0) * _log_det(root) - 0.5 * trace - norm


@composition(stats.wishart.pdf, double=True, domain=())
def wishart_pdf(x: Any, df: Any, scale: Any) -> Any:
    """Density of Wishart's distribution."""
    return np.exp(stats.wishart.logpdf(x, df, scale))


@composition(
    stats.invwishart.logpdf,
    double=True,
    domain=("np.eye(2) * 3.0 + 0.1 * A(2,2), 4.5, np.eye(2) * 2.0 + 0.2 * A(2,2)",),
)
def invwishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    """Logarithm of the density of the inverse of Wishart's distribution."""
    x, scale = _one_matrix(x, scale)
    factor, root = np.linalg.cholesky(scale), np.linalg.cholesky(x)
    size = scale.shape[0]
    half = np.linalg.solve(root, factor)
    norm = 0.5 * df * size * 0.6931471805599453 + special.multigammaln(0.5 * df, size)
    return 0.5 * df * _log_det(factor) - 0.5 * np.sum(half * half) - 0.5 * (df + size + 1.0) * _log_det(root) - norm


@composition(stats.invwishart.pdf, double=True, domain=())
def invwishart_pdf(x: Any, df: Any, scale: Any) -> Any:
    """Density of the inverse of Wishart's distribution."""
    return np.exp(stats.invwishart.logpdf(x, df, scale))
