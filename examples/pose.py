"""Find where a camera stood from the pixels of points whose places are known.

The camera's turn is a `scipy.spatial.transform.Rotation`, made from the vector of its axis and angle.
Run ``python examples/pose.py``.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import tangentx as tx

FOCAL, MIDDLE = 800.0, np.array([320.0, 240.0])
POINTS = np.random.default_rng(6).uniform(-1.0, 1.0, size=(12, 3))
TRUE = np.array([0.3, -0.5, 0.2, 0.2, -0.1, 5.0])


def seen(pose):
    """The pixels of the points, for a pose of three numbers that turn and three that move."""
    x, y, z = (Rotation.from_rotvec(pose[:3]).apply(POINTS) + pose[3:]).T
    return FOCAL * np.stack([x / z, y / z], axis=1) + MIDDLE


PIXELS = seen(TRUE) + np.random.default_rng(7).normal(scale=0.5, size=(12, 2))


def errors(pose):
    return (seen(pose) - PIXELS).ravel()


def misfit(pose):
    return np.mean(errors(pose) ** 2)


START = np.array([0.1, 0.0, 0.1, 0.0, 0.0, 4.0])


def main() -> int:
    jacobian = tx.jacobian(errors)
    found = least_squares(errors, START, jac=jacobian)
    slopes = jacobian(found.x)
    spreads = 0.5 * np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes)))
    print(f"off by {np.sqrt(misfit(START)):.1f} pixels at the start, by {np.sqrt(misfit(found.x)):.2f} at the end")
    print(f"after {found.njev} Jacobians\n")
    for name, value, spread, true in zip(("turn", "", "", "move", "", ""), found.x, spreads, TRUE, strict=True):
        print(f"{name:5} {value:8.4f} give or take {spread:.4f}, made with {true:7.4f}")
    print(f"\n{jacobian.source}")
    return 0 if np.all(np.abs(found.x - TRUE) < 4.0 * spreads) else 1


if __name__ == "__main__":
    sys.exit(main())
