"""Programs of statistics and learning."""

import numpy as np

import tangentx as tx
from tests.programs.case import Program, draw


def logistic_regression(w, b, X, y):
    z = X @ w + b
    p = 1.0 / (1.0 + np.exp(-z))
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p)) + 0.01 * np.sum(w * w)


def perceptron(layers, x, target):
    """A list of (W, b)."""
    for k, (W, b) in enumerate(layers):
        x = x @ W + b
        if k < len(layers) - 1:
            x = np.tanh(x)
    return np.mean((x - target) ** 2)


def hidden_markov(transition, emission, start, seen):
    """Forward algorithm, scaled at each step."""
    alpha = start * emission[:, seen[0]]
    loglik = 0.0
    for t in range(1, len(seen)):
        scale = np.sum(alpha)
        loglik += np.log(scale)
        alpha = alpha / scale
        alpha = (alpha @ transition) * emission[:, seen[t]]
    return loglik + np.log(np.sum(alpha))


def hidden_markov_table(transition, emission, seen):
    """The same by a table, element by element."""
    n = len(transition)
    table = np.zeros((len(seen), n))
    table[0] = emission[:, seen[0]] / n
    for t in range(1, len(seen)):
        for j in range(n):
            for i in range(n):
                table[t, j] += table[t - 1, i] * transition[i, j]
            table[t, j] *= emission[j, seen[t]]
    return np.log(table[-1].sum())


def kalman(measured, q, r):
    """A scalar filter; the negative log-likelihood of its innovations."""
    x = 0.0
    p = 1.0
    total = 0.0
    for z in measured:
        p = p + q
        s = p + r
        e = z - x
        total += 0.5 * (e * e / s + np.log(s))
        gain = p / s
        x = x + gain * e
        p = (1.0 - gain) * p
    return total


def mixture(means, logits, x):
    weights = np.exp(logits) / np.sum(np.exp(logits))
    d = x[:, None] - means[None, :]
    return -np.sum(np.log(np.sum(weights * np.exp(-0.5 * d * d), axis=1)))


def welford(x):
    """Running mean and variance; then the skewness by a second pass."""
    mean = 0.0
    m2 = 0.0
    for n, v in enumerate(x, start=1):
        delta = v - mean
        mean += delta / n
        m2 += delta * (v - mean)
    std = np.sqrt(m2 / len(x))
    return np.mean(((x - mean) / std) ** 3)


def smoothed(x, alpha, beta):
    """Holt's method: level and trend."""
    level, trend = x[0], x[1] - x[0]
    error = 0.0
    for t in range(1, len(x)):
        error += (x[t] - level - trend) ** 2
        last = level
        level = alpha * x[t] + (1.0 - alpha) * (level + trend)
        trend = beta * (level - last) + (1.0 - beta) * trend
    return error


def descent(w, X, y, rate):
    """Gradient descent by hand: the loss after some steps, by where it started and how fast it went."""
    for _ in range(3):
        residual = X @ w - y
        w = w - rate * X.T @ residual
    return np.sum((X @ w - y) ** 2)


def momentum(w, rate, decay):
    """In-place updates of a state."""
    v = np.zeros_like(w)
    for _ in range(3):
        g = 4.0 * w**3 - w
        v *= decay
        v -= rate * g
        w += v
    return np.sum(w**4 - 0.5 * w * w)


def distances(X, labels, margin):
    total = 0.0
    for i in range(len(X)):
        for j in range(i):
            d2 = np.sum((X[i] - X[j]) ** 2)
            if labels[i] == labels[j]:
                total += d2
            else:
                total += max(margin - np.sqrt(d2), 0.0) ** 2
    return total


def partition(energies, weights):
    """The logarithm of a sum of exponentials; the shift changes nothing, and so has no derivative."""
    shift = tx.stop_gradient(np.max(energies))
    return shift + np.log(np.sum(weights * np.exp(energies - shift)))


def alignments_by_scores(scores):
    """A forward recursion in logarithms that begins with what cannot be: -inf meets -inf."""
    total = np.array([0.0, -np.inf, -np.inf, -np.inf])
    for row in scores:
        moved = np.concatenate(([-np.inf], total[:-1]))
        total = np.logaddexp(total, moved) + row
    return np.log(np.sum(np.exp(total)))


