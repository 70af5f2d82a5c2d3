"""Lists, tuples and dicts that programs make, read and write."""

import numpy as np

from tests.programs.case import Program, draw


def stack_machine(code, x, y):
    """Pushes and pops; the program is a list of strings and numbers."""
    stack = []
    for word in code:
        if word == "x":
            stack.append(x)
        elif word == "y":
            stack.append(y)
        elif word == "*":
            b = stack.pop()
            a = stack.pop()
            stack.append(a * b)
        elif word == "+":
            b = stack.pop()
            stack[-1] = stack[-1] + b
        else:
            stack.append(np.sin(stack.pop()))
    return stack.pop()


def history(x, n):
    trail = [x]
    for k in range(n):
        trail.append(trail[-1] * trail[k // 2] + 0.1 * k)
    return trail[-1] + len(trail) * trail[1]


def list_writes(items, s):
    items[0] = items[1] * s
    items[-1] += items[0] ** 2
    for k in range(len(items)):
        items[k] *= items[k - 1]
    total = 0.0
    for v in items:
        total += v * v
    return total


def parameters(params, x):
    h = np.tanh(params["w"] * x + params["b"])
    return np.sum(h * h) * params["scale"]


def dict_writes(table, x):
    """A key is overwritten, one is added, one is read only if it is there."""
    table["a"] = table["b"] * x
    table["c"] = table["a"] ** 2 + table["b"]
    table["b"] += table["c"]
    if "d" in table:
        return table["d"]
    return table["a"] * table["b"] * table["c"]


def nested_lists(layers):
    total = 0.0
    for layer in layers:
        for k in range(len(layer)):
            total += layer[k] * layer[k - 1]
    layers[0][1] = total * layers[1][0]
    return layers[0][1] * layers[0][0] + total


def arrays_in_a_list(items, s):
    items[0][1] = s * items[1][0]
    items.append(items[0] * items[1])
    items[2][0] += items[0][1] ** 2
    items[1] = items[2] * s
    return np.sum(np.stack(items) ** 2)


def gathered_rows(x, n):
    rows = []
    for k in range(n):
        rows.append(x ** (k + 1) / (k + 1.0))
    table = np.stack(rows)
    flat = np.concatenate(rows[:2] + [x])
    return np.sum(table @ table.T) + np.sum(flat**2)


def squares(x):
    parts = [v * v for v in x]
    return sum(parts) * parts[0]


def memo_table(x, n):
    """A dict with integer keys, filled on the way."""
    seen = {0: 1.0, 1: x}
    for k in range(2, n):
        if k - 3 in seen:
            seen[k] = seen[k - 1] * seen[k - 3] + x
        else:
            seen[k] = seen[k - 1] * x
    return seen[n - 1] * seen[2]


def tuples(x, y):
    point = (x * y, (x - y, [x, y]))
    a, (b, c) = point
    c[0] = c[1] * b
    point = point + (a * c[0],)
    return point[2] * point[1][1][0] + point[-1] + point[1][0]


def repeated_lists(x, n):
    items = [x, x * x] * n
    return np.sum(items) * np.mean([x, 2.0 * x]) + len(items)


def repeated_tuple(x):
    pair = (x, 2.0) * 3
    return pair[0] * pair[4] * pair[3]


def lists_as_arrays(a):
    """NumPy makes arrays of the lists that it is given."""
    return np.sum(a * [a[0], a[1], 2.0]) + np.dot([a[0], 1.0, a[2]], a) + np.sum(np.exp([a[0], a[1]]))


def one_row_thrice(a):
    rows = [a] * 3
    rows[1][0] = a[1] * 2.0
    return np.sum(rows[0] * rows[2])


def slot_of_two_minds(a, n):
    """An item made by arithmetic gives way to a view, at a place that is known when it runs."""
    for j in range(n):
        items = [a[j] * a[::-1]]
        if a[j] > 100.0:
            break
        items[j % len(items)] = a[...]
    named = {"first": a * a, "second": np.sin(a)}
    for key in ("second", "first"):
        named[key] = a[1:]
    a *= 2.0
    return np.sum(named["first"]) + np.sum(items[0] * a)


PROGRAMS = [
    Program(stack_machine, lambda: (["x", "y", "*", "sin", "x", "x", "*", "+", "y", "*"], 0.8, 1.3), ("x", "y")),
    Program(history, lambda: (0.9, 5), "x"),
    Program(list_writes, lambda: ([0.5, -0.8, 1.2], 0.7), ("items", "s")),
    Program(
        parameters, lambda: ({"w": draw(3, seed=1), "b": draw(3, seed=2), "scale": 0.7}, draw(3, seed=3)), "params"
    ),
    Program(dict_writes, lambda: ({"a": 0.3, "b": 0.8}, 1.2), ("table", "x")),
    Program(nested_lists, lambda: ([[0.5, 0.7], [0.9, -0.4, 0.2]],), "layers"),
    Program(arrays_in_a_list, lambda: ([draw(2, seed=4), draw(2, seed=5)], 0.8), ("items", "s")),
    Program(gathered_rows, lambda: (draw(2, seed=6), 3), "x"),
    Program(squares, lambda: (draw(3, seed=7),), "x"),
    Program(memo_table, lambda: (0.9, 6), "x"),
    Program(tuples, lambda: (0.8, 1.3), ("x", "y")),
    Program(repeated_lists, lambda: (0.7, 3), "x"),
    Program(repeated_tuple, lambda: (0.7,), "x"),
    Program(lists_as_arrays, lambda: (np.array([0.3, 0.5, 0.7]),), "a"),
    Program(one_row_thrice, lambda: (np.array([0.3, 0.5, 0.7]),), "a"),
    Program(slot_of_two_minds, lambda: (np.array([0.3, 0.5, 0.7]), 2), "a"),
]
