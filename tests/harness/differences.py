"""Derivatives by central differences, extrapolated, with an estimate of their error."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests.harness.leaves import leaves, perturbed

STEP = 4e-4


def derivative(f: Callable[[float], Any], step: float = STEP) -> tuple[Any, float]:
    """The derivative of `f` at 0 and an estimate of its error; `f` gives a number or an array.

    Romberg's table of central differences with steps 2h, h and h/2: the error of the result is of order h**6,
    the estimate is the last correction.
    """
    first, second, third = (
        (np.asarray(f(h), dtype=float) - np.asarray(f(-h), dtype=float)) / (2.0 * h)
        for h in (2.0 * step, step, 0.5 * step)
    )
    coarse = (4.0 * second - first) / 3.0
    fine = (4.0 * third - second) / 3.0
    result = (16.0 * fine - coarse) / 15.0
    return result, float(np.max(np.abs(fine - coarse), initial=0.0))


def curvature(f: Callable[[float], float], step: float = 4.0 * STEP) -> tuple[float, float]:
    """The second derivative of `f` at 0 and an estimate of its error, by the same table."""
    middle = 2.0 * f(0.0)
    first, second, third = ((f(h) - middle + f(-h)) / (h * h) for h in (2.0 * step, step, 0.5 * step))
    coarse = (4.0 * second - first) / 3.0
    fine = (4.0 * third - second) / 3.0
    return (16.0 * fine - coarse) / 15.0, abs(fine - coarse)


def gradient(f: Callable[[Any], float], x: Any, step: float = STEP) -> tuple[list[Any], float]:
    """The gradient of `f` at the structure `x`, an array for each leaf, and an estimate of the largest error.

    `f` gets a new structure at every call and may write into it. float32 leaves are moved as float64.
    """
    zeros = [np.zeros(np.shape(leaf.value)) for leaf in leaves(x)]
    result = [part.copy() for part in zeros]
    worst = 0.0
    for k, part in enumerate(result):
        for at in np.ndindex(part.shape):
            direction = [zero.copy() for zero in zeros]
            direction[k][at] = 1.0
            part[at], error = derivative(partial(_moved, f, x, direction), step)
            worst = max(worst, error)
    return result, worst


def _moved(f: Callable[[Any], float], x: Any, direction: list[Any], h: float) -> float:
    return f(perturbed(x, direction, h))
