"""What lies in people's folders: whole small studies, as they were written, found by a stranger to the compiler."""

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

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
            params[name] = params[name] - lr * m / (np.sqrt(v) + 0.1)
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


class Bar(NamedTuple):
    """A bar of a truss between two joints."""

    i: int
    j: int
    area: float


def bent_truss(bars, xy, load):
    """Stiffness assembled bar by bar; the work of the load on the joints that are free."""
    stiffness = np.zeros((8, 8))
    for bar in bars:
        d = xy[bar.j] - xy[bar.i]
        length = np.hypot(*d)
        c, s = (v / length for v in d)
        t = np.array([-c, -s, c, s])
        dof = np.array([2 * bar.i, 2 * bar.i + 1, 2 * bar.j, 2 * bar.j + 1])
        stiffness[dof[:, None], dof] += bar.area / length * np.outer(t, t)
    free = [d for d in range(8) if d not in (0, 1, 3)]
    force = np.r_[np.zeros(4), 0, 0, load]
    moved = np.linalg.solve(stiffness[np.ix_(free, free)] + 1e-3 * np.eye(5), force[free])
    return force[free] @ moved


class State(NamedTuple):
    """Shares of the susceptible, the infected and the recovered."""

    s: float
    i: float
    r: float


def epidemic(beta, gamma, days):
    """Steps of a named tuple, each made of all its fields by a generator."""

    def slope(state, day):
        rate = beta * (1.0 if day < 3 else 0.4) * state.s * state.i
        return State(-rate, rate - gamma * state.i, gamma * state.i)

    state = State(0.95, 0.05, 0.0)
    peak = 0.0
    for day in range(days):
        state = State(*(x + dx for x, dx in zip(state, slope(state, day), strict=True)))
        peak = max(peak, state.i)
    return peak + state.r**2


def spot(centre, width, tilt):
    """A spot of light on a grid of pixels, and what pairs and triples of pixels see of it."""
    ys, xs = np.mgrid[0:4, 0:3]
    down, across = np.ogrid[-1:1:4j, :3]
    image = np.exp(-((xs - centre[0]) ** 2 + (ys - centre[1]) ** 2) / width) + tilt * down * across**2
    corners = np.c_[centre, centre**2]
    total = sum(image[i, j] * image[j, i] for i, j in itertools.product(range(3), repeat=2))
    for a, b, c in itertools.combinations(image[:, 1], 3):
        total += a * b * c
    return total + np.sum(corners[0] * np.r_[1:3] * corners[1])


def ranked_pages(damping, weight):
    """Ranks of pages by name, spread along links; the loss is about the first and the last by name."""
    links = {"a": ["b", "c"], "b": ["c"], "c": ["a"], "d": ["c", "a", "b"]}
    rank = dict.fromkeys(links, 1 / len(links))
    for _ in range(3):
        new = {page: (1 - damping) / len(links) for page in links}
        for page, targets in links.items():
            total = sum(weight[each] for each in targets)
            for each in targets:
                new[each] += damping * rank[page] * weight[each] / total
        rank = new
    return rank[min(rank)] ** 2 + math.log(rank[max(rank)])


def alignments(logits):
    """The logarithm of the sum over all alignments of a text with a signal, in a table of logarithms."""
    logp = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    extended = [0]
    for label in [1, 2, 2]:
        extended += [label, 0]
    alpha = np.full((len(logits), len(extended)), -1e30)
    alpha[0, :2] = logp[0, 0], logp[0, extended[1]]
    for t in range(1, len(logits)):
        for s in range(len(extended))[::-1]:
            terms = [alpha[t - 1, s]]
            if s >= 1:
                terms.append(alpha[t - 1, s - 1])
            if s >= 2 and extended[s] != 0 and extended[s] != extended[s - 2]:
                terms.append(alpha[t - 1, s - 2])
            alpha[t, s] = np.logaddexp.reduce(terms) + logp[t, extended[s]]
    return -np.logaddexp(alpha[-1, -1], alpha[-1, -2])


def summed_over_axes(x):
    """Shapes and axes that are put together item by item."""
    sizes, axes = [], []
    for axis, n in enumerate(x.shape):
        sizes.insert(0, n)
        axes.append(axis)
    turned = np.reshape(x, tuple(sizes))
    return np.sum(turned @ x, axis=tuple(axes)) ** 2 + np.sum(np.zeros(sizes) + turned**3)


class Scaled:
    """A layer that multiplies."""

    def __init__(self, w):
        self.w = w
        self.calls = 1.0

    def bump(self, k):
        self.calls *= k
        return self.calls

    def __call__(self, x):
        self.calls += self.bump(1.5)
        return x * self.w


class Waved:
    """A layer of another class, with other parameters."""

    def __init__(self, k, shift):
        self.k, self.shift = k, shift

    def __call__(self, x):
        return np.sin(x * self.k) + self.shift


def named_layers(params, x):
    """Unlike layers under their names, and the norm of unlike parameters, by recursion over what holds them."""

    def squares(tree):
        if isinstance(tree, dict):
            return sum(squares(part) for part in tree.values())
        if isinstance(tree, (list, tuple)):
            return sum(squares(part) for part in tree)
        return np.sum(np.square(tree))

    layers = {"in": Scaled(params["w"]), "mid": Waved(*params["wave"]), "out": Scaled(params["inner"]["s"])}
    for layer in layers.values():
        x = layer(x)
    return np.sum(x**2) + 0.1 * squares(params) * layers["in"].calls


PROGRAMS = (
    Program(bond_on_a_tree, lambda: (0.05, 0.3, 0.06, 0.01), ("r0", "kappa", "theta", "sigma")),
    Program(
        trained_by_adam,
        lambda: ({"w": draw(3, seed=1), "b": 0.1}, 0.05, draw(5, 3, seed=8), draw(5, seed=9)),
        ("params", "lr", "x"),
    ),
    Program(kept_activations, lambda: (draw(4, 3, seed=2), draw(3, 4, seed=3), draw(3, seed=4)), ("w", "v", "x")),
    Program(
        bent_truss,
        lambda: (
            [Bar(0, 1, 1.0), Bar(1, 2, 1.2), Bar(0, 2, 0.9), Bar(2, 3, 1.1), Bar(1, 3, 1.0)],
            np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 1.0], [1.5, 1.0]]),
            np.array([1.0, -2.0]),
        ),
        ("bars", "xy", "load"),
    ),
    Program(epidemic, lambda: (0.9, 0.3, 6), ("beta", "gamma")),
    Program(spot, lambda: (np.array([1.2, 1.7]), 2.5, 0.3), ("centre", "width", "tilt")),
    Program(ranked_pages, lambda: (0.85, {"a": 1.0, "b": 2.0, "c": 1.5, "d": 0.5}), ("damping", "weight")),
    Program(alignments, lambda: (draw(5, 3, seed=5),), "logits"),
    Program(summed_over_axes, lambda: (draw(2, 3, seed=6),), "x"),
    Program(
        named_layers,
        lambda: ({"w": draw(3, seed=7), "wave": [0.7, 0.2], "inner": {"s": 1.3}}, draw(3, seed=8)),
        ("params", "x"),
    ),
)
