"""Statements in all their forms: loops with else, match, imports inside, del, patterns of control."""

import math

import numpy as np

from tests.programs.case import Program


def bisect_or_newton(a, tol):
    """A search that may fail, and what is done then."""
    x = 1.0
    for _ in range(6):
        step = (x * x - a) / (2.0 * x)
        x = x - step
        if abs(step) < tol:
            break
    else:
        x = x * (1.0 + 0.1 * a)
    return x * x * x


def first_above(values, level):
    total = 0.0
    for row in range(3):
        for v in values:
            if v * v > level + row:
                total += v * v
                break
        else:
            total += np.sum(values) * level
    return total


def halve_until(x, n):
    while n > 0:
        x = x * 0.5 + np.sin(x)
        if x < 0.1:
            break
        n -= 1
    else:
        x = x * x
    return x * n + x


def countdown(x, n):
    """An else that no break passes by."""
    while n:
        x = x + np.sin(x * n)
        n -= 1
    else:
        x = x * x
    for k in range(2):
        x = x * (k + 1.0)
    else:
        x = x + 1.0
    return x


def by_method(x, method):
    match method:
        case "euler" | "forward":
            y = x + 0.1 * np.sin(x)
        case "midpoint":
            y = x + 0.1 * np.sin(x + 0.05 * np.sin(x))
        case _:
            raise ValueError(method)
    return y * y


def evaluate(code, x):
    """An interpreter of small programs: match on tuples of a list."""
    total = x
    for word in code:
        match word:
            case ("scale", c):
                total = total * c
            case ("add", c) if c > 0:
                total = total + c * x
            case ("add", c):
                total = total - c * x * x
            case _:
                total = np.sin(total)
    return total * x


def area_of_a_shape(shape, x):
    match shape:
        case {"kind": "circle", "r": r}:
            return math.pi * r * r * x
        case {"kind": "box", "sides": [a, b]}:
            return a * b * x
        case {"kind": "box", "sides": [a, *rest]}:
            return a * sum(rest) * x
        case _:
            return x


def by_class(x, scale):
    match scale:
        case float(c) if c > 1.0:
            y = c * x
        case float() as c:
            y = c * x * x
        case np.ndarray():
            y = np.sum(scale) * x
        case _:
            y = x
    return y * y


def imports_inside(x):
    import math as m

    from numpy import cos
    from numpy import sin as s

    if x > 0.0:
        from math import exp

        x = exp(x) * m.sqrt(x)
    return s(x) * cos(x)


def entropies(p, keep):
    """Logarithms of zeros that are not used; warnings are errors here."""
    with np.errstate(divide="ignore", invalid="ignore"):
        q = p * keep
        terms = q * np.log(q)
    return -np.sum(np.where(keep > 0, terms, 0.0))


def weights_in_a_loop(x):
    total = 0.0
    for k in range(len(x)):
        with np.errstate(divide="ignore"):
            weight = np.divide(1.0, k)
            if np.isinf(weight):
                continue
            with np.errstate(all="raise"):
                total = total + weight * x[k] * x[k - 1]
        total = total * x[k]
    return total


def configured(x, settings, names):
    """Settings as text; what is missing or wrong has a default."""
    total = 0.0
    for name in names:
        try:
            power = int(settings[name])
        except KeyError:
            power = 1
        except ValueError as error:
            power = len(str(error)) // 10
        finally:
            seen = name
        total = total + np.sin(x) ** power * len(seen)
    return total


def deletes(x, n):
    """Names and entries that are not needed any more."""
    memo = {0: x, 1: x * x}
    for k in range(2, n):
        term = memo[k - 1] * memo[k - 2]
        memo[k] = term + x
        del term, memo[k - 2]
    return memo[n - 1] * len(memo)


PROGRAMS = [
    Program(bisect_or_newton, lambda: (1.7, 1e-3), "a"),
    Program(first_above, lambda: (np.array([0.5, 1.1, 1.6]), 0.9), "values"),
    Program(halve_until, lambda: (0.9, 3), "x"),
    Program(countdown, lambda: (0.4, 3), "x"),
    Program(by_method, lambda: (0.7, "midpoint"), "x"),
    Program(evaluate, lambda: ([("scale", 1.5), ("add", 0.3), ("sin", 0.0), ("add", -0.2), ("scale", 0.7)], 0.8), "x"),
    Program(area_of_a_shape, lambda: ({"kind": "box", "sides": [0.4, 0.6, 0.9]}, 1.3), "x"),
    Program(by_class, lambda: (0.6, 1.2), ("x", "scale")),
    Program(imports_inside, lambda: (0.7,), "x"),
    Program(entropies, lambda: (np.array([0.2, 0.4, 0.5]), np.array([1, 0, 1])), "p"),
    Program(weights_in_a_loop, lambda: (np.array([0.7, 0.2, 0.9]),), "x"),
    Program(configured, lambda: (0.7, {"a": "2", "bb": "two"}, ["a", "bb", "ccc"]), "x"),
    Program(deletes, lambda: (0.9, 5), "x"),
]
