"""Programs that write in place, each with its adjoint by hand; what is recorded is seen in the memory they take."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


def heat(u: Array, k: float, steps: int) -> Any:
    """Explicit steps of the heat equation on a square; linear, so its adjoint needs nothing of the way."""
    for _ in range(steps):
        u[1:-1, 1:-1] += k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
    return np.sum(u * u)


def heat_by_hand(u: Array, k: float, steps: int, ans_bar: float = 1.0) -> tuple[Array]:
    """Gradient of `heat` with respect to `u`."""
    u = u.copy()
    heat(u, k, steps)
    u_bar = 2.0 * ans_bar * u
    for _ in range(steps):
        t = k * u_bar[1:-1, 1:-1]
        u_bar[1:-1, 1:-1] -= 4.0 * t
        u_bar[2:, 1:-1] += t
        u_bar[:-2, 1:-1] += t
        u_bar[1:-1, 2:] += t
        u_bar[1:-1, :-2] += t
    return (u_bar,)


def burgers(u: Array, c: float, steps: int) -> Any:
    """Explicit steps of Burgers' equation; `c` is the time step over twice the mesh width."""
    for _ in range(steps):
        u[1:-1] -= c * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u * u)


def burgers_by_hand(u: Array, c: float, steps: int, ans_bar: float = 1.0) -> tuple[Array]:
    """Gradient of `burgers` with respect to `u`."""
    u = u.copy()
    tape = []
    for _ in range(steps):
        tape.append(u[1:-1].copy())
        u[1:-1] -= c * u[1:-1] * (u[2:] - u[:-2])
    u_bar = 2.0 * ans_bar * u
    for _ in range(steps):
        u[1:-1] = tape.pop()
        t = c * u_bar[1:-1]
        s = t * u[1:-1]
        u_bar[1:-1] -= t * (u[2:] - u[:-2])
        u_bar[2:] -= s
        u_bar[:-2] += s
    return (u_bar,)


def tridiagonal(a: Array, b: Array, c: Array, d: Array) -> Any:
    """A tridiagonal system solved by Thomas's elimination, which leaves the solution in `d`."""
    n = len(d)
    for i in range(1, n):
        m = a[i] / b[i - 1]
        b[i] -= m * c[i - 1]
        d[i] -= m * d[i - 1]
    d[n - 1] /= b[n - 1]
    for i in range(n - 2, -1, -1):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]
    return np.sum(d * d)


def tridiagonal_by_hand(a: Array, b: Array, c: Array, d: Array, ans_bar: float = 1.0) -> tuple[Array]:
    """Gradient of `tridiagonal` with respect to `d`: the transposed system is solved."""
    n = len(d)
    b = b.copy()
    d = d.copy()
    tridiagonal(a, b, c, d)
    d_bar = 2.0 * ans_bar * d
    for i in range(n - 1):
        d_bar[i] /= b[i]
        d_bar[i + 1] -= c[i] * d_bar[i]
    d_bar[n - 1] /= b[n - 1]
    for i in range(n - 2, -1, -1):
        d_bar[i] -= a[i + 1] / b[i] * d_bar[i + 1]
    return (d_bar,)


def plate(scale: float) -> tuple[Any, ...]:
    """Arguments of `heat`."""
    size = max(8, int(256 * scale))
    return np.random.default_rng(0).random((size, size)), 0.2, max(2, int(200 * scale))


def wave(scale: float) -> tuple[Any, ...]:
    """Arguments of `burgers`."""
    return np.random.default_rng(0).random(max(16, int(2000 * scale))), 0.05, max(2, int(500 * scale))


def system(scale: float) -> tuple[Any, ...]:
    """Arguments of `tridiagonal`: the diagonal dominates."""
    a, b, c, d = np.random.default_rng(0).random((4, max(8, int(3000 * scale))))
    return a, 4.0 + b, c, d
