"""The programs of the text on how generated code should read, and a few that are smaller still."""

from __future__ import annotations

import numpy as np


def glide(v, steps, dt):
    x = 0.0
    for _ in range(steps):
        if v > 10.0:
            drag = v * v
        else:
            drag = 2.0 * v
        v = v - dt * drag
        x = x + dt * v
    return x


def smooth(u, c, sweeps):
    for _ in range(sweeps):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + c * (u[i - 1] - 2.0 * u[i] + u[i + 1])
    return np.sum(u * u)


def relax(x, b, w):
    change = 0.0
    for i in range(len(x)):
        new = (1.0 - w) * x[i] + w * np.cos(b[i] * x[i - 1])
        change = max(change, abs(new - x[i]))
        x[i] = new
    return change


def settle(b, w, tol):
    x = np.zeros_like(b)
    for _ in range(500):
        if relax(x, b, w) < tol:
            break
    return np.mean(x)


def squares(u):
    """Reads the content that it overwrites, so that it has to be restored."""
    for i in range(len(u)):
        u[i] = u[i] * u[i]
    return np.sum(u)


def idle(x, n):
    """Most of it is for nothing."""
    unused = []
    total = 0.0
    for k in range(n):
        unused.append(2 * k)
        total = total + k
    return 3.0 * x


def refused(x):
    if x < 0.0:
        raise ValueError("negative")
    return x * x


def halved(x):
    """Ends by a test: the number of trips is needed, and so is all that the test depends on."""
    y = x
    size = x
    while size > 1.0:
        size = size / 2.0
        y = y * 0.5
    return y


def partner(x, y, spare):
    return x * 2.0, y * spare


def with_partner(x, y):
    a, _ = partner(x, y, 5.0)
    return a * x
