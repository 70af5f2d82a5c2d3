"""Results that NumPy puts into buffers: `out=`, `where=`, `copyto`, `put`, `.at`, and their relatives."""

import numpy as np

from tests.programs.case import Program, draw


def limited_advection(u, c, steps):
    """Upwind advection with a flux limiter; ratios of slopes where the slope is not flat, all in buffers."""
    slope, ratio, flux = np.empty_like(u), np.empty_like(u), np.empty_like(u)
    for n in range(steps):
        np.subtract(np.roll(u, -1), u, out=slope)
        ratio.fill(0.0)
        np.divide(np.roll(slope, 1), slope, out=ratio, where=np.abs(slope) > 1e-9)
        np.maximum(ratio, 0.0, out=ratio)
        np.divide(2.0 * ratio, 1.0 + ratio, out=ratio)
        np.multiply(ratio, slope, out=flux)
        flux *= 0.5 * (1.0 - c)
        flux += u
        np.subtract(flux, np.roll(flux, 1), out=slope)
        u -= c * slope
    return np.sum(u * u * np.arange(len(u)))


def explicit_step(u, work, k):
    """One step of the heat equation in the caller's buffers."""
    np.subtract(u[2:], u[1:-1], out=work[1:-1])
    np.subtract(work[1:-1], u[1:-1], work[1:-1])
    np.add(work[1:-1], u[:-2], out=work[1:-1])
    np.multiply(work, k, out=work)
    return np.add(u, work, out=u)


def heated(u, k, steps):
    """A procedure that writes into its arguments and returns one of them."""
    work = np.zeros_like(u)
    for n in range(steps):
        same = explicit_step(u, work, k)
        same[0] = same[1]
        np.copyto(work, 0.0)
    return np.sum(u**3)


def clamped(x, low):
    """Elements under a bound are raised to it, those over another are scaled, each in place."""
    np.copyto(x, low, where=x < low)
    np.putmask(x, x > 0.8, x * x)
    np.place(x, x > 0.5, [low, 2.0 * low])
    np.clip(x, -0.9, 0.9, out=x)
    x[0] *= 3.0
    return np.sum(x**2 * np.arange(1.0, 7.0))


def placed_values(A, v, s):
    """Values put at places that are counted row by row."""
    np.put(A, [1, 6, -1, 6], v)
    A.put([0, 5], s)
    np.fill_diagonal(A, v * s)
    A.flat[2::4] *= s
    A.flat[3] = A.flat[4] * A.flat[-2]
    best = np.argmax(A, axis=1, keepdims=True)
    np.put_along_axis(A, best, s * A[:, :1], axis=1)
    row = A.flat
    row[7] = np.sum(row[1:3])
    return np.sum(A**3) + sum(row)


def ordered_statistics(x, y):
    """Sorted and partitioned where they stand."""
    x.sort()
    y.partition(2)
    middle = 0.5 * (x[2] + x[3])
    x[::-1].sort()
    return middle * y[2] + x[0] ** 2 - x[-1] * y[2]


def best_scores(scores, bins, gain):
    """The best score of each bin, and products of probabilities, by indices that repeat."""
    best = np.full(3, -1.0)
    np.maximum.at(best, bins, scores)
    chance = np.ones((2, 3))
    np.multiply.at(chance, ([0, 1, 1, 0, 1], bins), gain * scores)
    np.negative.at(best, [0, 0, 2])
    return np.sum(best**2) + np.sum(chance)


def totals(A, v):
    """Reductions and scans into buffers."""
    n = len(A)
    sums, means, most = np.empty(n), np.zeros((2, n)), np.empty(n)
    np.sum(A, axis=1, out=sums)
    A.mean(axis=0, out=means[1])
    np.max(A * A, axis=0, out=most)
    np.cumsum(v, out=v)
    np.dot(A, v, out=means[0])
    np.matmul(A, A, out=A)
    return np.sum(sums * most) + np.sum(means**2) + np.sum(A)


def rounded_down(x, k):
    """Buffers of whole numbers truncate, and nothing flows through them."""
    steps = np.zeros(len(x), dtype=int)
    steps[:] = k * x
    np.multiply(x, 4.0, out=steps[1:3], casting="unsafe") if len(x) == 2 else steps.fill(2)
    np.add.at(steps, [0, 0], 1)
    seen = np.zeros(len(x), dtype=bool)
    np.greater(x, 0.0, out=seen)
    return np.sum(steps * x**2) + np.sum(x[seen]) * k


def reshaped(u, c):
    """The shape of the only holder of an array is set; rows of the grid are written afterwards."""
    w = u * c
    w.shape = (2, 3)
    w[1] *= w[0]
    w.shape = -1
    w[1:] -= w[:-1]
    return np.sum(w**3)


def prefix_sums(a, s):
    """Exclusive sums by Blelloch's sweeps up and down a tree that lies in the array itself."""
    d = 1
    while d < len(a):
        a[2 * d - 1 :: 2 * d] += s * a[d - 1 :: 2 * d] ** 2
        d *= 2
    a[-1] = s
    while d > 1:
        d //= 2
        left = a[d - 1 :: 2 * d].copy()
        a[d - 1 :: 2 * d] = a[2 * d - 1 :: 2 * d]
        a[2 * d - 1 :: 2 * d] += left
    return np.sum(a * a)


PROGRAMS = [
    Program(prefix_sums, lambda: (draw(8, seed=71), 0.8), ("a", "s")),
    Program(limited_advection, lambda: (draw(7, seed=71), 0.4, 3), ("u", "c")),
    Program(heated, lambda: (draw(6, seed=72), 0.2, 3), ("u", "k")),
    Program(clamped, lambda: (np.array([0.3, -0.95, 0.92, 0.6, -0.2, 0.7]), 0.1), ("x", "low")),
    Program(placed_values, lambda: (draw(3, 4, seed=73), draw(3, seed=74), 0.7), ("A", "v", "s")),
    Program(ordered_statistics, lambda: (draw(6, seed=75), draw(5, seed=76)), ("x", "y")),
    Program(
        best_scores, lambda: (draw(5, seed=77, low=0.2, high=1.0), np.array([0, 1, 1, 2, 1]), 1.3), ("scores", "gain")
    ),
    Program(totals, lambda: (draw(3, 3, seed=78), draw(3, seed=79)), ("A", "v")),
    Program(rounded_down, lambda: (np.array([0.31, -0.42, 0.77]), 3.3), ("x", "k")),
    Program(reshaped, lambda: (draw(6, seed=80), 1.2), ("u", "c")),
]
