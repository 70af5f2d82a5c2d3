"""Draw a smooth curve through noise, with knots where they are needed.

A `scipy.interpolate.CubicSpline` through free values at free knots is fitted to the data, with a price on its
curvature. Run ``python examples/splines.py``.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize
from scipy.special import softmax

import tangentx as tx

KNOTS = 8
FINE = np.linspace(0.0, 1.0, 101)


def curve(x):
    """What was measured, without the noise: flat first, then a steep fall and a rise."""
    return np.where(x < 0.3, 0.0, -np.exp(-(((x - 0.45) / 0.08) ** 2)) + 0.5 * np.exp(-(((x - 0.7) / 0.12) ** 2)))


PLACES = np.sort(np.random.default_rng(4).uniform(size=120))
MEASURED = curve(PLACES) + np.random.default_rng(5).normal(scale=0.08, size=120)


def spline(p):
    """Through the values `p[KNOTS - 1:]`, at knots whose distances are the softmax of the rest."""
    knots = np.concatenate([[0.0], np.cumsum(softmax(p[: KNOTS - 1]))])
    return CubicSpline(knots, p[KNOTS - 1 :], bc_type="natural")


def misfit(p):
    """Squared errors, and a price on the bending and on knots that come close."""
    s = spline(p)
    bending = np.trapezoid(s(FINE, 2) ** 2, FINE)
    return np.mean((s(PLACES) - MEASURED) ** 2) + 1e-7 * bending + 1e-4 * np.mean(p[: KNOTS - 1] ** 2)


START = np.zeros(2 * KNOTS - 1)


def main() -> int:
    gradient = tx.value_and_grad(misfit)
    found = minimize(gradient, START, jac=True, method="L-BFGS-B")
    best = spline(found.x)
    print(f"misfit {misfit(START):.5f} at the start, {found.fun:.5f} after {found.nfev} gradients\n")
    print("knots at    " + "".join(f"{knot:7.3f}" for knot in best.x))
    print("with values " + "".join(f"{value:7.3f}" for value in best(best.x)))
    error = np.sqrt(np.mean((best(FINE) - curve(FINE)) ** 2))
    print(f"\nIt is off the curve by {error:.3f}, where a measurement is off by 0.08.\n")
    print(gradient.source)
    return 0 if error < 0.06 else 1


if __name__ == "__main__":
    sys.exit(main())
