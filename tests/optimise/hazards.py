"""Small programs, each of which has led some rewriting rule astray or could."""

from __future__ import annotations

import numpy as np


def rebound_in_loop(x):
    """What `y` is a copy of changes from trip to trip."""
    y = x
    total = 0.0
    for k in range(4):
        y = x if k % 2 == 0 else y * x
        total = total + y * (k + 1.0)
        x = x * 0.5
    return total


def left_early(x, limit):
    y = x
    n = 0.0
    while True:
        n = n + y
        if n > limit:
            y = y * y
            break
        if n > 1.0:
            y = y * 1.5
            continue
        y = y + x
    return y * n


def grown_by_broadcasting(x):
    """`y` has one element, then three; shapes that were equal are so no longer."""
    y = x
    w = np.array([1.0, 2.0, 3.0])
    for _ in range(2):
        z = y * x
        y = z + w
    return np.sum(y * y)


def one_row_or_many(x):
    y = np.sum(x, axis=0, keepdims=True)
    return np.sum((x - y) * x) + np.sum(y * x)


def of_rank_0(x):
    s = np.sum(x * x)
    t = np.asarray(s) * 2.0
    return np.sum(t * x)


def a_list_that_grows(x):
    """The array of a list is as long as the list is when it is asked."""
    values = [x[0]]
    a = np.exp(values)
    values.append(x[1])
    values.append(x[2])
    b = np.sin(values)
    return np.sum(a * b)


def swapped(x):
    a, b = x[0] * 1.0, x[1] * 2.0
    for _ in range(3):
        a, b = b, a * b
    return a + 3.0 * b


def elements_swapped(x):
    y = x * 1.0
    for i in range(len(y) - 1):
        y[i], y[i + 1] = y[i + 1], y[i] * y[i]
    return np.sum(y * np.arange(1.0, len(y) + 1.0))


def view_of_what_is_written(x):
    y = x * x
    row = y[1:]
    row[0] = y[0] * 3.0
    return np.sum(y) * row[0]


def scaled(x, by):
    return x * by


def both(x):
    """A user's function of the name that ties pullbacks together."""
    return scaled(x, 2.0) * scaled(x, 3.0)


def of_both(x):
    return both(x) + scaled(x, 2.0)


def looks_like_the_mark(x):
    text = "---- reverse sweep ----"  # ---- reverse sweep ----
    y = x + 0.0
    return y * len(text)


def nothing_but_zeros(x):
    y = x * 0.0
    z = 0.0
    for _ in range(2):
        z = z + y
    return z + x


def shared_result(x):
    """The cotangent of `x` is what the user's constant array is, unless it is copied."""
    return np.sum(x * WEIGHTS)


WEIGHTS = np.array([1.0, 2.0, 3.0])
X3 = np.array([0.3, 0.7, 1.1])
CASES = {
    "rebound_in_loop": (1.3,),
    "left_early": (0.4, 3.0),
    "grown_by_broadcasting": (np.array([0.7]),),
    "one_row_or_many": (np.array([[0.3, 0.7]]),),
    "of_rank_0": (X3,),
    "a_list_that_grows": (X3,),
    "swapped": (X3,),
    "elements_swapped": (X3,),
    "view_of_what_is_written": (X3,),
    "both": (1.2,),
    "of_both": (1.2,),
    "looks_like_the_mark": (1.2,),
    "nothing_but_zeros": (0.8,),
    "shared_result": (X3,),
}
