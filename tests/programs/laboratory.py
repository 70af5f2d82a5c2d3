"""What lies in people's folders: whole small studies, as they were written, found by a stranger to the compiler."""

import math
from dataclasses import dataclass

import numpy as np

from tests.programs.case import Program, draw


def bond_on_a_tree(r0, kappa, theta, sigma):
    """A bond in a short-rate tree, by recursion over (time, ups) with a table of what is known."""
    last, dt = 4, 0.5
    memo = {}

    def rate(i, j):
        return theta + (r0 - theta) * math.exp(-kappa * i * dt) + sigma * math.sqrt(dt) * (2 * j - i)

    def price(i, j):
        if i == last:
            return 1.0
        if (i, j) in memo:
            return memo[i, j]
        v = math.exp(-rate(i, j) * dt) * 0.5 * (price(i + 1, j + 1) + price(i + 1, j))
        memo[i, j] = v
        return v

    return price(0, 0)


@dataclass
class Moments:
    """What Adam remembers, by name of the parameter."""

    m: dict
    v: dict
    t: int = 0


def trained_by_adam(params, lr, x, y):
    """The loss after some steps of Adam on parameters of unlike shapes, under their names."""
    state = Moments(m={k: 0.0 * v for k, v in params.items()}, v={k: 0.0 * v for k, v in params.items()})
    params = dict(params)
    for step in range(2):
        err = x @ params["w"] + params["b"] - y
        grads = {"w": 2 * x.T @ err / len(y), "b": 2 * err.mean()}
        state.t += 1
        for name, g in grads.items():
            state.m[name] = 0.9 * state.m[name] + 0.1 * g
            state.v[name] = 0.99 * state.v[name] + 0.01 * g**2
            m, v = state.m[name] / (1 - 0.9**state.t), state.v[name] / (1 - 0.99**state.t)
            params[name] = params[name] - lr * m / (np.sqrt(v) + 1e-3)
    return np.mean((x @ params["w"] + params["b"] - y) ** 2)


class Layer:
    """Keeps what it gave last, for whoever wants to look."""

    def __init__(self, w):
        self.w = w
        self.out = None

    def __call__(self, x):
        self.out = self.w @ x
        return self.out


def kept_activations(w, v, x):
    """A network of layers that remember; the loss looks at an element, and at what a layer kept."""
    first, second = Layer(w), Layer(v)
    logits = second(np.tanh(first(x)))
    z = logits - logits.max()
    return math.log(np.exp(z).sum()) - z[1] + 0.1 * np.sum(first.out**2)


PROGRAMS = (
    Program(bond_on_a_tree, lambda: (0.05, 0.3, 0.06, 0.01), ("r0", "kappa", "theta", "sigma")),
    Program(
        trained_by_adam,
        lambda: ({"w": draw(3, seed=1), "b": 0.1}, 0.05, draw(5, 3, seed=8), draw(5, seed=9)),
        ("params", "lr", "x"),
    ),
    Program(kept_activations, lambda: (draw(4, 3, seed=2), draw(3, 4, seed=3), draw(3, seed=4)), ("w", "v", "x")),
)