def reachable(scores, rates):
    """The same by the method of the ufunc, over candidates of which there may be none that can be."""
    total = [0.0, -np.inf, -np.inf]
    for score in scores:
        best = list(total)
        for k in range(3):
            ways = [total[k]] + ([total[k - 1]] if k > 0 else [])
            best[k] = np.logaddexp.reduce(ways) + score * rates[k]
        total = best
    return np.logaddexp.reduce(total)


def weighed_columns(weights, columns):
    """Names that are bound in a comprehension alone, called there and enumerated from one."""
    return sum(float(rank) * column.sum() ** 2 for rank, column in enumerate([columns @ weights, weights], start=1))


def robust_fit(w, data, target):
    """Least absolute deviations, where rows and targets are missing."""
    rest = data @ w - target
    lost = np.isnan(rest)
    spread = np.std(data * w, where=~np.isnan(data))
    return np.sum(np.where(lost, 0.0, np.abs(rest))) + np.nanmean(np.cumprod(rest) ** 2) + spread


def low_rank(left, right, table):
    """A factorisation of a table with gaps, and of a product with an infinite factor of which little is used."""
    rest = (left @ right - table)[~np.isnan(table)]
    scales = np.outer(np.array([1.0, np.inf]), left[:, 0])
    return np.mean(rest**2) + np.sum(scales[0] ** 2) + np.nansum(np.einsum("ij,jk->ik", table, right.T) ** 3)


PROGRAMS = [
    Program(
        robust_fit,
        lambda: (
            draw(2, seed=8),
            np.array([[1.0, 2.0], [0.5, np.nan], [-1.0, 0.3], [0.2, 0.7]]),
            np.array([1.0, 0.0, 0.4, np.nan]),
        ),
        "w",
    ),
    Program(
        low_rank,
        lambda: (draw(2, 2, seed=9), draw(2, 3, seed=10), np.array([[1.0, np.nan, 2.0], [0.5, 0.1, 0.7]])),
        ("left", "right"),
    ),
    Program(alignments_by_scores, lambda: (draw(2, 4, seed=3),), "scores"),
    Program(reachable, lambda: (draw(2, seed=4), draw(3, seed=5)), ("scores", "rates")),
    Program(weighed_columns, lambda: (draw(2, seed=6), draw(3, 2, seed=7)), ("weights", "columns")),
    Program(
        logistic_regression,
        lambda: (draw(2, seed=1), 0.2, draw(4, 2, seed=2), np.array([0.0, 1.0, 1.0, 0.0])),
        ("w", "b"),
    ),
    Program(
        perceptron,
        lambda: (
            [(draw(2, 3, seed=3), draw(3, seed=4)), (draw(3, 1, seed=5), draw(1, seed=6))],
            draw(4, 2, seed=7),
            draw(4, 1, seed=8),
        ),
        "layers",
    ),
    Program(
        hidden_markov,
        lambda: (
            draw(2, 2, seed=9, low=0.2),
            draw(2, 3, seed=10, low=0.2),
            np.array([0.4, 0.6]),
            np.array([0, 2, 1, 1]),
        ),
        ("transition", "emission", "start"),
    ),
    Program(
        hidden_markov_table,
        lambda: (draw(2, 2, seed=11, low=0.2), draw(2, 3, seed=12, low=0.2), [0, 2, 1]),
        ("transition", "emission"),
    ),
    Program(kalman, lambda: (draw(5, seed=13), 0.1, 0.3), ("measured", "q", "r")),
    Program(mixture, lambda: (draw(2, seed=14), draw(2, seed=15), draw(4, seed=16)), ("means", "logits")),
    Program(welford, lambda: (draw(5, seed=17),), "x"),
    Program(smoothed, lambda: (draw(5, seed=18), 0.4, 0.3), ("x", "alpha", "beta")),
    Program(descent, lambda: (draw(2, seed=19), draw(3, 2, seed=20), draw(3, seed=21), 0.2), ("w", "X", "rate")),
    Program(momentum, lambda: (draw(3, seed=22), 0.1, 0.8), ("w", "rate", "decay")),
    Program(distances, lambda: (draw(4, 2, seed=23), [0, 1, 0, 1], 1.5), ("X", "margin")),
    Program(partition, lambda: (draw(4, seed=24), draw(4, seed=25, low=0.2)), ("energies", "weights")),
]
