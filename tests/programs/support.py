"""Helpers that programs of other modules import."""

import math

import numpy as np

SCALE = 1.3
WEIGHTS = np.array([0.2, 0.5, 0.3])


def squash(x, gain=1.0, *, shift=0.0):
    return math.tanh(gain * x + shift) * SCALE


def relax(x, b, w):
    change = 0.0
    for i in range(len(x)):
        new = (1.0 - w) * x[i] + w * np.cos(b[i] * x[i - 1])
        change = max(change, abs(new - x[i]))
        x[i] = new
    return change


def weighted(v):
    return np.sum(WEIGHTS * v * v)


def middle(a):
    """A view: what is written into it is written into `a`."""
    return a[1:-1]
