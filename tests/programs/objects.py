"""Objects as people write them: made, called, asked for properties, written by their methods, added and multiplied."""

import enum
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tests.programs.case import Program, draw


class Particle:
    """State that a method advances."""

    def __init__(self, x, v, mass=1.0):
        self.x = x
        self.v = v
        self.mass = mass
        self.start = 0.5 * mass * v * v

    def step(self, dt, k):
        a = -k * self.x / self.mass
        self.v = self.v + dt * a
        self.x += dt * self.v
        self.steps = self.steps + 1 if hasattr(self, "steps") else 1

    @property
    def energy(self):
        return 0.5 * self.mass * self.v**2 + 0.5 * self.x**2

    @energy.setter
    def energy(self, value):
        self.v = value * 2.0

    @classmethod
    def at_rest(cls, x):
        return cls(x, 0.0)


def springs(x, k):
    p = Particle(x, 1.0)
    q = Particle.at_rest(x * x)
    for _ in range(4):
        p.step(0.1, k)
        q.step(0.1, p.x)
    q.energy = p.x
    return p.energy * q.energy + q.x + p.start * p.steps


class Layer:
    def __init__(self, w, b, activation=np.tanh):
        self.w, self.b = w, b
        self.activation = activation
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return self.activation(self.w @ x + self.b)

    def __len__(self):
        return len(self.b)


class Scaled(Layer):
    def __init__(self, w, b, gain):
        super().__init__(2.0 * w, b)
        self.gain = gain

    def __call__(self, x):
        return super().__call__(x) * self.gain


def network(w, b, gain):
    layers = [Layer(w, b), Layer(0.5 * w, np.zeros(2))]
    last = Scaled(w, b, gain)
    h = np.array([0.3, 0.7])
    for layer in layers:
        h = layer(h)
    h = last(h)
    return np.sum(h * h) * layers[0].calls * len(last)


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        if isinstance(other, Vector):
            return Vector(self.x + other.x, self.y + other.y)
        return Vector(self.x + other, self.y + other)

    def __radd__(self, other):
        return self + other

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __sub__(self, other):
        return self + -other

    def __mul__(self, other):
        if isinstance(other, Vector):
            return self.x * other.x + self.y * other.y
        if not isinstance(other, float):
            return NotImplemented
        return Vector(self.x * other, self.y * other)

    __rmul__ = __mul__

    def __getitem__(self, i):
        return self.x if i == 0 else self.y

    def __setitem__(self, i, value):
        if i == 0:
            self.x = value
        else:
            self.y = value

    def __abs__(self):
        return math.sqrt(self * self)

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self


def orbit(x, y):
    a = Vector(x, y)
    c = a + Vector(2.0, x * y) * x - 0.5 * a
    c[0] = c[1] * x
    c[1] += y
    d = 2.0 + c
    s = 0.0
    for i in range(2):
        s += d[i] * a[i]
    if a < d:
        s = s * abs(d)
    a += d
    return s + a * d


@dataclass
class Schedule:
    rate: float
    steps: int = 3
    history: list = field(default_factory=list)
    scale: float = field(default=2.0, init=False)

    def __post_init__(self):
        self.scale = 2.0 * self.rate

    def run(self, x):
        for _ in range(self.steps):
            x = x - self.rate * x * self.scale
            self.history.append(x)
        return x


def descended(x, rate):
    short = Schedule(0.2, steps=2, history=[x])
    y = Schedule(rate).run(x) * short.run(x)
    return y + sum(short.history) * short.history[1]


class Statistics:
    """A running mean and variance (Welford), with methods that return the object."""

    def __init__(self):
        self.n = 0
        self.mean = 0.0
        self.squares = 0.0
        self.seen = []

    def add(self, value):
        self.n += 1
        delta = value - self.mean
        self.mean += delta / self.n
        self.squares += delta * (value - self.mean)
        self.seen.append(value)
        return self

    def variance(self):
        return self.squares / (self.n - 1)


def running_moments(data):
    s = Statistics().add(data[0]).add(data[1] * data[2])
    for value in data:
        s.add(value)
    return s.variance() * s.mean + s.seen[1] * s.seen[-1]


class Kernel(enum.Enum):
    GAUSS = 1.5
    CAUCHY = "c"


class Model:
    kernel = Kernel.GAUSS
    width = 0.7

    def __init__(self, weights):
        self.weights = weights

    def value(self, r):
        if self.kernel is Kernel.GAUSS:
            return np.exp(-r * r * self.kernel.value / self.width)
        return 1.0 / (1.0 + r * r)

    def __call__(self, x, centres):
        return sum(w * self.value(x - c) for w, c in zip(self.weights, centres))


