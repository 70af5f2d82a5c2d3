"""Copies of containers, objects and records, written afterwards."""

import copy
from dataclasses import dataclass, field, replace

import numpy as np

from tests.programs.case import Program, draw


class Body:
    def __init__(self, place, mass):
        self.place = place
        self.mass = mass


def trial_step(place, mass, dt):
    """A step that is kept only if it lowers the energy: the state before it is a deep copy."""
    body = Body(place.copy(), mass)
    for k in range(3):
        before = copy.deepcopy(body)
        shared = copy.copy(body)
        body.place *= 1.0 - dt * (k + 1)
        body.mass = body.mass * 1.1
        if np.sum(body.place) < 0.9 * np.sum(before.place):
            body = before
        else:
            shared.place[0] += dt * shared.mass
    return np.sum(body.place**2) * body.mass


def snapshots(u, rate):
    history = []
    v = u.copy()
    for _ in range(3):
        v *= 1.1 + rate * v[0]
        history.append(copy.deepcopy(v))
    kept = copy.deepcopy(history)
    kept.append(v * rate)
    kept[0][0] *= rate
    return sum(np.sum(h * history[0]) for h in kept)


@dataclass(frozen=True)
class Setting:
    stiffness: float
    damping: float = 0.5
    loads: list = field(default_factory=list)


def varied_setting(x, y):
    first = Setting(x)
    second = replace(first, damping=x * y)
    third = replace(second, stiffness=second.stiffness * 2.0, loads=[y, x])
    return first.stiffness * second.damping + third.stiffness * third.damping * sum(third.loads) + len(first.loads)


PROGRAMS = [
    Program(trial_step, lambda: (draw(3, seed=1) + 2.0, 0.7, 0.03), ("place", "mass", "dt")),
    Program(snapshots, lambda: (draw(2, seed=2), 0.4), ("u", "rate")),
    Program(varied_setting, lambda: (0.7, 1.2), ("x", "y")),
]
