"""Dicts as programs use them: iterated, asked, updated, made by comprehensions."""

import numpy as np

from tests.programs.case import Program, draw


def penalty(params):
    """Every entry, in order, with a weight by its place."""
    total = 0.0
    weight = 1.0
    for name, p in params.items():
        total += weight * np.sum(p * p)
        weight = weight * (0.5 if name == "w" else 2.0)
    return total


def step(params, slopes, rate):
    """Gradient descent over a dict of arrays."""
    for _ in range(2):
        params = {name: p - rate * slopes[name] * p for name, p in params.items()}
    return sum(np.sum(p * p) for p in params.values())


def in_place(params, rate):
    for name in params:
        params[name] = params[name] * rate
    for name in list(params.keys()):
        params[name + "_old"] = params[name] ** 2
    total = 0.0
    for value in params.values():
        total += np.sin(value)
    return total * len(params)


def histogram(values, width):
    """Sums by bin, the bins in the order in which they are met."""
    bins = {}
    for v in values:
        key = int(v // width)
        bins[key] = bins.get(key, 0.0) + v * v
    total = 0.0
    for place, (key, s) in enumerate(bins.items()):
        total += (place + 1.0) * np.sin(s)
    return total


def options(x, config):
    scale = config.get("scale", 1.0)
    shift = config.get("shift", 0.5 * x)
    power = config.setdefault("power", x)
    last = config.pop("last") * config.pop("missing", x)
    return scale * x + shift * power + last * len(config)


def updated(x):
    d = dict(a=x, b=2.0)
    d.update(b=x * x)
    d.update({"c": d["a"] * d["b"]})
    d.update(zip(["e", "f"], [x, 0.5]))
    d |= {"a": x + 1.0}
    e = {**d, "g": d["e"] * x} | {"f": x}
    return sum(e.values()) * e["a"] * len(e)


def popped(x, n):
    """A stack of entries."""
    d = {}
    for k in range(n):
        d[k] = x * (k + 1.0)
    total = 0.0
    while d:
        key, value = d.popitem()
        total += value * value * key
    d[7] = total
    copy = d.copy()
    d.clear()
    return copy[7] * (1.0 + len(d))


def graph(edges, x):
    """Paths through a graph that is a dict of lists."""
    reach = {0: x}
    for node, nexts in edges.items():
        for other in nexts:
            if other not in reach:
                reach[other] = 0.0
            reach[other] += reach[node] * (1.0 + 0.1 * other)
    return reach[max(reach)] * sum(reach.values())


def arrays_by_name(a):
    parts = {"left": a[:2], "right": a[1:]}
    for name, part in parts.items():
        part[0] = part[1] * (2.0 if name == "left" else 3.0)
    merged = {**parts, "sum": parts["left"] + parts["right"]}
    return np.sum(merged["sum"] ** 2) + sum(np.sum(p) for p in merged.values())


def either(x, flag):
    """Two dicts with other keys, in another order."""
    d = {"a": x, "b": x * x} if flag > 0.0 else {"b": x, "a": 2.0, "c": x * 3.0}
    total = 0.0
    for key, value in d.items():
        total = total * 0.5 + value * value
    return total + ("c" in d) * x


PROGRAMS = [
    Program(penalty, lambda: ({"w": draw(3, seed=1), "b": draw(3, seed=2), "c": draw(3, seed=3)},), "params"),
    Program(
        step, lambda: ({"w": draw(2, seed=1), "b": draw(2, seed=2)}, {"w": draw(2, seed=4), "b": 0.5}, 0.1), "params"
    ),
    Program(in_place, lambda: ({"a": 0.3, "b": 0.7}, 1.3), ("params", "rate")),
    Program(histogram, lambda: ([0.3, 1.4, 0.6, 2.2, 1.1], 1.0), "values"),
    Program(options, lambda: (0.7, {"scale": 1.2, "last": 0.4}), ("x", "config")),
    Program(updated, lambda: (0.7,), "x"),
    Program(popped, lambda: (0.7, 3), "x"),
    Program(graph, lambda: ({0: [1, 2], 1: [2, 3], 2: [3]}, 0.8), "x"),
    Program(arrays_by_name, lambda: (draw(3, seed=6),), "a"),
    Program(either, lambda: (0.7, -1.0), "x"),
]
