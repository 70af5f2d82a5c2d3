"""Fit the Lotka-Volterra equations to twenty years of hares and lynxes, by the gradient of a Runge-Kutta solver.

The solver is a plain Python loop over time steps, and the loss is written as one would write it to look at it: nothing
is prepared for differentiation. Run ``python examples/fit_ode.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import tangentx as tx

Array: TypeAlias = NDArray[np.float64]

DATA = Path(__file__).with_name("lynx_hare_pelts.txt")
SUBSTEPS = 4  # Runge-Kutta steps a year
STEPS = 200
RATE = 0.05


def growth(population, rates):
    """Hares multiply and are eaten; lynxes starve and eat."""
    hare, lynx = population
    birth, capture, death, gain = rates
    return np.array([(birth - capture * lynx) * hare, (gain * hare - death) * lynx])


def advance(population, rates, dt):
    """One step of the classical Runge-Kutta method."""
    k1 = growth(population, rates)
    k2 = growth(population + 0.5 * dt * k1, rates)
    k3 = growth(population + 0.5 * dt * k2, rates)
    k4 = growth(population + dt * k3, rates)
    return population + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


@tx.differentiate(wrt=("log_start", "log_rates"))
def misfit(log_start, log_rates, pelts, substeps):
    """Mean squared error of the logarithms; `pelts` has a row a year, hares and lynxes."""
    population = np.exp(log_start)
    rates = np.exp(log_rates)
    total = np.sum((np.log(population) - np.log(pelts[0])) ** 2)
    for year in range(1, len(pelts)):
        for _ in range(substeps):
            population = advance(population, rates, 1.0 / substeps)
        total += np.sum((np.log(population) - np.log(pelts[year])) ** 2)
    return total / pelts.size


def show_progress(done: int, total: int) -> None:
    """Draw a bar on a terminal; write nothing into a pipe or a file."""
    if sys.stderr.isatty():
        filled = 40 * done // total
        end = "\n" if done == total else ""
        print(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done}/{total}", end=end, file=sys.stderr, flush=True)


def fit(log_start: Array, log_rates: Array, pelts: Array) -> tuple[Array, Array, list[float]]:
    """Adam with a falling rate; returns the parameters and the loss before each step."""
    point = np.concatenate([log_start, log_rates])
    mean, square, history = np.zeros_like(point), np.zeros_like(point), []
    for step in range(STEPS):
        loss, gradients = misfit.value_and_grad(point[:2], point[2:], pelts, SUBSTEPS)
        history.append(float(loss))
        gradient = np.concatenate(gradients)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        corrected = mean / (1.0 - 0.9 ** (step + 1)) / (np.sqrt(square / (1.0 - 0.99 ** (step + 1))) + 1e-12)
        point = point - RATE * (1.0 - step / STEPS) * corrected
        show_progress(step + 1, STEPS)
    return point[:2], point[2:], history


def worst_difference(log_start: Array, log_rates: Array, pelts: Array) -> float:
    """Largest relative difference of the gradient from central differences."""
    point, step, worst = np.concatenate([log_start, log_rates]), 1e-5, 0.0
    exact = np.concatenate(misfit.grad(log_start, log_rates, pelts, SUBSTEPS))
    for i in range(len(point)):
        ends = []
        for sign in (1.0, -1.0):
            moved = point.copy()
            moved[i] += sign * step
            ends.append(misfit(moved[:2], moved[2:], pelts, SUBSTEPS))
        worst = max(worst, abs((ends[0] - ends[1]) / (2.0 * step) / exact[i] - 1.0))
    return float(worst)


def main() -> int:
    year, *columns = np.loadtxt(DATA, unpack=True)
    pelts = np.stack(columns, axis=1)
    start = np.log(pelts[0]), np.log([0.5, 0.02, 0.9, 0.03])
    print(f"At the start, the gradient differs from central differences by {worst_difference(*start, pelts):.1e}.\n")
    log_start, log_rates, history = fit(*start, pelts)
    history.append(float(misfit(log_start, log_rates, pelts, SUBSTEPS)))
    for step in range(0, STEPS + 1, STEPS // 10):
        print(f"step {step:4d}   loss {history[step]:.6f}")

    birth, capture, death, gain = np.exp(log_rates)
    print(f"\nhares: born at {birth:.3f} a year, caught at {capture:.4f} a lynx and year")
    print(f"lynxes: die at {death:.3f} a year, gain {gain:.4f} a hare and year")
    print("\nyear   hares: counted, fitted   lynxes: counted, fitted")
    population = np.exp(log_start)
    for row, now in enumerate(year):
        (hare, lynx), (hares, lynxes) = pelts[row], population
        print(f"{now:.0f}         {hare:7.1f} {hares:7.1f}          {lynx:7.1f} {lynxes:7.1f}")
        for _ in range(SUBSTEPS):
            population = advance(population, np.exp(log_rates), 1.0 / SUBSTEPS)
    print(f"\n{misfit.grad.source_for(log_start, log_rates, pelts, SUBSTEPS)}")
    return 0 if history[-1] < 0.5 * history[0] else 1


if __name__ == "__main__":
    sys.exit(main())
