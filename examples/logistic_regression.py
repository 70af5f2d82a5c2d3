"""How much poison kills a beetle: a logistic regression with `scipy.special.expit`.

Run ``python examples/logistic_regression.py``.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.special import expit, xlog1py, xlogy

import tangentx as tx

# Beetles after five hours in carbon disulphide: Bliss (1935).
DOSES = np.array([1.6907, 1.7242, 1.7552, 1.7842, 1.8113, 1.8369, 1.8610, 1.8839])  # logarithms of mg/l
BEETLES = np.array([59, 60, 62, 56, 63, 59, 62, 60])
KILLED = np.array([6, 13, 18, 28, 52, 53, 61, 60])


def surprise(w):
    """The negative logarithm of the likelihood, without its constant."""
    dead = expit(w[0] + w[1] * (DOSES - 1.8))
    return -np.sum(xlogy(KILLED, dead) + xlog1py(BEETLES - KILLED, -dead))


START = np.zeros(2)


def main() -> int:
    gradient, hessian = tx.grad(surprise), tx.hessian(surprise)
    w = START
    for step in range(7):
        print(f"step {step}   surprise {surprise(w):.6f}   slope {np.max(np.abs(gradient(w))):.1e}")
        w = w - np.linalg.solve(hessian(w), gradient(w))
    covariance = np.linalg.inv(hessian(w))
    print(f"\nslope {w[1]:.4f} give or take {np.sqrt(covariance[1, 1]):.4f}")

    def half_dead(w):
        return 1.8 - w[0] / w[1]

    by = tx.grad(half_dead)(w)
    error = np.sqrt(by @ covariance @ by)
    print(f"Half of them die at {half_dead(w):.4f} give or take {error:.4f}.\n")
    print(f"{gradient.source}\n\n{hessian.source}")
    return 0 if abs(w[1] - 34.27) < 0.01 else 1


if __name__ == "__main__":
    sys.exit(main())
