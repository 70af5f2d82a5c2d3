"""Numbers alone: operators, `math`, builtins, tuple targets."""

import math

from tests.programs.case import Program


def glide(v, steps, dt):
    x = 0.0
    for k in range(steps):
        if v > 10.0:
            drag = v * v
        else:
            drag = 2.0 * v
        v = v - dt * drag
        x = x + dt * v
    return x


def horner(coefficients, x):
    total = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total


def targets(a, b):
    """Tuple, chained and augmented targets, nested too."""
    a, b = b, a * b
    c = d = a + b
    (p, q), r = (c * a, d / b), a - b
    p += q
    p *= r
    q -= p
    q /= 3.0
    r **= 2
    return p + q * r


def powers(x, y):
    return x**3 + 2.0**x + x**y + pow(x, 2.5) + abs(-x) * y**-1 - (-y) ** 2 + +x


def mathematics(x):
    a = math.sin(x) + math.cos(2.0 * x) * math.tan(x / 2.0)
    b = math.exp(-x) + math.log(1.0 + x) + math.sqrt(x) + math.pow(x, 1.5)
    c = math.asin(x / 2.0) + math.acos(x / 3.0) + math.atan(x) + math.atan2(x, 2.0)
    d = math.sinh(x) + math.cosh(x) * math.tanh(x) + math.hypot(x, 0.5)
    return a * b + c * d + math.pi * math.fabs(x)


def choices(x, y):
    """Boolean operators, chained comparisons, conditional expressions."""
    s = x if x > y and not y > 3.0 or x == 0.0 else y * y
    t = x * y if 0.0 < x < y < 5.0 else x - y
    both = x > 0.0 and y > 0.0
    u = s * t if both else -s
    return u + (math.sin(x) if x != y else math.cos(y)) * s


def shadowed(abs, len):
    """Builtins' names taken by parameters and locals."""
    sum = abs * len
    max = sum + abs
    range = max * sum
    return range - len


def extremes(x, y, z):
    a = max(x, y, z) * min(x, y)
    b = max([x * x, y, 0.1])
    return a + b * min((z, x + y)) + sum([x, y * z, a])


def rounding(x, n):
    """Integers made on the way have no derivative; `%` and `//` of floats do as calculus says."""
    k = int(3.0 * x) + n // 2 + n % 3
    r = round(x) + float(k) + len((x, n))
    odd = x % 0.7 + (x // 0.7) * x
    return r * x * x + odd * x + divide(k, x)


def divide(k, x):
    return k / (1.0 + x)


def bits(x, n):
    """Integer arithmetic that only steers."""
    mask = (n << 2 | 1) & 0b1011 ^ 2
    total = 0.0
    for i in range(n):
        if (mask >> i) & 1:
            total += x ** (i + 1)
        else:
            total -= (~i) * x
    return total * total


def annotated(x: float, rate: float = 0.3, n: int = 3) -> float:
    """Annotations and defaults; one call leaves the last to its default."""
    y: float = x
    for _ in range(n):
        y = y + rate * y * (1.0 - y)
    return y


def repeated(v):
    """One operand twice, one argument twice."""
    w = v * v
    w = w * w + v
    return w / v + math.hypot(v, v) + pow(v, v) + divide(v, v)


def reassigned(x):
    """`x = f(x)` where the rule asks for the result."""
    x = math.exp(x)
    x = math.sqrt(x)
    x = math.tanh(x)
    x = 1.0 / x
    return x * x


PROGRAMS = [
    Program(glide, lambda: (12.0, 8, 0.01), "v"),
    Program(horner, lambda: ([0.5, -1.0, 2.0, 0.25], 0.7), ("coefficients", "x")),
    Program(targets, lambda: (1.3, 0.7), ("a", "b")),
    Program(powers, lambda: (1.2, 1.9), ("x", "y")),
    Program(mathematics, lambda: (0.8,), "x"),
    Program(choices, lambda: (0.9, 1.7), ("x", "y")),
    Program(shadowed, lambda: (1.1, 0.6), ("abs", "len")),
    Program(extremes, lambda: (0.8, 1.7, 1.2), ("x", "y", "z")),
    Program(rounding, lambda: (1.15, 7), "x"),
    Program(bits, lambda: (0.9, 4), "x"),
    Program(annotated, lambda: (0.2, 0.7), ("x", "rate")),
    Program(repeated, lambda: (1.4,), "v"),
    Program(reassigned, lambda: (0.6,), "x"),
]
