"""Loops: ranges, arrays, lists, `while`, `break`, `continue`, what a loop leaves behind."""

import math

import numpy as np

from tests.programs.case import Program, draw


def newton_root(a):
    x = a
    step = 1.0
    while abs(step) > 1e-10:
        step = (x * x - a) / (2.0 * x)
        x = x - step
    return x * x * x


def bisected(lo, hi):
    """The path of the interval is fixed near these ends, so the result is linear in them, its square is not."""
    for k in range(5):
        mid = 0.5 * (lo + hi)
        if mid * mid * mid > 3.0:
            hi = mid
        else:
            lo = mid
    return (lo + hi) ** 2


def after_the_loop(x):
    """The loop's variable and a name bound in the body, used after it."""
    for i in range(20):
        y = x * i
        if y > 5.0:
            break
    return y**2 * i + x


def growing_total(a, b):
    """`total` starts as a number and becomes an array."""
    total = 0.0
    for k in range(3):
        total += a * b**k
    return np.sum(total * total)


def growing_shape(v, w):
    """(1,) becomes (3,) in a loop."""
    start = v
    for k in range(3):
        v = v * w + start
    return np.sum(v * v)


def strides_of_ranges(x, n):
    total = 0.0
    for i in range(n - 1, 0, -2):
        total += x[i] * x[i - 1]
    for j in range(1, n, 3):
        total *= 1.0 + x[j] * j
    for k in range(5, 2):
        total = 0.0
    return total


def skipping(x):
    total = 1.0
    for i in range(len(x)):
        if x[i] < 0.0:
            continue
        for j in range(i):
            if j % 2 == 0:
                continue
            if x[j] > 0.8:
                break
            total = total + x[i] * x[j]
        total = total * (1.0 + 0.1 * x[i])
    return total


def escape(cr, ci):
    """A smooth count of the trips until a point of the Mandelbrot iteration escapes."""
    zr = 0.0
    zi = 0.0
    n = 0
    while True:
        zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
        n += 1
        if zr * zr + zi * zi > 16.0 or n > 50:
            break
    return n + 1.0 - math.log(math.log(zr * zr + zi * zi) / 2.0) / math.log(2.0)


def logistic_map(x, r):
    for _ in range(12):
        x = r * x * (1.0 - x)
    return x


def shrinking(x):
    n = 0
    while x > 1.0:
        x = x / 1.7 + 0.01 * x * x / (1.0 + x)
        n += 1
    return n * x * x


def iterables(x, pair, items):
    total = 0.0
    for v in x:
        total += v * v
    for v in pair:
        total *= v
    for k, v in enumerate(items):
        total += k * v * v
    for a, b in zip(x, items):
        total += a * b * b
    for k, (a, b) in enumerate(zip(reversed(items), x), 1):
        total -= a * b / k
    for v in reversed(x):
        total = total * 0.9 + math.sin(v)
    return total


def taken_names(x, n):
    """A loop takes over a parameter's name, rebinds its variable and its bound."""
    total = 0.0
    first = x[0]
    for i in range(n):
        n = n - 1
        i = (2 * i + 1) % len(x)
        total += x[i] * n
    for x in (first, total):
        total = total * x
    return total + x


def power_iteration(A, v):
    """The loop ends by `break` when it has converged."""
    value = 0.0
    for n in range(200):
        w = A @ v
        new = np.sqrt(np.dot(w, w))
        v = w / new
        if n > 60 and abs(new - value) < 1e-13:
            break
        value = new
    return new


def fixed_number(x, tol):
    """A `while` with two conditions, a `continue` and a `break`."""
    n = 0
    total = 0.0
    while n < 40 and abs(x) > tol:
        n += 1
        if n % 3 == 0:
            x = 0.8 * x
            continue
        x = x * math.cos(x)
        total = total + x * x
        if total > 1.5:
            break
    return total * x


PROGRAMS = [
    Program(newton_root, lambda: (2.3,), "a"),
    Program(bisected, lambda: (0.9, 2.1), ("lo", "hi")),
    Program(after_the_loop, lambda: (0.83,), "x"),
    Program(growing_total, lambda: (draw(3, seed=1), 0.7), ("a", "b")),
    Program(growing_shape, lambda: (np.array([0.4]), np.array([0.5, -0.6, 0.9])), ("v", "w")),
    Program(strides_of_ranges, lambda: (draw(7, seed=2), 7), "x"),
    Program(skipping, lambda: (np.array([0.3, 0.9, -0.4, 0.6, 0.5, 0.2]),), "x"),
    Program(escape, lambda: (0.6, 0.5), ("cr", "ci")),
    Program(logistic_map, lambda: (0.3, 2.9), ("x", "r")),
    Program(shrinking, lambda: (9.3,), "x"),
    Program(iterables, lambda: (draw(3, seed=3), (1.2, 0.7), [0.5, -0.3, 0.8, 2.0]), ("x", "pair", "items")),
    Program(taken_names, lambda: (draw(5, seed=4, low=0.5), 6), "x"),
    Program(power_iteration, lambda: (np.array([[4.0, 1.0], [1.0, 1.5]]), np.array([1.0, 0.5])), "A"),
    Program(fixed_number, lambda: (0.9, 0.05), "x"),
]
