"""Fit a Gaussian process to the carbon dioxide over Mauna Loa, and say how much there will be.

The covariance is made with `scipy.spatial.distance.cdist` and solved with `scipy.linalg.cho_factor`; the likelihood's
gradient goes through both. Run ``python examples/gaussian_process.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

import tangentx as tx

TABLE = np.loadtxt(Path(__file__).with_name("mauna_loa_co2.txt"))[::3]
YEARS = TABLE[:, 0] + (TABLE[:, 1] - 0.5) / 12.0 - 1992.0
LEVELS = (TABLE[:, 2] - np.mean(TABLE[:, 2])) / np.std(TABLE[:, 2])
PAST, LATER = YEARS < 8.0, YEARS >= 8.0


def covariance(s, t, theta):
    """Of levels at the years `s` and `t`: a line, what departs from it for some years, and the course of a year."""
    slope, drift, length, season, shape = np.exp(theta[:5])
    apart = cdist(s[:, None], t[:, None])
    wave = np.sin(np.pi * apart) / shape
    return slope * np.outer(s, t) + drift * np.exp(-0.5 * (apart / length) ** 2) + season * np.exp(-2.0 * wave**2)


def solved(theta):
    """The factor of the covariance of what was measured, and the levels divided by that covariance."""
    noisy = covariance(YEARS[PAST], YEARS[PAST], theta) + np.exp(theta[5]) * np.eye(np.sum(PAST))
    factor = cho_factor(noisy, lower=True)
    return factor, cho_solve(factor, LEVELS[PAST])


def surprise(theta):
    """The negative logarithm of the marginal likelihood, without its constant."""
    (factor, lower), weights = solved(theta)
    return 0.5 * LEVELS[PAST] @ weights + np.sum(np.log(np.diag(factor)))


START = np.log([0.1, 0.1, 2.0, 0.1, 1.0, 0.01])


def main() -> int:
    gradient = tx.value_and_grad(surprise)
    found = minimize(gradient, START, jac=True, method="L-BFGS-B", options={"maxiter": 60})
    print(f"surprise {surprise(START):.2f} at the start, {found.fun:.2f} after {found.nfev} gradients\n")
    for name, value in zip(("slope", "drift", "length", "season", "shape", "noise"), np.exp(found.x), strict=True):
        print(f"{name:8} {value:10.4f}")
    expected = covariance(YEARS[LATER], YEARS[PAST], found.x) @ solved(found.x)[1]
    error = np.sqrt(np.mean((expected - LEVELS[LATER]) ** 2)) * np.std(TABLE[:, 2])
    print(f"\nTwo years ahead it is off by {error:.2f} ppm, where the year's course is 6 ppm.\n")
    print(gradient.source)
    return 0 if error < 1.5 else 1


if __name__ == "__main__":
    sys.exit(main())
