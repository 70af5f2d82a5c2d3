"""Find the conductivity of a plate from measured temperatures, by the gradient of a finite-difference simulation.

The simulation updates its temperatures in place, through helpers that return nothing, as such programs are written.
Run ``python examples/heat_inverse.py``; with matplotlib (the `viz` extra) it draws what it found into a file.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import tangentx as tx

Array: TypeAlias = NDArray[np.float64]

SIZE = 16
TIMES = 20
DT = 0.2
NOISE = 1e-3
STEPS = 150
RATE = 0.1
PICTURE = "heat_inverse.png"


def insulate(u):
    """No heat leaves through the upper and the lower edge."""
    u[0, :] = u[1, :]
    u[-1, :] = u[-2, :]


def diffuse(u, k, dt):
    """One explicit step; between two cells the conductivity is the mean of theirs."""
    down = 0.5 * (k[1:, 1:-1] + k[:-1, 1:-1]) * (u[1:, 1:-1] - u[:-1, 1:-1])
    right = 0.5 * (k[1:-1, 1:] + k[1:-1, :-1]) * (u[1:-1, 1:] - u[1:-1, :-1])
    u[1:-1, 1:-1] += dt * (down[1:, :] - down[:-1, :])
    u[1:-1, 1:-1] += dt * (right[:, 1:] - right[:, :-1])
    insulate(u)


def simulate(k, u, dt, log):
    """Lets the heat spread, the right edge kept cold, and writes what the thermometers show, a reading at a time."""
    u[:, -1] = 0.0
    for reading in log:
        for _ in range(2):
            diffuse(u, k, dt)
        reading[:, :] = u[::2, ::2]


@tx.differentiate(wrt="log_k")
def misfit(log_k, start, dt, measured):
    """Squared difference from the measurements in units of their noise, and a price for roughness."""
    log = np.zeros_like(measured)
    simulate(np.exp(log_k), start, dt, log)
    error = np.sum((log - measured) ** 2) / NOISE**2
    roughness = np.sum((log_k[1:] - log_k[:-1]) ** 2) + np.sum((log_k[:, 1:] - log_k[:, :-1]) ** 2)
    return error + 20.0 * roughness


def conductivity(size: int) -> Array:
    """The truth: a plate that conducts well, with a spot that conducts badly."""
    y, x = np.mgrid[0:size, 0:size] / (size - 1.0)
    spot: Array = 1.0 - 0.7 * np.exp(-((x - 0.4) ** 2 + (y - 0.55) ** 2) / 0.03)
    return spot


def show_progress(done: int, total: int) -> None:
    """Draw a bar on a terminal; write nothing into a pipe or a file."""
    if sys.stderr.isatty():
        filled = 40 * done // total
        end = "\n" if done == total else ""
        print(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done}/{total}", end=end, file=sys.stderr, flush=True)


def recover(start: Array, measured: Array) -> tuple[Array, list[float]]:
    """Adam with a falling rate, from a plate that is the same everywhere; the conductivity, and each step's loss."""
    log_k = np.zeros_like(start)
    mean, square, history = np.zeros_like(log_k), np.zeros_like(log_k), []
    for step in range(STEPS):
        loss, gradient = misfit.value_and_grad(log_k, start, DT, measured)
        history.append(float(loss))
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        corrected = mean / (1.0 - 0.9 ** (step + 1)) / (np.sqrt(square / (1.0 - 0.99 ** (step + 1))) + 1e-12)
        log_k = log_k - RATE * (1.0 - step / STEPS) * corrected
        show_progress(step + 1, STEPS)
    return np.exp(log_k), history


def difference(start: Array, measured: Array) -> float:
    """Relative difference of the gradient's product with a direction from a central difference."""
    direction = np.cos(np.arange(start.size)).reshape(start.shape)
    ends = [misfit(sign * 1e-5 * direction, start.copy(), DT, measured) for sign in (1.0, -1.0)]
    along = np.sum(misfit.grad(np.zeros_like(start), start, DT, measured) * direction)
    return float(abs((ends[0] - ends[1]) / 2e-5 / along - 1.0))


def draw(truth: Array, found: Array) -> str:
    """Both conductivities side by side, in a file; returns what to say about it."""
    if importlib.util.find_spec("matplotlib") is None:
        return "No picture: matplotlib is not installed (pip install 'tangentx[viz]')."
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    for place, (title, field) in enumerate((("true", truth), ("found", found))):
        axes = figure.add_subplot(1, 2, place + 1)
        image = axes.imshow(field, vmin=float(truth.min()), vmax=float(truth.max()))
        axes.set_title(f"conductivity, {title}")
        figure.colorbar(image, ax=axes)
    figure.savefig(PICTURE)
    return f"The picture is in {PICTURE}."


def main() -> int:
    truth, column = conductivity(SIZE), np.arange(SIZE)
    start = 1.0 + np.cos(column) * np.sin(0.7 * column)[:, None]
    measured = np.zeros((TIMES, *start[::2, ::2].shape))
    simulate(truth, start.copy(), DT, measured)
    measured += NOISE * np.random.default_rng(0).standard_normal(measured.shape)

    print(f"At the start, the gradient differs from a central difference by {difference(start, measured):.1e}.\n")
    found, history = recover(start, measured)
    history.append(float(misfit(np.log(found), start.copy(), DT, measured)))
    for step in range(0, STEPS + 1, STEPS // 10):
        print(f"step {step:4d}   loss {history[step]:.1f}")

    inside = (slice(1, -1), slice(1, -1))
    error = np.sqrt(np.mean((found - truth)[inside] ** 2))
    spread = np.sqrt(np.mean((1.0 - truth)[inside] ** 2))
    print(f"\nThe conductivity is found to {error:.4f}; a plate without the spot would be off by {spread:.4f}.")
    print("\nAcross the middle, true and found:")
    for true, ours in zip(truth[SIZE // 2, ::2], found[SIZE // 2, ::2], strict=True):
        print(f"  {true:.3f}   {ours:.3f}")
    print(f"\n{draw(truth, found)}")
    print(f"\n{misfit.grad.source_for(np.log(found), start, DT, measured)}")
    return 0 if error < 0.5 * spread else 1


if __name__ == "__main__":
    sys.exit(main())
