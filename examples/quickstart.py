"""Fit twenty years of carbon dioxide at Mauna Loa by gradient descent, and look at the gradient that did it.

The model is a quadratic trend plus two yearly harmonics. The loss has a helper, a loop and a branch on a value, as
programs do: nothing in it is written for differentiation. Run ``python examples/quickstart.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import tangentx as tx

Array: TypeAlias = NDArray[np.float64]
Parameters: TypeAlias = tuple[Array, Array, Array]

DATA = Path(__file__).with_name("mauna_loa_co2.txt")
STEPS = 100
RATE = 0.1
LIMIT = 0.008  # a year whose mean squared residual is above this counts by its square root, so that no year dominates


def seasonal(phase, cosines, sines):
    """The yearly wave: harmonic k + 1 has the amplitudes cosines[k] and sines[k]."""
    wave = np.zeros_like(phase)
    for k in range(len(cosines)):
        angle = (k + 1) * phase
        wave = wave + cosines[k] * np.cos(angle) + sines[k] * np.sin(angle)
    return wave


@tx.differentiate(wrt=("trend", "cosines", "sines"))
def loss(trend, cosines, sines, time, phase, observed, limit):
    """Mean over the years of a robust squared error; `time`, `phase` and `observed` have twelve rows a year."""
    bend = time**2 - 1.0
    fitted = trend[0] + trend[1] * time + trend[2] * bend + seasonal(phase, cosines, sines)
    residual = observed - fitted
    years = len(residual) // 12
    total = 0.0
    for year in range(years):
        spread = np.mean(residual[12 * year : 12 * year + 12] ** 2)
        if spread < limit:
            total = total + spread
        else:
            total = total + 2.0 * np.sqrt(limit * spread) - limit
    return total / years


def read(path: Path) -> tuple[Array, Array, Array, float]:
    """Time and observation standardised, the phase of the year in radians, and one standard deviation in ppmv."""
    year, month, ppmv = np.loadtxt(path, unpack=True)
    time = year + (month - 0.5) / 12.0
    return (time - time.mean()) / time.std(), 2.0 * np.pi * time, (ppmv - ppmv.mean()) / ppmv.std(), float(ppmv.std())


def show_progress(done: int, total: int) -> None:
    """Draw a bar on a terminal; write nothing into a pipe or a file."""
    if sys.stderr.isatty():
        filled = 40 * done // total
        end = "\n" if done == total else ""
        print(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done}/{total}", end=end, file=sys.stderr, flush=True)


def descend(parameters: Parameters, fixed: tuple[object, ...]) -> tuple[Parameters, list[float]]:
    """Plain gradient descent; returns the parameters and the loss before each step."""
    history = []
    for step in range(STEPS):
        value, gradients = loss.value_and_grad(*parameters, *fixed)
        history.append(float(value))
        trend, cosines, sines = (p - RATE * g for p, g in zip(parameters, gradients, strict=True))
        parameters = trend, cosines, sines
        show_progress(step + 1, STEPS)
    return parameters, history


def differences(f: Callable[..., float], parameters: Parameters, fixed: tuple[object, ...]) -> list[Array]:
    """The gradient by central differences, one element at a time."""
    step = 1e-5
    gradients = []
    for position, values in enumerate(parameters):
        gradient = np.zeros_like(values)
        for i in range(len(values)):
            ends = []
            for sign in (1.0, -1.0):
                moved = [p.copy() for p in parameters]
                moved[position][i] += sign * step
                ends.append(f(*moved, *fixed))
            gradient[i] = (ends[0] - ends[1]) / (2.0 * step)
        gradients.append(gradient)
    return gradients


def main() -> int:
    time, phase, observed, scale = read(DATA)
    fixed = (time, phase, observed, LIMIT)
    start = np.zeros(3), np.zeros(2), np.zeros(2)
    parameters, history = descend(start, fixed)
    history.append(float(loss(*parameters, *fixed)))
    for step in range(0, STEPS + 1, STEPS // 10):
        print(f"step {step:4d}   loss {history[step]:.6f}")
    print(f"The yearly wave's first harmonic is {scale * np.hypot(parameters[1][0], parameters[2][0]):.2f} ppmv.\n")
    print(loss.grad.source_for(*parameters, *fixed))

    # Near the optimum, where both branches are taken, but not at it, where a gradient of zero compares with rounding.
    here = parameters[0] + 0.03, parameters[1] + 0.03, parameters[2] - 0.03
    worst = 0.0
    for exact, approximate in zip(loss.grad(*here, *fixed), differences(loss, here, fixed), strict=True):
        worst = max(worst, float(np.max(np.abs(exact - approximate) / np.abs(approximate))))
    print(f"\nLargest relative difference from central differences: {worst:.1e}")
    fell = history[-1] < 0.1 * history[0]
    return 0 if worst < 1e-6 and fell else 1


if __name__ == "__main__":
    sys.exit(main())
