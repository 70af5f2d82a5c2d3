"""Linear systems relaxed sweep by sweep, of whole arrays and of single items, each with its gradient by hand."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


def jacobi(b: Array, sweeps: int) -> Any:
    """Poisson's equation on a square, all points of a sweep from those of the one before."""
    u = np.zeros_like(b)
    for _ in range(sweeps):
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - b[1:-1, 1:-1])
        u = v
    return np.sum(u * u)


def jacobi_by_hand(b: Array, sweeps: int, ans_bar: float = 1.0) -> tuple[Array]:
    """Gradient of `jacobi` with respect to `b`."""
    u = np.zeros_like(b)
    for _ in range(sweeps):
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - b[1:-1, 1:-1])
        u = v
    u_bar = 2.0 * ans_bar * u
    b_bar = np.zeros_like(b)
    for _ in range(sweeps):
        t = 0.25 * u_bar[1:-1, 1:-1]
        u_bar[1:-1, 1:-1] = 0.0
        u_bar[2:, 1:-1] += t
        u_bar[:-2, 1:-1] += t
        u_bar[1:-1, 2:] += t
        u_bar[1:-1, :-2] += t
        b_bar[1:-1, 1:-1] -= t
    return (b_bar,)


def gauss_seidel(b: Array, sweeps: int) -> Any:
    """A chain of springs, point after point in place."""
    x = np.zeros_like(b)
    for _ in range(sweeps):
        for i in range(1, len(b) - 1):
            x[i] = 0.5 * (b[i] + x[i - 1] + x[i + 1])
    return np.sum(x * x)


def gauss_seidel_by_hand(b: Array, sweeps: int, ans_bar: float = 1.0) -> tuple[Array]:
    """Gradient of `gauss_seidel` with respect to `b`."""
    x = np.zeros_like(b)
    for _ in range(sweeps):
        for i in range(1, len(b) - 1):
            x[i] = 0.5 * (b[i] + x[i - 1] + x[i + 1])
    x_bar = 2.0 * ans_bar * x
    b_bar = np.zeros_like(b)
    for _ in range(sweeps):
        for i in range(len(b) - 2, 0, -1):
            t = 0.5 * x_bar[i]
            x_bar[i] = 0.0
            x_bar[i - 1] += t
            x_bar[i + 1] += t
            b_bar[i] += t
    return (b_bar,)


def square(size: int, sweeps: int) -> tuple[Any, ...]:
    """Arguments of `jacobi`."""
    return np.random.default_rng(0).random((size, size)), sweeps


def chain(size: int, sweeps: int) -> tuple[Any, ...]:
    """Arguments of `gauss_seidel`."""
    return np.random.default_rng(0).random(size), sweeps
