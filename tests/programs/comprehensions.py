"""Comprehensions, generators in reductions, and lists changed in the middle."""

import itertools
import math

import numpy as np

from tests.programs.case import Program, draw


def weights(x, n):
    """Nested, with conditions, in a reduction."""
    return sum(x**i * j for i in range(n) for j in range(i) if (i + j) % 2) + sum(i * x for i in range(n) if i > 1)


def table(x, n):
    rows = [[x * i + np.sin(x * j) for j in range(n)] for i in range(2)]
    flat = [v * v for row in rows for v in row if v > 0.0]
    return np.sum(np.array(rows)) * flat[1] + len(flat)


def polynomial(coefficients, x):
    powers = {k: x**k for k in range(len(coefficients))}
    return sum(c * powers[k] for k, c in enumerate(coefficients))


def letters(values, scale):
    """The characters of texts that are known, and of one that is not."""
    weight = {"a": 1.0, "b": 2.0}
    total = 0.0
    for letter, value in zip("abc", values):
        total += value * value if letter == "c" else value * weight[letter]
    for k, letter in enumerate("xy" if scale > 1.0 else "xyz"):
        total += scale * ord(letter) * values[k]
    return total + sum(scale**k for k, letter in enumerate("abca") if letter in "ac")


def by_parity(values):
    groups = {name: [v for i, v in enumerate(values) if i % 2 == odd] for name, odd in [("even", 0), ("odd", 1)]}
    return sum(groups["even"]) * groups["odd"][0]


def pairs(a, b):
    """Constants beside what is differentiated."""
    total = sum(p * q for p, q in zip([a, a * b], [1.0, b]))
    return total * max(p for p in (a, 0.5, b)) + min(q * b for q in [a, b])


def largest_and_smallest(x, n):
    largest = max(x * i - 0.3 * i * i for i in range(n))
    product = math.prod([x, 2.0, x + 1.0])
    return largest * product + max([x * i for i in range(3)]) * list(x + i for i in range(3))[1]


def stops_early(x, values):
    """any and all look no further than they must."""
    seen = []
    if any(seen.append(v) or v > 1.0 for v in values):
        x = x * len(seen)
    if all(v * x > 0.0 for v in values):
        x = x + values[0] * x
    return x * x


def scopes(x):
    i = x * 2.0
    squares = [i * i for i in [x, i]]
    return squares[1] * i + sum(j for j in [i])


def moving_window(series, width):
    """A queue: a value in at the end, one out at the front."""
    window = []
    total = 0.0
    for v in series:
        window.append(v * v)
        if len(window) > width:
            window.pop(0)
        total += np.sin(sum(window))
    return total


def sorted_in(values):
    """Insertion into the place that is found for each value."""
    ordered = []
    for v in values:
        place = 0
        while place < len(ordered) and ordered[place] < v:
            place += 1
        ordered.insert(place, v)
    total = 0.0
    for k, v in enumerate(ordered):
        total += (k + 1.0) * v * v
    return total


def edited(x):
    items = [x, 2.0 * x, 0.5]
    items.extend([x * x, 1.5])
    items += [x]
    items[1:3] = [items[0] * items[1], x, 0.1]
    items[::2] = [v * 1.1 for v in items[::2]]
    del items[0], items[-1]
    items.reverse()
    items.insert(-1, items[0])
    items.remove(items[2])
    del items[3:]
    items *= 2
    return sum(v * (k + 1.0) for k, v in enumerate(items)) + items.index(items[1]) * items.count(x)


def rows_moved(A):
    """A list of rows that are views."""
    rows = [row for row in A]
    rows.insert(0, rows.pop())
    rows[1:] = [2.0 * r for r in rows[1:]]
    rows[0][0] = rows[1][1] * rows[2][0]
    rows.clear() if len(rows) > 9 else rows.reverse()
    return np.sum(rows[0] * rows[-1]) + np.sum(A)


