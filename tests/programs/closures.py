"""What is read from outside: closures, globals, attributes, aliases of modules."""

import math as numbers_only

import numpy as np
import numpy as numerics
from numpy import sin as s

from tests.programs.case import Program, draw

TABLE = np.array([0.5, 1.5, -0.7])
SETTINGS = {"rate": 0.3, "trips": 3, "shape": (3,)}
FACTORS = [1.5, 0.5]
log = numbers_only.exp  # a name that says something else than the object it holds


def from_globals(x):
    y = numerics.zeros(SETTINGS["shape"])
    for k in range(SETTINGS["trips"]):
        y[k] = TABLE[k] * s(x[k]) + SETTINGS["rate"] * x[k - 1]
    return numerics.sum(y * y * TABLE) * FACTORS[0]


def misnamed(x):
    return log(x) * numbers_only.cos(x) + log(-x)


def with_data(gain, basis):
    def response(x):
        z = basis @ x
        return gain * np.sum(z * z) + np.sum(basis)

    return response


class Spring:
    """A plain class whose method reads attributes."""

    damping = 0.3

    def __init__(self, stiffness, rest):
        self.stiffness = stiffness
        self.rest = rest

    def energy(self, x):
        stretch = x - self.rest
        return 0.5 * self.stiffness * stretch * stretch + self.damping * self.bend(x)

    def bend(self, x):
        return x**3


SPRING = Spring(2.5, 0.4)


def of_a_spring(x):
    return SPRING.energy(x) + SPRING.bend(SPRING.stiffness * x)


def of_an_argument(spring, x):
    return spring.energy(x) * spring.rest + spring.energy(x * x)


def make_power(n):
    def power(x):
        return x**n

    return power


cube = make_power(3)
fifth = make_power(5)


def two_of_one_make(x):
    """Two functions of one text, with different cells."""
    return cube(x) * fifth(x) + cube(fifth(x))


def global_switch(x):
    if SETTINGS["rate"] > 0.2:
        return x * numerics.tanh(x) * len(TABLE)
    return x


def of_comprehensions(x):
    """Each comprehension has variables of its own, which the functions made in it keep."""
    last = [lambda: x[k] * k for k in range(3)]
    others = [lambda: x[k] for k in range(2)]
    first = [x[k] for k in range(2)]
    return last[0]() * others[0]() * first[0]


def of_a_comprehension_in_a_loop(x):
    """It has other variables each time that it is evaluated."""
    total = 1.0
    kept = []
    for n in range(1, 4):
        made = [lambda: x[k] * (k + 1) * m for k in range(n) for m in (2.0, x[n - 1])]
        kept.append(made[0])
        total = total * made[0]() + kept[n // 2]()
    return total


closed = with_data(0.7, draw(2, 3, seed=1))
bound = SPRING.energy

PROGRAMS = [
    Program(from_globals, lambda: (draw(3, seed=2),), "x"),
    Program(misnamed, lambda: (0.7,), "x"),
    Program(closed, lambda: (draw(3, seed=3),), "x"),
    Program(of_a_spring, lambda: (0.9,), "x"),
    Program(of_an_argument, lambda: (Spring(1.5, 0.2), 0.8), "x"),
    Program(bound, lambda: (0.9,), "x"),
    Program(two_of_one_make, lambda: (1.1,), "x"),
    Program(global_switch, lambda: (0.6,), "x"),
    Program(of_comprehensions, lambda: (draw(3, seed=5),), "x"),
    Program(of_a_comprehension_in_a_loop, lambda: (draw(3, seed=6),), "x"),
]
