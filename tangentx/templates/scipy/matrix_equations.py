"""Equations whose unknown is a matrix: of Sylvester, Lyapunov and Riccati."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from tangentx.arrays import stop_gradient
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import adjoint


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
    """Solution of ``a x + x a.conj().T = q``, where there is one and no other."""
    values = np.linalg.eigvals(stop_gradient(a))
    if np.size(values) > 0:
        sums = np.abs(values[:, None] + np.conj(values))
        if not np.min(sums) > 1e-14 * np.max(np.abs(values)):
            raise NotDifferentiable(
                "scipy.linalg.solve_continuous_lyapunov has no derivative where its equation has no single solution",
                hint="the sum of an eigenvalue and the conjugate of another, or of itself, must not be 0",
            )
    return linalg.solve_sylvester(a, np.conj(np.transpose(a)), q)


def _turned(a: Any) -> Any:
    """The conjugate transpose."""
    return np.conj(np.transpose(a))


@composition(linalg.solve_discrete_lyapunov, domain=("0.3 * A(2,2), A(2,2)", "0.3 * C(2,2), C(2,2)"))
def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> Any:
    """Solution of ``a x a.conj().T - x + q = 0``."""
    matrix = np.asarray(a)
    size = np.shape(matrix)[0]
    table = np.eye(size * size) - np.kron(matrix, np.conj(matrix))
    return np.reshape(linalg.solve(table, np.ravel(q)), (size, size))


def _plain(e: Any, s: Any) -> None:
    if e is not None or s is not None:
        raise NotDifferentiable(
            "Riccati equations of scipy.linalg have a derivative without `e` and `s`",
            hint="multiply by the inverse of `e`, and put `s` into `a` and `q`",
        )


@composition(linalg.solve_continuous_are, domain=())
def solve_continuous_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: Any = True) -> Any:
    """Solution of ``a.T x + x a - x b inv(r) b.T x + q = 0``, found by SciPy.

    Two steps of Newton's method from there change nothing, and have derivatives that are exact up to the third order.
    """
    _plain(e, s)
    a, b, q, r = np.asarray(a), np.asarray(b), np.asarray(q), np.asarray(r)
    x = linalg.solve_continuous_are(
        stop_gradient(a), stop_gradient(b), stop_gradient(q), stop_gradient(r), None, None, balanced
    )
    for _ in range(2):
        gain = np.linalg.solve(r, np.matmul(_turned(b), x))
        closed = a - np.matmul(b, gain)
        rest = q + np.matmul(_turned(gain), np.matmul(r, gain))
        x = linalg.solve_continuous_lyapunov(_turned(closed), -rest)
    return x


@composition(linalg.solve_discrete_are, domain=())
def solve_discrete_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: Any = True) -> Any:
    """Solution of ``a.T x a - x - a.T x b inv(r + b.T x b) b.T x a + q = 0``, found by SciPy.

    Two steps of Newton's method from there change nothing, and have derivatives that are exact up to the third order.
    """
    _plain(e, s)
    a, b, q, r = np.asarray(a), np.asarray(b), np.asarray(q), np.asarray(r)
    x = linalg.solve_discrete_are(
        stop_gradient(a), stop_gradient(b), stop_gradient(q), stop_gradient(r), None, None, balanced
    )
    for _ in range(2):
        seen = np.matmul(_turned(b), x)
        gain = np.linalg.solve(r + np.matmul(seen, b), np.matmul(seen, a))
        closed = a - np.matmul(b, gain)
        rest = q + np.matmul(_turned(gain), np.matmul(r, gain))
        x = linalg.solve_discrete_lyapunov(_turned(closed), rest)
    return x
