"""Programs that print, measure time and draw random numbers on the way."""

import io
import random
import time

import numpy as np

from tests.programs.case import Program, draw

OUT = io.StringIO()


def wandering(x, steps):
    """A random walk: each step is drawn, and taken or not by another draw."""
    rng = np.random.default_rng(11)
    energy = np.sum(x * x)
    for n in range(steps):
        started = time.perf_counter()
        y = x + 0.1 * rng.standard_normal(len(x))
        new = np.sum(y * y * np.cos(y))
        if rng.random() < 0.6:
            x, energy = y, new
            print("step", n, energy, file=OUT)
        elapsed = time.perf_counter() - started
        print(f"{n:3d} {energy:.3f} {elapsed:.1e}".strip(), file=OUT)
    return energy + np.prod(x)


def stratified(mu, sigma, n):
    """Monte Carlo with the draws of a standard normal, scaled."""
    source = random.Random(5)
    total = 0.0
    for i in range(n):
        u = (i + source.random()) / n
        z = source.gauss(0.0, 1.0)
        if source.choice([1, 2, 3]) == 2:
            z = -z
        total += max(np.exp(mu + sigma * z) - u, 0.0)
    return total / n


def noisy(w, x):
    """Dropout and shuffled batches."""
    rng = np.random.RandomState(2)
    h = x
    for layer in w:
        keep = rng.uniform(size=h.shape) < 0.8
        h = np.tanh(layer @ h) * keep / 0.8
    order = rng.permutation(len(h))
    return np.sum(h[order] * np.arange(len(h)) * h)


PROGRAMS = [
    Program(wandering, lambda: (draw(3, seed=1), 6), "x"),
    Program(stratified, lambda: (0.1, 0.4, 7), ("mu", "sigma")),
    Program(noisy, lambda: (draw(2, 4, 4, seed=2), draw(4, seed=3)), ("w", "x")),
]
