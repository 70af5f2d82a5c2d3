"""Solve Bratu's problem, u'' + exp(u) = 0 between cold ends, by Newton's method with a sparse Jacobian.

The residual is written with slices; its Jacobian is tridiagonal, which nobody tells the program: the pattern is found
by running the derivative on index sets, and three sweeps give all the entries.
Run ``python examples/sparse_newton.py``; it needs SciPy (the `scipy` extra).
"""

from __future__ import annotations

import sys
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import spsolve

import tangentx as tx

Array: TypeAlias = NDArray[np.float64]

POINTS = 5_000
STEPS = 5


def residual(u, h):
    """What is left of u'' + exp(u) at each inner point, in differences of second order, times h squared."""
    bent = -2.0 * u
    bent[1:] += u[:-1]
    bent[:-1] += u[1:]
    return bent + h**2 * np.exp(u)


def exact(x: Array) -> Array:
    """The lower solution: -2 log(cosh((x - 1/2) t / 2) / cosh(t / 4)), where t = sqrt(2) cosh(t / 4)."""
    t = 1.5
    for _ in range(100):
        t = np.sqrt(2.0) * np.cosh(t / 4.0)
    solution: Array = -2.0 * np.log(np.cosh((x - 0.5) * t / 2.0) / np.cosh(t / 4.0))
    return solution


def show_progress(done: int, total: int) -> None:
    """Draw a bar on a terminal; write nothing into a pipe or a file."""
    if sys.stderr.isatty():
        filled = 40 * done // total
        end = "\n" if done == total else ""
        print(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done}/{total}", end=end, file=sys.stderr, flush=True)


def main() -> int:
    h = 1.0 / (POINTS + 1)
    x = h * np.arange(1, POINTS + 1)
    jacobian = tx.jacobian(residual, sparsity="auto")
    u = np.zeros(POINTS)
    for step in range(STEPS):
        left = residual(u, h)
        matrix = jacobian(u, h)
        u = u - spsolve(matrix.tocsc(), left)
        print(f"step {step + 1:3d}  residual {np.max(np.abs(left)) / h**2:.3e}")
        show_progress(step + 1, STEPS)

    print(f"\n{jacobian.explain()}")
    print(f"The Jacobian has {matrix.shape[0]} rows and {matrix.nnz} entries.")
    print(f"The solution is off by {np.max(np.abs(u - exact(x))):.1e}.")
    print("\nThe linear function that was swept:\n")
    print(jacobian.source)
    return 0


if __name__ == "__main__":
    sys.exit(main())
