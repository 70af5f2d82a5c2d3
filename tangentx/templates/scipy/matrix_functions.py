"""Functions of matrices, and matrices put together."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from tangentx.arrays import real_factor
from tangentx.templates.compositions import composition
from tangentx.templates.registry import adjoint


@adjoint(linalg.expm, domain=("A(2,2)", "A(3,2,2)"))
def expm(A: Any, *, ans_bar: Any, A_shape: Any) -> Any:
    """Exponential of a matrix; its derivative is a block of that of a matrix of twice the size (Higham 2008, 3.16)."""
    turned = np.swapaxes(A, -1, -2)
    doubled = linalg.expm(np.block([[turned, ans_bar], [0.0 * turned, turned]]))
    A_bar = doubled[..., : A_shape[-1], A_shape[-1] :]
    return A_bar


@expm.tangent
def expm_tangent(A: Any, *, A_dot: Any, A_shape: Any) -> Any:
    """The upper right block."""
    doubled = linalg.expm(np.block([[A, A_dot], [0.0 * A, A]]))
    ans_dot = doubled[..., : A_shape[-1], A_shape[-1] :]
    return ans_dot


@adjoint(linalg.sqrtm, domain=("0.3 * A(2,2) + 4.0 * np.eye(2)",))
def sqrtm(A: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Square root of a matrix that has a real one; the adjoint solves a Sylvester equation with it."""
    turned = np.swapaxes(real_factor(ans), -1, -2)
    A_bar = linalg.solve_sylvester(turned, turned, ans_bar)
    return A_bar


@sqrtm.tangent
def sqrtm_tangent(A: Any, *, ans: Any, A_dot: Any) -> Any:
    """The tangent of the root, by what its square has."""
    ans_dot = linalg.solve_sylvester(real_factor(ans), ans, A_dot)
    return ans_dot


@adjoint(linalg.solve_sylvester, domain=("A(2,2) + 4.0 * np.eye(2), A(3,3) + 4.0 * np.eye(3), A(2,3)",))
def solve_sylvester(a: Any, b: Any, q: Any, *, ans: Any, ans_bar: Any) -> Any:
    """Solution of ``a x + x b = q``; its adjoint solves the transposed equation."""
    q_bar = linalg.solve_sylvester(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2), ans_bar)
    turned = np.swapaxes(ans, -1, -2)
    a_bar = -np.matmul(q_bar, turned)
    b_bar = -np.matmul(turned, q_bar)
    return a_bar, b_bar, q_bar


@solve_sylvester.tangent
def solve_sylvester_tangent(a: Any, b: Any, q: Any, *, ans: Any, a_dot: Any, b_dot: Any, q_dot: Any) -> Any:
    """The same equation for the tangents."""
    ans_dot = linalg.solve_sylvester(a, b, q_dot - np.matmul(a_dot, ans) - np.matmul(ans, b_dot))
    return ans_dot


@composition(linalg.solve_continuous_lyapunov, domain=("A(2,2) + 4.0 * np.eye(2), A(2,2)",))
def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """Solution of ``a x + x a.conj().T = q``."""
    return linalg.solve_sylvester(a, np.conj(np.transpose(a)), q)


@composition(linalg.block_diag, domain=("A(2,2), A(1,3)", "A(2), x, A(2,1)"))
def block_diag(*arrs: Any) -> Any:
    """Matrices along the diagonal of one; a row is a matrix of one row."""
    blocks = [np.atleast_2d(a) * 1.0 for a in arrs]  # whole numbers beside what varies
    width = sum([block.shape[1] for block in blocks])
    rows = []
    before = 0
    for block in blocks:
        left = np.zeros((block.shape[0], before))
        right = np.zeros((block.shape[0], width - before - block.shape[1]))
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
