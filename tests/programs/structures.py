"""Parameters that are named tuples, dataclasses, dicts and lists, nested; results of helpers likewise."""

from collections import namedtuple
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tests.programs.case import Program, draw


class Layer(NamedTuple):
    W: np.ndarray
    b: np.ndarray
    name: str


@dataclass
class Body:
    position: np.ndarray
    velocity: np.ndarray
    mass: float
    label: str = ""


@dataclass(frozen=True)
class Oscillator:
    k: float
    steps: int
    start: tuple


Pair = namedtuple("Pair", ["left", "right"])


def of_layers(layers, x):
    for layer in layers:
        x = np.tanh(layer.W @ x + layer.b)
    W, b, name = layers[0]
    return np.sum(x * x) + np.sum(W) * np.sum(b) * len(name)


def kinetic(body):
    p = body.mass * body.velocity
    return np.dot(p, p) / (2.0 * body.mass) + body.mass * body.position[1] * 9.8


def advanced(body, dt):
    """The arrays that the dataclass' attributes hold are written."""
    mass = body.mass
    for _ in range(3):
        body.velocity[1] -= 9.8 * dt
        position = body.position
        position += dt * body.velocity
        mass = mass * (1.0 - dt)
    return kinetic(body) * mass


def oscillated(model):
    x, v = model.start
    for _ in range(model.steps):
        v = v - 0.1 * model.k * x
        x = x + 0.1 * v
    return x * x + v * v


def made_pairs(x, y):
    p = Pair(x * y, right=x - y)
    q = Pair(p.right, p)
    o = Oscillator(q.left, 2, (q.right.left, y))
    return p.left * q.right.right + oscillated(o) + p[0] * q[1][1]


def deep(tree):
    a = tree["pairs"][0].left * tree["pairs"][1].right
    b = tree["body"].mass * tree["lists"][1][0]
    return np.sum(a * b * tree["body"].position) + tree["lists"][0] ** 2


def body():
    return Body(draw(2, seed=1), draw(2, seed=2), 1.4, "stone")


PROGRAMS = [
    Program(
        of_layers,
        lambda: (
            [Layer(draw(2, 3, seed=3), draw(2, seed=4), "in"), Layer(draw(2, 2, seed=5), draw(2, seed=6), "out")],
            draw(3, seed=7),
        ),
        ("layers", "x"),
    ),
    Program(kinetic, lambda: (body(),), "body"),
    Program(advanced, lambda: (body(), 0.1), ("body", "dt")),
    Program(oscillated, lambda: (Oscillator(1.7, 4, (0.8, -0.2)),), "model"),
    Program(made_pairs, lambda: (0.9, 1.6), ("x", "y")),
    Program(
        deep,
        lambda: (
            {
                "pairs": (Pair(0.8, 2), Pair("no number", draw(2, seed=8))),
                "lists": [0.3, [1.2, 7]],
                "body": body(),
            },
        ),
        "tree",
    ),
]
