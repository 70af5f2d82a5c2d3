"""Functions of NumPy and of Python's library that are written in other functions, or have rules of their own."""

import math

import numpy as np

from tests.programs.case import Program, draw


def tides(height, period, hours):
    """The phase within a period, and how many have passed."""
    total = 0.0
    for hour in hours:
        periods, rest = divmod(hour, period)
        total += height * math.cos(2.0 * math.pi * rest / period) * (1.0 + 0.1 * periods)
    return total


def trimmed_mean(values, cut):
    """A robust mean of each row: the extreme values are left out."""
    total = 0.0
    for row in values:
        kept = sorted(row)[cut:-cut]
        total += sum(kept) / len(kept) * math.prod(kept)
    return total


def steepest(heights, width):
    slopes = [(b - a) / width for a, b in zip(heights, heights[1:])]
    return max(slopes, key=abs) ** 2 + min(slopes, default=0.0)


def absorbed(spectrum, edges, response):
    """The part of a spectrum that a detector sees, whose response is a table."""
    grid = np.linspace(0.0, 2.0, 5)
    seen = spectrum * np.interp(grid, edges, response)
    return np.trapezoid(seen, grid) / np.trapezoid(spectrum, dx=0.5) + np.ptp(seen)


def gaussian_process(y, x, width, noise):
    """The log likelihood of observations, by the factor and by the determinant."""
    d = x[:, None] - x[None, :]
    K = np.exp(-0.5 * d * d / width**2) + noise * np.eye(len(x))
    L = np.linalg.cholesky(K)
    z = np.linalg.solve(L, y)
    sign, logdet = np.linalg.slogdet(K)
    return -0.5 * z @ z - 0.5 * logdet - np.sum(np.log(np.diag(L)))


def edges_of(signal, kernel):
    """Smooth, frame, and measure the slopes."""
    smooth = np.convolve(signal, kernel, mode="same")
    for _ in range(2):
        smooth = np.pad(smooth, 1)
        smooth = 0.5 * (smooth[2:] + smooth[:-2])
    slopes = np.gradient(smooth, 0.5)
    return np.sum(slopes**2) + np.average(smooth, weights=np.tile(kernel, 2))


def pooled(weights, labels, counts):
    """Sums by label, and what each label's share of the whole is."""
    sums = np.bincount(labels, weights=weights, minlength=4)
    share = np.append(sums, np.linalg.norm(sums, 1)) / math.dist(counts, (0.0, 1.0))
    return np.sum(share**2) + math.hypot(share[0], share[1], share[2])


def stencil(grid, places):
    """Cells named by pairs of indices are read and written by the pair."""
    field = grid * grid
    for place in places:
        row, column = place
        field[place] = field[place] * grid[column, row]
    masked = np.nonzero(grid > 0.0)
    field[masked] += grid[masked] ** 3
    return np.sum(field * grid)


PROGRAMS = [
    Program(tides, lambda: (0.7, 5.5, [1.0, 4.2, 13.9]), ("height", "period")),
    Program(trimmed_mean, lambda: ([[0.3, 0.9, -0.2, 0.5], [0.4, 0.1, 0.8, -0.6]], 1), "values"),
    Program(steepest, lambda: ([0.1, 0.9, -0.7, 0.2], 0.5), ("heights", "width")),
    Program(
        absorbed,
        lambda: (draw(5, seed=60, low=0.5), np.array([0.1, 0.7, 1.9]), draw(3, seed=61, low=0.2)),
        ("spectrum", "edges", "response"),
    ),
    Program(
        gaussian_process, lambda: (draw(3, seed=62), np.array([0.0, 0.7, 1.1]), 0.8, 0.3), ("y", "x", "width", "noise")
    ),
    Program(edges_of, lambda: (draw(6, seed=63), draw(3, seed=64, low=0.2)), ("signal", "kernel")),
    Program(
        pooled,
        lambda: (draw(5, seed=65, low=0.2), np.array([0, 2, 2, 1, 0]), (0.8, 0.3)),
        ("weights", "counts"),
    ),
    Program(stencil, lambda: (draw(2, 2, seed=66), [(0, 1), (1, 1), (0, 1)]), "grid"),
]
