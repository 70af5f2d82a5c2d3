"""What the tests run on workers; those of other processes import it."""

import os
import time
from dataclasses import dataclass

import numpy as np

import tangentx as tx


@dataclass
class Line:
    slope: np.ndarray
    offset: float


def predicted(line, x):
    return x @ line.slope + line.offset


def loss(line, x, y):
    return np.mean((predicted(line, x) - y) ** 2)


def plain_loss(w, x, y):
    return np.mean((np.tanh(x @ w) - y) ** 2)


def between(x, w, y, b):
    return np.sum((x @ w - y + b) ** 2)


def residual(p, t, y):
    return p[0] * np.exp(p[1] * t) - y


def divided(w, x, limit):
    if x[0] > limit:
        return np.sum(w) * (1.0 / int(limit))
    return np.sum(w * x)


class Odd(Exception):
    """One that is not made again of its arguments."""

    def __init__(self, first, second):
        super().__init__(first)


def odd(w, x):
    if np.sum(x) > 0.0:
        raise Odd("first", "second")
    return np.sum(w)


@tx.primitive
def die(file):
    """Ends its process, once: a file says that it has been done."""
    if not os.path.exists(file):
        with open(file, "w"):
            pass
        os._exit(3)
    return 1.0


def deadly(w, x, file, number):
    return np.sum(w * x) * (float(die(file)) if x[0] == number else 1.0)


@tx.primitive
def wait(number, folder):
    """Says in a folder that it has begun."""
    with open(os.path.join(folder, str(number)), "w"):
        pass
    time.sleep(0.3)
    return 1.0


def slow(w, number, folder):
    return w * number * float(wait(number, folder))


def data(rows=24, columns=3):
    rng = np.random.default_rng(5)
    return rng.normal(size=(rows, columns)), rng.normal(size=rows)


def shards_of(x, y, size):
    return [(x[i : i + size], y[i : i + size]) for i in range(0, len(x), size)]
