"""Helpers of this module and of others."""

import numpy as np

from tests.programs import support
from tests.programs.case import Program, draw
from tests.programs.support import middle, relax, squash


def blend(x, y, t=0.25, power=2):
    return (1.0 - t) * x**power + t * y


def defaults(x, y):
    return blend(x, y) * blend(y, x, power=3) + blend(t=x, y=1.0, x=y) + squash(x, shift=y) * squash(y, 2.0)


def settle(b, w, tol):
    """A helper that writes into its argument, and a loop that ends when it has converged."""
    x = np.zeros_like(b)
    for n in range(500):
        if relax(x, b, w) < tol:
            break
    return np.mean(x)


def pushed(a, k, v):
    a[k] = a[k] * v
    a[k - 1] += v


def writes_below(a, v):
    for k in range(len(a)):
        pushed(a, k, v)
        v = v * a[k]
    pushed(a[1:], 0, v)
    return np.sum(a * a)


def returns_views(a, s):
    m = middle(a)
    m[0] = s * a[0]
    middle(m)[:] = m[1:-1] * m[0]
    head = heads(a)
    head *= m[1]
    return np.sum(a**3)


def heads(a):
    if a[0] > 100.0:
        return a
    return a[:2]


def same(a):
    return a


def itself(a):
    """A helper that gives its argument back."""
    b = same(a)
    b[0] = a[1] * a[0]
    c = same(same(b))
    c[1] += b[0]
    return np.sum(a * b * c)


def mixed_into(a, b):
    a[0] = b[1] * b[1]
    b[2] = a[0] * a[2]
    return a[1] * b[0]


def one_array_twice(x):
    """Both parameters of the helper are one array."""
    s = mixed_into(x, x)
    t = mixed_into(x, x[::-1])
    return np.sum(x * x) + s * t


def split(x):
    return x[0] * x[1], np.cos(x), {"norm": np.dot(x, x)}


def several_results(x):
    p, c, rest = split(x)
    q = split(c)[0]
    return p * np.sum(c) + q * rest["norm"]


def called_with(f, x, n):
    for _ in range(n):
        x = f(x)
    return x


def shrink(x):
    return x * 0.9 + 0.1 * x * x


def function_argument(x):
    return called_with(shrink, x, 3) + called_with(squash, x, 2) * called_with(np.sin, x, 2)


def found(a, limit):
    for i in range(len(a)):
        if a[i] > limit:
            return a[i] * i
        if a[i] < -limit:
            continue
        a[i] = a[i] * 2.0
    return 0.0


def early_helpers(a):
    x = found(a, 0.5)
    y = found(a, 0.5)
    return x * y + np.sum(a * a)


def through_a_module(v):
    return support.weighted(v) * support.SCALE + support.squash(v[0])


def fresh(n, s):
    out = np.zeros(n)
    out[0] = s
    return out


def made_below(s):
    """A helper makes the storage that its caller writes."""
    a = fresh(3, s)
    b = fresh(3, a[0] * s)
    a[1:] = b[:2] * s
    b[2] = a[1] ** 2
    return np.sum(a * a) + np.sum(b**3)


PROGRAMS = [
    Program(defaults, lambda: (0.8, 1.3), ("x", "y")),
    Program(settle, lambda: (draw(3, seed=1, low=0.2, high=0.8), 0.9, 1e-13), "b"),
    Program(writes_below, lambda: (draw(3, seed=2), 0.9), ("a", "v")),
    Program(returns_views, lambda: (draw(6, seed=3), 1.2), ("a", "s")),
    Program(itself, lambda: (draw(3, seed=4),), "a"),
    Program(one_array_twice, lambda: (draw(3, seed=5),), "x"),
    Program(several_results, lambda: (draw(3, seed=6),), "x"),
    Program(function_argument, lambda: (0.7,), "x"),
    Program(early_helpers, lambda: (np.array([0.3, -0.8, 0.4, 0.7]),), "a"),
    Program(through_a_module, lambda: (draw(3, seed=7),), "v"),
    Program(made_below, lambda: (0.8,), "s"),
]
