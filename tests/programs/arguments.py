"""Arguments of every form: starred, named, gathered, by position only, by name only; starred displays and targets."""

import math

import numpy as np

from tests.programs.case import Program, draw


def decay(t, height, rate, floor):
    return height * np.exp(-rate * t) + floor


def misfit(p, t, y):
    """A model with its parameters in one array, as curve fitting passes them."""
    r = decay(t, *p) - y
    return np.sum(r * r)


def gaussians(x, *peaks, base=0.0, **shape):
    total = base
    for height, place in peaks:
        total = total + height * math.exp(-((x - place) ** 2) * shape["sharp"])
    return total


def spectrum(x, height):
    s = 0.0
    for k in range(3):
        s += gaussians(x, (height, 0.2 * k), (1.0, x * height), sharp=1.5 + k, unused=height)
    return s * gaussians(x, base=height, sharp=2.0)


def traced(fn):
    """A decorator as people write it."""

    def wrapper(*args, **kwargs):
        return 1.5 * fn(*args, **kwargs)

    return wrapper


@traced
def force(x, v, *, stiffness=2.0, drag=0.1):
    return -stiffness * x - drag * v * abs(v)


def swings(x, v, drag):
    options = {"stiffness": 3.0, "drag": drag}
    state = (x, v)
    for _ in range(5):
        a = force(*state, **options)
        x, v = x + 0.1 * v, v + 0.1 * a
        state = (x, v)
    return x * x + v * v


def power_mean(a, b, /, p, *, weight=0.5, **more):
    return (weight * a**p + (1.0 - weight) * b**p) ** (1.0 / p) * (1.0 + len(more))


def by_position(a, b):
    return power_mean(a, b, 3.0, weight=b, a=2.0) + power_mean(b, a, p=2.0)


def horner(first, *rest):
    value = first
    for c in rest:
        value = value * 0.7 + c
    return value


def polynomials(c):
    head, *tail = c
    s = horner(head, *[head * head, tail[1]])
    *front, last = (head, *(tail[0], tail[2]), s)
    for a, *others in [(head, 1.0, s), (last, head, 2.0)]:
        s = s + a * others[0] * sum(others)
    return s * horner(*front) + last


def settings(x, y):
    base = {"gain": x, "offset": 1.0}
    more = {**base, "offset": y, **{"slope": x * y}}
    last = dict(more, gain=2.0 * x)
    last.update(base, extra=y)
    both = base | {"gain": y}
    return last["gain"] * more["offset"] + last["slope"] * both["gain"] + last["extra"] * len(last)


def many(*terms, scale=1.0, **named):
    s = 0.0
    for term in terms:
        s = s + scale * term * term
    for name in ("a", "b"):
        s = s * named[name]
    return s


def gathered_arguments(x, y):
    return many(x, y, 2.0, x * y, scale=y, b=x, a=1.5)


PROGRAMS = [
    Program(misfit, lambda: (draw(3, seed=1, low=0.5), np.linspace(0.0, 2.0, 4), draw(4, seed=2)), ("p", "y")),
    Program(spectrum, lambda: (0.4, 1.3), ("x", "height")),
    Program(swings, lambda: (0.8, -0.3, 0.2), ("x", "v", "drag")),
    Program(by_position, lambda: (0.9, 1.2), ("a", "b")),
    Program(polynomials, lambda: (draw(5, seed=3, low=0.3, high=1.0),), "c"),
    Program(settings, lambda: (0.7, 1.4), ("x", "y")),
    Program(gathered_arguments, lambda: (0.7, 1.4), ("x", "y")),
]