def chains(x):
    """Iterators of itertools over what is finite."""
    total = 0.0
    for a, b in itertools.product([x, 1.0], [2.0, x * x]):
        total += a * b
    steps = list(itertools.accumulate([x, x * x, 0.5]))
    gaps = sum((b - a) ** 2 for a, b in itertools.pairwise(steps))
    best = list(itertools.accumulate(itertools.chain(steps, [x]), max))[-1]
    return total + gaps * best + sum(p * q for p, q in itertools.combinations(steps, 2))


def counting(x, tolerance):
    """Iterators of itertools that a loop leaves by itself, or that others end; a module by another name."""
    total, term = 0.0, x
    for k in itertools.count(1, 2):
        total += term
        term = -term * x * x / ((k + 1) * (k + 2))
        if abs(term) < tolerance:
            break
    for k, value in zip(itertools.count(1), [x, total, x * total], strict=False):
        total += value / k
    lib = math
    root = lib.sqrt
    rows = sum(itertools.chain.from_iterable([[x, root(x)], [total]]))
    scaled = sum(itertools.starmap(lambda a, b: a * b, [(x, 2.0), (total, x)]))
    some = sum(itertools.islice([x, total, 1.0], 1, 3)) + sum(itertools.chain([x], [total], [x * total]))
    return rows * scaled + some * sum(a * b for a, b in zip(itertools.repeat(x, 2), [k, x], strict=True))


def kinds_counted(x, labels):
    """Sets of what has no derivative."""
    different = {label for label in labels if label}
    common = different & {1, 2}
    return x * len(different) + (x * x if 2 in common else x)


def heads(q, k, v):
    """Attention of several heads: the pieces of each array side by side."""
    pieces = [np.split(a, 2, axis=-1) for a in (q, k, v)]
    found = []
    for a, b, c in zip(*pieces):
        e = np.exp(a @ b.T)
        found.append(e / e.sum(axis=-1, keepdims=True) @ c)
    rows = [found[0][0], found[1][0], 2.0 * found[0][1]]
    total = sum(x * y * z for x, y, z in zip(*rows))
    for n, column in enumerate(zip(*[(total, 2.0), (total * total, 0.5)])):
        total = total + n * sum(column) * max(column)
    return total


def first_of(x, values):
    """next takes the first that fits, or the default, and looks no further."""
    seen = []
    scaled = [v * x for v in values]
    big = next((v * v for v in scaled if seen.append(v) or v > 0.5), x)
    product = next(v * w for v in scaled if v > 0.6 for w in values if v * w > 0.7)
    missing = next((v for v in scaled if v > 100.0), None)
    first = next(iter({"a": big * x, "b": product}.values()))
    return first * len(seen) + product + (x if missing is None else missing)


PROGRAMS = [
    Program(heads, lambda: (draw(2, 4, seed=31), draw(2, 4, seed=32), draw(2, 4, seed=33)), ("q", "k", "v")),
    Program(weights, lambda: (0.7, 4), "x"),
    Program(counting, lambda: (0.7, 1e-9), "x"),
    Program(table, lambda: (0.4, 3), "x"),
    Program(polynomial, lambda: ([0.5, -0.3, 0.8], 0.7), ("coefficients", "x")),
    Program(letters, lambda: ([0.5, -0.3, 0.8], 0.7), ("values", "scale")),
    Program(by_parity, lambda: ([0.5, -0.3, 0.8, 0.4],), "values"),
    Program(pairs, lambda: (0.7, 1.2), ("a", "b")),
    Program(largest_and_smallest, lambda: (0.7, 4), "x"),
    Program(stops_early, lambda: (0.7, [0.5, 1.2, 0.8]), ("x", "values")),
    Program(first_of, lambda: (0.7, [0.5, 1.2, 0.8]), ("x", "values")),
    Program(scopes, lambda: (0.7,), "x"),
    Program(moving_window, lambda: (draw(5, seed=8), 2), "series"),
    Program(sorted_in, lambda: ([0.5, -0.3, 0.8, 0.4],), "values"),
    Program(edited, lambda: (0.7,), "x"),
    Program(rows_moved, lambda: (draw(3, 2, seed=9),), "A"),
    Program(chains, lambda: (0.7,), "x"),
    Program(kinds_counted, lambda: (0.7, [1, 2, 2, 0, 5]), "x"),
]
