"""None where there is no value yet: best so far, the previous step, caches, optional results."""

import numpy as np

from tests.programs.case import Program, draw


def smallest_square(values):
    best = None
    for v in values:
        if best is None or v * v < best:
            best = v * v
    return best * 3.0


def steepest_stretch(x, y):
    """The steepest stretch of a polygon, and the height where it starts."""
    slope = place = None
    for i in range(len(x) - 1):
        s = (y[i + 1] - y[i]) / (x[i + 1] - x[i])
        if slope is None or s > slope:
            slope, place = s, i
    return slope * y[place] + x[place - 1]


def weighted_rows(A):
    total = None
    for i in range(A.shape[0]):
        row = A[i] * 2.0
        if total is None:
            total = row
        else:
            total = total + row * i
    return np.sum(total * total)


def roughness(x, steps):
    """Squared differences of neighbours; every third step starts anew."""
    previous = None
    total = 0.0
    y = x
    for i in range(steps):
        y = y * x + 0.1
        if previous is not None:
            total = total + (y - previous) ** 2
        previous = y if i % 3 else None
    return total


class Chain:
    """Mass, stiffness, and a frequency that is worked out when it is first asked for."""

    def __init__(self, mass, stiffness):
        self.mass = mass
        self.stiffness = stiffness
        self._frequency = None

    @property
    def frequency(self):
        if self._frequency is None:
            self._frequency = np.sqrt(self.stiffness / self.mass)
        return self._frequency


def lazy_frequency(mass, stiffness):
    chain = Chain(mass, stiffness)
    first = chain.frequency
    chain.mass = chain.mass * 2.0
    return first * chain.frequency * chain.mass


def memoised(x, n):
    known = [None] * (n + 1)

    def value(k):
        if k < 2:
            return x * (k + 1)
        if known[k] is None:
            known[k] = value(k - 1) + x * value(k - 2)
        return known[k]

    return value(n)


def cached_powers(x, n):
    cache = {}
    total = 0.0
    for i in range(n):
        power = cache.get(i % 3)
        if power is None:
            power = x ** (i % 3 + 1)
            cache[i % 3] = power
        total += power * (i + 1)
    return total


def first_above(values, limit):
    for v in values:
        if v > limit:
            return v
    return None


def above_or_sum(values, limit, fallback):
    found = first_above(values, limit)
    missing = first_above(values, fallback)
    if found is None:
        found = np.sum(values)
    return found * found * values[0] if missing is None else missing


def longest_row(A):
    best = None
    for i in range(A.shape[0]):
        row = A[i].copy()
        if best is None or np.sum(row) > np.sum(best):
            best = row
    return np.sum(best * best)


def successive_products(A):
    last = None
    total = 0.0
    for i in range(A.shape[0]):
        row = A[i] * A[0]
        if last is not None:
            total = total + np.dot(last, row)
        last = row if i != 1 else None
    return total


def babylonian_root(x, tolerance=None):
    tolerance = tolerance or 1e-3
    y, old, steps = 1.0, None, 0
    while old is None or abs(y - old) > tolerance:
        old = y
        y = 0.5 * (y + x / y)
        steps += 1
    return y * steps


PROGRAMS = [
    Program(smallest_square, lambda: (draw(4, seed=1),), "values"),
    Program(steepest_stretch, lambda: (np.cumsum(draw(5, seed=2) ** 2 + 0.1), draw(5, seed=3)), ("x", "y")),
    Program(weighted_rows, lambda: (draw(3, 2, seed=4),), "A"),
    Program(roughness, lambda: (0.7, 7), "x"),
    Program(lazy_frequency, lambda: (0.8, 1.7), ("mass", "stiffness")),
    Program(memoised, lambda: (0.7, 6), "x"),
    Program(cached_powers, lambda: (0.7, 5), "x"),
    Program(above_or_sum, lambda: (draw(4, seed=5), 0.1, 50.0), "values"),
    Program(longest_row, lambda: (draw(3, 3, seed=6),), "A"),
    Program(successive_products, lambda: (draw(4, 2, seed=7),), "A"),
    Program(babylonian_root, lambda: (2.0,), "x"),
]
