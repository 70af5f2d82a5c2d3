"""Bring two pictures to cover each other: the shift, turn and size that take one to the other.

The moving picture is read between its pixels by `scipy.ndimage.map_coordinates`, after `gaussian_filter`.
Run ``python examples/registration.py``.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates
from scipy.optimize import minimize

import tangentx as tx

SIZE = 40
GRID = np.stack(np.meshgrid(np.arange(SIZE), np.arange(SIZE), indexing="ij")).astype(float)
CENTRE = 0.5 * (SIZE - 1)
TRUE = np.array([1.7, -2.3, 0.2, 0.08])  # down, right, angle, logarithm of the size


def moved(picture, p):
    """`picture` as it is seen where pixels have been shifted, turned and stretched by `p`."""
    down, right, angle, log_size = p
    turn = np.exp(log_size) * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    y, x = GRID - CENTRE
    places = np.stack([turn[0, 0] * y + turn[0, 1] * x + down, turn[1, 0] * y + turn[1, 1] * x + right]) + CENTRE
    return map_coordinates(picture, places, order=3, mode="nearest")


def pictures():
    rng = np.random.default_rng(2)
    picture = gaussian_filter(rng.normal(size=(SIZE, SIZE)), 3.0)
    picture /= np.std(picture)
    return picture, moved(picture, TRUE) + 0.02 * rng.normal(size=picture.shape)


MOVING, FIXED = pictures()


def misfit(p):
    """The mean squared difference, away from the rim."""
    return np.mean((moved(MOVING, p) - FIXED)[5:-5, 5:-5] ** 2)


START = np.zeros(4)


def main() -> int:
    gradient = tx.value_and_grad(misfit)
    found = minimize(gradient, START, jac=True, method="BFGS", options={"gtol": 1e-7})
    print(f"misfit {misfit(START):.4f} at the start, {found.fun:.6f} after {found.nfev} gradients\n")
    print("            found     true")
    for name, value, true in zip(("down", "right", "angle", "log size"), found.x, TRUE, strict=True):
        print(f"{name:9} {value:8.4f} {true:8.4f}")
    print(f"\n{gradient.source}")
    return 0 if np.max(np.abs(found.x - TRUE)) < 0.02 else 1


if __name__ == "__main__":
    sys.exit(main())
