"""Where a derivative goes wrong easily: order of evaluation, integers among reals, odd layouts, numbers like arrays."""

import numpy as np

from tests.programs.case import Program, draw


def bumped(a):
    a[0] = a[0] * a[1] + 0.5
    return a[0] * a[0]


def read_before_call(a):
    """An element is read, then a call writes it, then it is read again."""
    return a[0] * bumped(a) + a[0] * (a[1] + bumped(a)) - a[0]


def short_circuit(a):
    """The second operand's call happens, or does not."""
    if a[0] > 0.0 and bumped(a) > 0.1:
        a[1] = a[0] ** 2
    if a[0] > 0.0 or bumped(a) > 0.1:
        a[1] += a[0]
    s = a[0] if a[1] > 0.0 else bumped(a)
    return s * np.sum(a * a)


def ordered_targets(a, x):
    """Targets are assigned from left to right, each with what the ones before have bound."""
    i = 0
    i, a[i] = 1, x * a[0]
    a[i], i = a[i] * x, 2
    a[0] = a[i] = x**2
    (a[1], x), y = (x, a[1]), a[0]
    return np.sum(a * a) * x + y


def counting(a, n):
    n[0] += 1
    return n[0] % len(a)


def index_once(a):
    """The index of an augmented write is evaluated once."""
    n = [0]
    a[counting(a, n)] *= a[0]
    a[counting(a, n)] += a[1] ** 2
    return np.sum(a**3) * n[0]


def written_while_iterated(x):
    """What the loop writes ahead of itself, it meets."""
    total = 0.0
    for k, v in enumerate(x):
        x[(k + 1) % len(x)] *= v + 0.5
        total += v * x[k]
    for v, w in zip(x, reversed(x)):
        x[0] = x[0] * 0.5 + w
        total += v * w
    return total


def extended_by_index(x):
    """A list that grows while a loop walks along it."""
    items = [x, x * x]
    total = 0.0
    k = 0
    while k < len(items):
        v = items[k]
        if len(items) < 5:
            items.append(v * items[0] + 0.1)
        total += v * v
        k += 1
    return total


def integer_start(x, n):
    """Sums and products that start as integers."""
    total = 0
    product = 1
    for v in x:
        total += v * v
        product *= v
    table = 0
    for k in range(n):
        table = table + x * k
    return total * product + np.sum(table * table)


def integer_or_real(x, n):
    """One return gives an integer, another a real number."""
    return graded(x, n) * graded(x, 0) + graded(x * x, n + 1) + graded(-x, n)


def graded(x, n):
    if x < 0.0:
        return 0
    if n == 0:
        return 2
    return x * n


def integer_data(w, X, y):
    """Integer arrays and booleans among the data."""
    z = X @ w
    hits = (z > 0.2) * z
    hard = (z > 0.0).astype(float) * z * y
    return np.sum(hits * hits) + np.mean(hard**3) + np.sum((z - y) ** 2) / len(y)


def named_arithmetic(x, y):
    a = np.add(x, np.multiply(x, y)) - np.subtract(y, 2.0)
    b = np.divide(a, np.power(y, 2)) + np.negative(np.positive(x))
    c = np.mod(x, 0.7) + np.sign(x) * np.absolute(y) + np.floor(y) * x
    return np.sum(a * b * c)


def by_name(x, kind, power=2):
    if kind == "even":
        y = np.cos(x)
    elif kind in ("odd", "strange"):
        y = np.sin(x)
    else:
        y = x
    return np.sum(y**power) if power is not None else np.sum(y)


def same_argument_twice(x, y):
    """Called with one array for both, which nobody writes."""
    return np.sum(x * x * y) + np.dot(x, y)


def read_only(x, s):
    """The argument may not be written; its copy may."""
    y = x.copy()
    y[0] = s * x[1]
    y *= x
    return np.sum(y * y)


def zero_dimensional_write(x, y):
    """`+=` writes into a 0-d array, so its other name sees it; of a number it makes a new one."""
    z = np.zeros(())
    w = z
    z += x * y
    w *= x
    z[()] = z * w
    w[...] += y
    s = y
    t = s
    s += x
    return z * w + s * t


def numpy_scalars(x, y):
    """NumPy's own numbers as parameters, of single precision too; elements of arrays are such numbers."""
    a = np.array([1.0, 2.0])
    z = x * a[1] + y
    for k in range(2):
        z = z * x + a[k] * y
    return z * z


def unused(x, y, a):
    """The result does not depend on `y`, nor on most of `a`: their gradients are zero."""
    y = x * x
    b = a * 2.0
    a[1] = 0.0
    b[0] = y
    return a[0] * y + a[1] + b[0] * 0.5


def overwritten_halves(a, b):
    """Cotangents of two storages that hold the same values stay apart."""
    c = a + b
    d = c
    e = d * 1.0
    d[0] = a[0] * b[0]
    e[1] = c[0] * e[0]
    f = c + e
    c[1] = f[0]
    return np.sum(f * c * e) + np.sum(d * a)


def scalar_in_the_middle(a):
    """Numbers taken from an array keep their value when the array is written; rows do not."""
    A = a.reshape(2, 2)
    first = A[0, 0]
    row = A[0]
    A[0, 0] = first * row[1]
    A[0] = A[0] * first
    return first * np.sum(row) + np.sum(A[1] * row)


def frozen(x):
    x.flags.writeable = False
    return x


def twice(x):
    return x, x


PROGRAMS = [
    Program(read_before_call, lambda: (draw(2, seed=1),), "a"),
    Program(short_circuit, lambda: (np.array([0.7, 0.4]),), "a"),
    Program(ordered_targets, lambda: (draw(3, seed=2), 0.8), ("a", "x")),
    Program(index_once, lambda: (draw(3, seed=3),), "a"),
    Program(written_while_iterated, lambda: (draw(4, seed=4),), "x"),
    Program(extended_by_index, lambda: (0.7,), "x"),
    Program(integer_start, lambda: (draw(3, seed=5), 3), "x"),
    Program(integer_or_real, lambda: (0.8, 2), "x"),
    Program(
        integer_data,
        lambda: (np.array([0.4, -0.3]), np.array([[1, 2], [3, -1], [0, 2]]), np.array([1, 0, 1])),
        "w",
    ),
    Program(
        named_arithmetic, lambda: (draw(3, seed=6, low=0.1, high=0.6), draw(3, seed=7, low=1.1, high=1.9)), ("x", "y")
    ),
    Program(by_name, lambda: (draw(3, seed=8), "odd", 3), "x"),
    Program(same_argument_twice, lambda: twice(draw(3, seed=31)), ("x", "y")),
    Program(read_only, lambda: (frozen(draw(3, seed=9)), 1.2), ("x", "s")),
    Program(zero_dimensional_write, lambda: (0.8, 1.3), ("x", "y")),
    Program(numpy_scalars, lambda: (np.float64(0.7), np.float32(0.5)), ("x", "y")),
    Program(unused, lambda: (0.8, 0.3, draw(3, seed=10)), ("x", "y", "a")),
    Program(overwritten_halves, lambda: (draw(2, seed=11), draw(2, seed=12)), ("a", "b")),
    Program(scalar_in_the_middle, lambda: (draw(4, seed=13),), "a"),
]
