"""Fit an ARMA model by the prediction errors that `scipy.signal.lfilter` gives, and predict with it.

Run ``python examples/arma.py``.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.optimize import minimize
from scipy.signal import lfilter

import tangentx as tx

AR, MA = np.array([1.3, -0.6]), np.array([0.5])  # x[t] = 1.3 x[t-1] - 0.6 x[t-2] + e[t] + 0.5 e[t-1]


def series():
    noise = np.random.default_rng(3).normal(size=700)
    return lfilter(np.r_[1.0, MA], np.r_[1.0, -AR], noise)[100:]


SERIES = series()


def errors(p):
    """What the model could not foresee, of each value."""
    ar, ma = p[:2], p[2:]
    return lfilter(np.r_[1.0, -ar], np.r_[1.0, ma], SERIES)


def surprise(p):
    """The negative logarithm of the likelihood for the best variance, given what was before."""
    e = errors(p)[10:]
    return 0.5 * len(e) * np.log(np.mean(e**2))


START = np.zeros(3)
INVERTIBLE = [(None, None), (None, None), (-0.99, 0.99)]


def main() -> int:
    gradient = tx.value_and_grad(surprise)
    found = minimize(gradient, START, jac=True, method="L-BFGS-B", bounds=INVERTIBLE)
    spreads = np.sqrt(np.diag(np.linalg.inv(tx.hessian(surprise)(found.x))))
    print(f"surprise {surprise(START):.2f} at the start, {found.fun:.2f} after {found.nfev} gradients\n")
    for name, value, spread, true in zip(("ar 1", "ar 2", "ma 1"), found.x, spreads, (*AR, *MA), strict=True):
        print(f"{name}   {value:7.4f} give or take {spread:.4f}, made with {true:7.4f}")
    print(f"\nThe errors have variance {np.var(errors(found.x)):.3f}, made with 1.\n")
    print(gradient.source)
    return 0 if np.all(np.abs(found.x - np.r_[AR, MA]) < 3.0 * spreads) else 1


if __name__ == "__main__":
    sys.exit(main())
