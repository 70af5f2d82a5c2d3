"""Long loops whose steps are not recorded: run again from a few snapshots."""

import io

import numpy as np

import tangentx as tx
from tests.programs.case import Program, draw

OUT = io.StringIO()


def conducted(u, k, steps):
    """Heat with a conductivity that depends on it, between two buffers; it ends where it has settled."""
    new = u.copy()
    energies = []
    for n in tx.checkpointed(range(steps), snapshots=3):
        flux = k * (1.0 + u[1:] * u[:-1]) * (u[1:] - u[:-1])
        new[1:-1] = u[1:-1] + flux[1:] - flux[:-1]
        u, new = new, u
        if n % 2:
            continue
        energies.append(np.sum(u**2))
        if n > 4 and abs(energies[-1] - energies[-2]) < 0.1:
            break
    return np.sum(u * new) + np.sum(np.array(energies))


def bounce(v, walls):
    """A helper that writes into its argument."""
    for i in range(len(v)):
        if abs(v[i]) > walls:
            v[i] = np.sin(v[i]) * walls


def stirred(x, drift, steps):
    """A random walk that is logged, in a loop over samples; the generator goes on after it."""
    rng = np.random.default_rng(7)
    total = 0.0
    for sample in range(2):
        v = x * (sample + 1.0)
        for n in tx.checkpointed(range(1, steps), snapshots=2):
            v = v + drift * np.cos(v) + 0.1 * rng.standard_normal(len(x)) * v
            bounce(v, 0.8)
            print(sample, n, v[0], file=OUT)
        total = total + np.sum(v) * rng.standard_normal()
    return total


class Oscillator:
    """A state that its method moves."""

    def __init__(self, x, v):
        self.x = x
        self.v = v

    def kick(self, h):
        self.v = self.v - h * np.sin(self.x)
        self.x = self.x + h * self.v


def driven(x, v, forces):
    """An object and a dict, over the rows of an array."""
    body = Oscillator(x, v)
    seen = {}
    for row in tx.checkpointed(forces, snapshots=2):
        body.kick(0.3)
        if row[1] > 0.0:
            push = row * body.x
        else:
            push = row[1:] * body.x[1:]
        seen[len(push)] = np.sum(push * push)
    return np.sum(body.v) * seen[2] + seen[3]


PROGRAMS = [
    Program(conducted, lambda: (draw(5, seed=1), 0.3, 9), ("u", "k")),
    Program(stirred, lambda: (draw(3, seed=2), 0.4, 5), ("x", "drift")),
    Program(driven, lambda: (draw(3, seed=3), draw(3, seed=4), draw(5, 3, seed=5)), ("x", "v", "forces")),
]
