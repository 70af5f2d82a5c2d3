"""Queues, tables that make what is missing, lists put in order: containers of the library, written on the way."""

import collections
import dataclasses

import numpy as np

from tests.programs.case import Program, draw


def adaptive_quadrature(a, tol):
    """Adaptive Simpson: intervals wait in a queue until their two estimates agree."""
    waiting = collections.deque([(0.0, 2.0)])
    total = 0.0
    while waiting:
        low, high = waiting.popleft()
        width = high - low
        ends = wave(low, a) + wave(high, a)
        middle = wave(0.5 * (low + high), a)
        quarters = wave(0.75 * low + 0.25 * high, a) + wave(0.25 * low + 0.75 * high, a)
        coarse = width / 6.0 * (ends + 4.0 * middle)
        fine = width / 12.0 * (ends + 2.0 * middle + 4.0 * quarters)
        if abs(fine - coarse) < tol:
            total += fine
        else:
            waiting.append((low, 0.5 * (low + high)))
            waiting.append((0.5 * (low + high), high))
    return total


def wave(x, a):
    return np.sin(a * x * x) * np.exp(-x)


def delay_line(x, feedback, delay):
    """An echo by a ring of the last samples."""
    ring = collections.deque([0.0] * delay, maxlen=delay)
    out = np.zeros_like(x)
    for i, sample in enumerate(x):
        out[i] = sample + feedback * ring[0]
        ring.append(out[i])
    ring.rotate(1)
    ring[1] *= 2.0
    return np.sum(out**2) + ring[0] * ring[1]


def by_cell(positions, charge, width):
    """Charges of particles in cells, summed by pairs of neighbours in the same cell."""
    cells = collections.defaultdict(list)
    loads = collections.defaultdict(float)
    for i in range(len(positions)):
        k = int(positions[i] / width)
        cells[k].append(positions[i])
        loads[k] += charge * positions[i] ** 2
    energy = 0.0
    for k in sorted(cells):
        members = cells[k]
        for i in range(len(members)):
            for j in range(i):
                energy += charge / (abs(members[i] - members[j]) + 0.1)
    for k, load in loads.items():
        energy += load * (k + 1)
    return energy


@dataclasses.dataclass
class Particle:
    """A particle of mass `m` at `x`, moving by `v`."""

    m: float
    x: float
    v: float

    def advance(self, dt):
        self.x += dt * self.v
        self.v -= dt * np.sin(self.x)


def colliding(masses, speed, dt):
    """Particles that enter one by one, leave at the right, and merge with the next when they meet."""
    inside = []
    escaped = 0.0
    for m in masses:
        inside.insert(0, Particle(m, 0.0, speed * (1.0 + m)))
        for p in inside:
            p.advance(dt)
        if len(inside) > 1 and inside[0].x > inside[1].x:
            second = inside.pop(1)
            first = inside[0]
            first.v = (first.m * first.v + second.m * second.v) / (first.m + second.m)
            first.m += second.m
        while len(inside) > 0 and inside[-1].x > 1.0:
            gone = inside.pop()
            escaped += gone.m * gone.v**2
    return escaped + sum(p.m * p.x for p in inside)


def trimmed_average(x, keep):
    """The mean of the largest values by magnitude, in descending order, weighted by rank."""
    values = [v * v - 0.3 * v for v in x]
    values.sort(key=abs, reverse=True)
    total = 0.0
    for rank, v in enumerate(values[:keep]):
        total += v / (rank + 1.0)
    values.sort(reverse=True)
    return total + values[0] * values[-1]


PROGRAMS = [
    Program(adaptive_quadrature, lambda: (2.3, 1e-4), "a"),
    Program(delay_line, lambda: (draw(6, seed=91), 0.6, 2), ("x", "feedback")),
    Program(by_cell, lambda: (draw(6, seed=92, low=0.0, high=2.0), 0.7, 0.8), ("positions", "charge")),
    Program(colliding, lambda: (draw(5, seed=93, low=0.5, high=1.5), 0.9, 0.4), ("masses", "speed")),
    Program(trimmed_average, lambda: (draw(6, seed=94), 3), "x"),
]
