"""Functions that call themselves, and each other."""

import numpy as np

from tests.programs.case import Program, draw


def raised(x, n):
    if n == 0:
        return 1.0
    half = raised(x, n // 2)
    if n % 2 == 0:
        return half * half
    return half * half * x


def recursive_power(x):
    return raised(x, 5) + raised(x + 1.0, 2)


def fibonacci(a, b, n):
    if n == 0:
        return a
    return fibonacci(b, a * b + 0.1, n - 1) + 0.5 * a


def halved(a):
    if len(a) == 1:
        return a[0] * a[0]
    m = len(a) // 2
    return halved(a[:m]) * halved(a[m:]) + a[0]


def butterfly(a):
    """Writes through halves of its argument, halves of halves included."""
    n = len(a)
    if n == 1:
        return
    m = n // 2
    butterfly(a[:m])
    butterfly(a[m:])
    for i in range(m):
        low = a[i]
        a[i] = low + a[m + i] ** 2
        a[m + i] = low * a[m + i]


def transformed(a):
    butterfly(a)
    return np.sum(a * a)


def even(x, n):
    if n <= 0:
        return x
    return odd(x * x, n - 1) + x


def odd(x, n):
    if n <= 0:
        return np.sin(x)
    return even(0.5 * x, n - 1) * x


def mutual(x):
    return even(x, 4) + odd(x, 3)


def collected(x, depth, out):
    out.append(x)
    if depth > 0:
        collected(x * 0.5, depth - 1, out)
        collected(x * x, depth - 1, out)


def tree(x):
    out = []
    collected(x, 2, out)
    total = 1.0
    for v in out:
        total = total + v * v * total
    return total


def adaptive(a, fa, b, fb, tol):
    m = 0.5 * (a + b)
    fm = np.exp(-m * m)
    if abs(fm - 0.5 * (fa + fb)) < tol:
        return 0.25 * (b - a) * (fa + 2.0 * fm + fb)
    return adaptive(a, fa, m, fm, tol) + adaptive(m, fm, b, fb, tol)


def quadrature(a, b):
    return adaptive(a, np.exp(-a * a), b, np.exp(-b * b), 0.02)


PROGRAMS = [
    Program(recursive_power, lambda: (0.9,), "x"),
    Program(fibonacci, lambda: (0.6, 0.8, 4), ("a", "b")),
    Program(halved, lambda: (draw(5, seed=1),), "a"),
    Program(transformed, lambda: (draw(4, seed=2),), "a"),
    Program(mutual, lambda: (0.7,), "x"),
    Program(tree, lambda: (0.8,), "x"),
    Program(quadrature, lambda: (0.1, 1.4), ("a", "b")),
]
