"""Fit an epidemic to the beds that were taken in a school, by the gradient of a solver of differential equations.

The equations are solved by `scipy.integrate.solve_ivp`, and the gradient goes through the steps that it took.
Run ``python examples/epidemic.py``.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

import tangentx as tx

DAYS = np.arange(14.0)
IN_BED = np.array([3.0, 8.0, 26.0, 76.0, 225.0, 298.0, 258.0, 233.0, 189.0, 128.0, 68.0, 29.0, 14.0, 4.0])
BOYS = 763.0  # influenza in an English boarding school, British Medical Journal, 4 March 1978


def spread(t, y, contact, recovery):
    """Those who can catch it, and those who have it."""
    healthy, ill = y
    caught = contact * healthy * ill / BOYS
    return [-caught, caught - recovery * ill]


def in_bed(log_rates):
    """How many are ill on each day."""
    contact, recovery = np.exp(log_rates)
    found = solve_ivp(
        spread, (0.0, 13.0), [BOYS - IN_BED[0], IN_BED[0]], t_eval=DAYS, args=(contact, recovery), rtol=1e-8, atol=1e-8
    )
    if not found.success:
        raise RuntimeError(found.message)
    return found.y[1]


def misfit(log_rates):
    """Mean squared error of the boys in bed, in units of ten."""
    return np.mean((in_bed(log_rates) - IN_BED) ** 2) / 100.0


def main() -> int:
    start = np.log([1.0, 0.5])
    gradient, step = tx.grad(misfit), 1e-5
    exact = gradient(start)
    moves = step * np.eye(2)
    differences = [(misfit(start + move) - misfit(start - move)) / (2.0 * step) for move in moves]
    print(f"The gradient differs from central differences by {np.max(np.abs(differences / exact - 1.0)):.1e}.")

    found = minimize(tx.value_and_grad(misfit), start, jac=True, method="BFGS")
    contact, recovery = np.exp(found.x)
    print(f"loss {misfit(start):.3f} at the start, {found.fun:.3f} after {found.nfev} gradients\n")
    print(f"each boy who was ill met {contact:.3f} others a day, and was back after {1.0 / recovery:.2f} days;")
    print(f"one gave it to {contact / recovery:.2f} at the beginning.\n")

    spreads = np.linalg.inv(tx.hessian(misfit)(found.x)) * 2.0 * found.fun / len(DAYS)
    error = np.sqrt(spreads[0, 0] + spreads[1, 1] - 2.0 * spreads[0, 1])
    print(f"By the second derivatives, that is good to {100.0 * error:.0f} %.\n")
    print("day   in bed: counted, fitted")
    for day, counted, fitted in zip(DAYS, IN_BED, in_bed(found.x), strict=True):
        print(f"{day:3.0f}           {counted:7.0f} {fitted:7.1f}")
    print(f"\n{gradient.source}")
    return 0 if found.fun < 0.1 * misfit(start) else 1


if __name__ == "__main__":
    sys.exit(main())
