"""What the letters of Euler angles mean."""

from __future__ import annotations

from typing import Any

import numpy as np

_AXES = {"x": 0, "y": 1, "z": 2}


def elementary_axes(seq: str) -> Any:
    """The unit vectors of the axes that are turned about, a row each.

    >>> elementary_axes("ZX")
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    if not 1 <= len(seq) <= 3 or not (set(seq) <= set("xyz") or set(seq) <= set("XYZ")):
        raise ValueError(f"the axes of Euler angles are one to three of xyz, or of XYZ, not {seq!r}")
    return np.eye(3)[[_AXES[letter] for letter in seq.lower()]]


def euler_order(seq: str) -> tuple[int, int, int, int, int, int]:
    """The axes i, j and k by which angles are found, the sign of their order, whether the first and the last axis are
    the same one (1 or 0), and the place of the angle that is found first (2 where axes turn along, else 0).

    Formula: E. Bernardes and S. Viollet, "Quaternion to Euler angles conversion" (2022).
    """
    turning = seq.isupper()
    letters = seq.lower()[::-1] if turning else seq.lower()
    i, j, k = (_AXES[letter] for letter in letters)
    symmetric = int(i == k)
    k = 3 - i - j if symmetric else k
    return i, j, k, (i - j) * (j - k) * (k - i) // 2, symmetric, 2 if turning else 0
