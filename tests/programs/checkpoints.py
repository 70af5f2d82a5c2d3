"""Simulations whose steps are checkpointed: run again in the reverse sweep instead of recorded."""

import numpy as np

import tangentx as tx
from tests.programs.case import Program, draw


def diffuse(u, k):
    """One explicit step with a conductivity that depends on the temperature, in place."""
    flux = k * (1.0 + u[1:] * u[:-1]) * (u[1:] - u[:-1])
    u[:-1] += flux
    u[1:] -= flux


def relax(u, force, w):
    """A Gauss-Seidel sweep, in place, and the array for the caller's convenience."""
    for i in range(1, len(u) - 1):
        u[i] = (1.0 - w) * u[i] + w * np.sin(u[i - 1] * u[i + 1] + force[i])
    return u


def kick(x, v, h):
    """A leapfrog step of a pendulum."""
    v = v - 0.5 * h * np.sin(x)
    x = x + h * v
    return x, v - 0.5 * h * np.sin(x)


@tx.checkpoint
def energy(x, v):
    return np.sum(0.5 * v**2 - np.cos(x))


def cooled(u, k):
    """Every step keeps the state before it, and no flux."""
    for n in range(4):
        tx.checkpoint(diffuse, u, k)
        u[0] = 0.9 * u[1]
        if u[2] > 5.0:
            break
    return np.sum(u**2)


def settled(force, w):
    """Sweeps within sweeps, each checkpointed; rows of a plane one after the other."""
    plane = np.zeros((2, len(force)))
    for row in plane:
        row[-1] = w
        for n in range(2):
            last = tx.checkpoint(relax, row, force, w)
            last[0] += force[1] * last[1]
    return np.sum(plane**2)


def swung_again(x, v, h):
    """A pair of arrays from each step."""
    for n in range(3):
        x, v = tx.checkpoint(kick, x, v, h)
    return energy(x, v)


PROGRAMS = [
    Program(cooled, lambda: (draw(5, seed=1), 0.3), ("u", "k")),
    Program(settled, lambda: (draw(5, seed=2), 0.4), ("force", "w")),
    Program(swung_again, lambda: (draw(3, seed=3), draw(3, seed=4), 0.2), ("x", "v", "h")),
]
