"""Two names, one storage."""

import numpy as np

from tests.programs.case import Program, draw


def chosen(a, d, c, x):
    """In reverse, what `b` names cannot be found by name."""
    b = a if c else d
    a = a * 2.0
    b[0] = x * a[1]
    return np.sum(a * a) + np.sum(b**3) + np.sum(d)


def renamed(a):
    b = a
    b += np.sin(a)
    a = a * b
    b[0] = a[1]
    a[1] = b[0] * b[2]
    return np.sum(a * b)


def rotated(a, b, c, n):
    for k in range(n):
        a[0] = b[1] * c[0]
        b[1] += a[0] ** 2
        a, b, c = b, c, a
    return np.sum(a * b) + np.sum(c**3)


def listed_twice(a, b):
    """One array stands twice in a list."""
    items = [a, b, a]
    for k, item in enumerate(items):
        item[k % 2] = item[1] * (item[0] + k)
    items[1] = items[0]
    items[1][0] *= b[0]
    return np.sum(items[2] * items[1] * b)


def tied(weights, x):
    """One array stands at two places of an argument that nobody writes, and is shown at a third."""
    for W, b in weights["layers"]:
        x = np.tanh(W @ x + b) * weights["scale"]
    return np.sum(x * weights["out"])


def _tied():
    W, b = draw(2, 2, seed=12), draw(2, seed=13)
    return {"layers": [(W, b), (W, draw(2, seed=14)), (W.T, b)], "scale": 0.9, "out": W[0]}, draw(2, seed=15)


def in_a_dict(a, s):
    state = {"now": a, "old": a.copy()}
    for k in range(3):
        state["old"][:] = state["now"]
        state["now"][k] = s * state["old"][k] ** 2 + state["old"][k - 1]
    now = state["now"]
    state["now"] = state["old"]
    state["now"][0] = now[0] * now[1]
    return np.sum(a * now * state["old"])


def by_turns(x, y, n):
    """A name moves from storage to storage with the data."""
    cursor = x
    for k in range(n):
        if cursor[0] > 0.5:
            other = x
        else:
            other = y
        other[1] = other[1] * cursor[0] + 0.3
        cursor[0] = cursor[0] * 0.8
        cursor = other
    return np.sum(x * y) + np.sum(cursor**2)


def in_a_tuple(a, b):
    pair = (a, b)
    first, second = pair
    first[0] = second[1] ** 2
    pair = (second, first)
    pair[0][0] = pair[1][0] * pair[1][1]
    return np.sum(a**3 * b)


def overlapping_windows(left, right, x):
    """Two windows on one array, both written."""
    left[0] *= x
    right[0] = left[1] * left[0]
    right[1] += x * right[0]
    return np.sum(right * right) + np.sum(left)


def _windows():
    whole = np.array([0.7, 0.8, 0.9, 1.1])
    return whole[:3], whole[1:], 1.3


def one_list_twice(pair, x):
    pair[0].append(x * pair[1][0])
    pair[1][0] = pair[0][-1] * x
    return pair[0][0] * pair[1][-1] + len(pair[0])


def one_row_in_two_places(table, x):
    table["first"][0] *= x
    table["all"][1] = table["first"] * table["all"][0]
    return np.sum(table["all"][0] * table["all"][1])


def _one_list():
    items = [0.7, 0.8]
    return [items, items], 1.3


def _one_row():
    row = np.array([0.7, 0.8])
    return {"first": row, "all": [row, row.copy()]}, 1.3


PROGRAMS = [
    Program(chosen, lambda: (draw(3, seed=1), draw(3, seed=2), True, 0.7), ("a", "d", "x")),
    Program(renamed, lambda: (draw(3, seed=3),), "a"),
    Program(rotated, lambda: (draw(2, seed=4), draw(2, seed=5), draw(2, seed=6), 4), ("a", "b", "c")),
    Program(listed_twice, lambda: (draw(2, seed=7), draw(2, seed=8)), ("a", "b")),
    Program(tied, _tied, ("weights", "x")),
    Program(in_a_dict, lambda: (draw(3, seed=9), 1.2), ("a", "s")),
    Program(by_turns, lambda: (np.array([0.9, 0.4]), np.array([0.7, -0.6]), 4), ("x", "y")),
    Program(in_a_tuple, lambda: (draw(2, seed=10), draw(2, seed=11)), ("a", "b")),
    Program(overlapping_windows, _windows, "x"),
    Program(one_list_twice, _one_list, "x"),
    Program(one_row_in_two_places, _one_row, "x"),
]