class Sharper(Model):
    kernel = Kernel.CAUCHY

    def value(self, r):
        return super().value(r) + Model.value(self, 2.0 * r) * self.width


def interpolated(model, x):
    """The model is an argument, and the gradient an object of its class."""
    return model(x, [0.1, 0.4]) * Sharper(model.weights)(x, [0.2, 0.3]) * model.weights[0]


class Span(NamedTuple):
    low: float
    high: float = 3.0

    def width(self):
        return self.high - self.low

    def __and__(self, other):
        return Span(max(self.low, other.low), min(self.high, other.high))


def overlap(x, y):
    return (Span(x) & Span(high=y, low=0.1)).width() * Span(x, y).width()


class Tank:
    """Arrays as attributes, written in place and bound anew."""

    def __init__(self, levels):
        self.levels = levels
        self.flows = np.zeros(len(levels) - 1)

    def advance(self, c, dt):
        for i in range(len(self.flows)):
            self.flows[i] = c * (self.levels[i] - self.levels[i + 1])
        self.levels[:-1] -= dt * self.flows
        self.levels[1:] += dt * self.flows
        self.levels = self.levels * (1.0 - dt * c)


def drained(levels, c):
    tank = Tank(levels)
    for _ in range(3):
        tank.advance(c, 0.1)
    return np.sum(tank.levels**2) + np.sum(tank.flows)


class Book:
    """Bids, the best first; what is sold is matched with them."""

    def __init__(self):
        self.bids = []
        self.last = None
        self.volume = 0.0

    def add(self, price, size):
        k = 0
        while k < len(self.bids) and self.bids[k][0] > price:
            k += 1
        self.bids.insert(k, [price, size])

    def sell(self, size):
        paid = 0.0
        while size > 0.0 and self.bids:
            best = self.bids[0]
            traded = min(size, best[1])
            paid += traded * best[0]
            best[1] -= traded
            size -= traded
            self.volume += traded
            self.last = best[0]
            if best[1] <= 1e-12:
                self.bids.pop(0)
        return paid


def matched_orders(prices, sizes, orders):
    book = Book()
    window = []
    total = 0.0
    for price, size, order in zip(prices, sizes, orders):
        book.add(price, size)
        total += book.sell(order)
        if book.last is not None:
            window.append(book.last)
        if len(window) > 3:
            window.pop(0)
    return total + sum(window) / max(len(window), 1) * book.volume


def _orders():
    return 10.0 + draw(5, seed=6), 1.5 + 0.5 * draw(5, seed=7), 1.2 + 0.7 * draw(5, seed=8)


class Dense:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def forward(self, x):
        return x @ self.w + self.b


class Standardised:
    """Normalises a batch, and keeps a running mean."""

    eps = 1e-3

    def __init__(self, width, momentum=0.9):
        self.mean = np.zeros(width)
        self.momentum = momentum

    def forward(self, x):
        mean = x.mean(axis=0)
        self.mean *= self.momentum
        self.mean += (1.0 - self.momentum) * mean
        return (x - mean) / np.sqrt(x.var(axis=0) + self.eps)


class Swish:
    def forward(self, x):
        return x / (1.0 + np.exp(-x))


class Sequential:
    def __init__(self, *layers):
        self.layers = list(layers)

    def __call__(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x


def of_unlike_layers(w, v, x):
    """A network of layers of different classes; a penalty for those that have weights."""
    net = Sequential(Dense(w, np.zeros(2)), Standardised(2), Swish(), Dense(v, np.ones(1)))
    out = net(x)
    penalty = sum(np.sum(layer.w**2) for layer in net.layers if hasattr(layer, "w"))
    momentum = sum(getattr(layer, "momentum", 0.0) for layer in net.layers)
    return np.sum(out**2) + 0.1 * momentum * penalty + np.sum(net.layers[1].mean)


PROGRAMS = [
    Program(of_unlike_layers, lambda: (draw(3, 2, seed=6), draw(2, 1, seed=7), draw(3, 3, seed=8)), ("w", "v")),
    Program(springs, lambda: (0.8, 1.7), ("x", "k")),
    Program(network, lambda: (draw(2, 2, seed=1), draw(2, seed=2), 1.3), ("w", "b", "gain")),
    Program(orbit, lambda: (0.7, 1.2), ("x", "y")),
    Program(descended, lambda: (1.3, 0.1), ("x", "rate")),
    Program(running_moments, lambda: (draw(4, seed=3),), "data"),
    Program(interpolated, lambda: (Model(draw(2, seed=4)), 0.6), ("model", "x")),
    Program(overlap, lambda: (0.7, 1.9), ("x", "y")),
    Program(drained, lambda: (draw(4, seed=5), 0.9), ("levels", "c")),
    Program(matched_orders, _orders, ("prices", "sizes", "orders")),
]
