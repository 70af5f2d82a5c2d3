"""Branches and exits: names bound on one side, tests that cannot be asked again, returns from inside."""

import numpy as np

from tests.programs.case import Program, draw


def one_side(x, flag):
    if flag:
        y = x * x
    if x > 0.5:
        z = x**3
    total = x
    if flag:
        total = total * y
    if x > 0.5:
        total = total + z
    return total


def overwritten_test(x, y):
    """The test reads what the branch overwrites."""
    if x > y:
        x = y * x - 3.0
        y = y * y
    elif x > 0.0:
        x = -x
    else:
        y = 0.0
    if x > y:
        x = x * y
    else:
        x, y = y, x * x
    return x * y


def overwritten_element(a):
    if a[0] > 0.0:
        a[0] = -a[0] * a[1]
    if a[0] > 0.0:
        a[1] = a[1] * 3.0
    else:
        a[1] = a[0] * a[1]
    while a[2] < 4.0:
        a[2] = a[2] * a[2] + a[1] ** 2
    return np.sum(a * a)


def early(x):
    if x < 0.0:
        return x * x
    y = x * 2.0
    if y > 1.0:
        if y > 10.0:
            return y
        y = y * x
        return y * x
    return x


def out_of_two_loops(A, limit):
    total = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            total = total + A[i, j] ** 2
            if total > limit:
                return total * A[i, j]
        total = total * 1.1
    return -total


def out_of_while(x, a):
    """A return from a loop in a loop, after writes."""
    n = 0
    while n < 10:
        a[n % 3] = a[n % 3] * x
        for k in range(3):
            a[k] += 0.1 * a[k - 1] ** 2
            if a[k] > 2.0:
                return a[0] * a[1] + a[2]
        n += 1
    return x


def optional(x, w=None):
    if w is None:
        w = np.ones_like(x)
    if x.ndim == 1 and isinstance(x, np.ndarray):
        return np.sum(w * x * x)
    return np.sum(x)


def number_or_array(a, n):
    if n > 2:
        s = a * a
    else:
        s = 1.5
    if n > 5:
        t = 2.0
    else:
        t = np.cos(a)
    return np.sum(s * a + t * s)


def ladder(x, level):
    for k in range(4):
        if k == level:
            x = np.sin(x)
        elif k < level:
            x = x * x + 0.1
            if x > 0.9:
                x = x - 0.5
        elif x > 0.0:
            pass
        else:
            return x
        x = x + 0.3
    return x


def dropped_names(x):
    """Bound in one branch of a loop's body, read on a later trip."""
    total = 0.0
    for k in range(4):
        if k == 0:
            last = x
        else:
            total = total + last * x
            last = last * x + k
    return total


def checked(x, n):
    """An assertion that holds and an error that is not raised."""
    assert n > 0, "n must be positive"
    if n > 100:
        raise ValueError("too many")
    for _ in range(n):
        x = x * x - 0.3
    return x


def first_of_some(x, n):
    """Each trip leaves the function."""
    for k in range(3):
        while n > 1:
            n -= 1
            if n < 3:
                return x * x * (k + n)
        return np.sin(x)
    return x


PROGRAMS = [
    Program(one_side, lambda: (0.8, True), "x"),
    Program(overwritten_test, lambda: (2.0, 1.4), ("x", "y")),
    Program(overwritten_element, lambda: (np.array([0.7, 1.2, 0.3]),), "a"),
    Program(early, lambda: (1.3,), "x"),
    Program(first_of_some, lambda: (0.8, 4), "x"),
    Program(out_of_two_loops, lambda: (draw(3, 4, seed=5), 1.5), "A"),
    Program(out_of_while, lambda: (1.15, np.array([0.9, 0.8, 1.1])), ("x", "a")),
    Program(optional, lambda: (draw(4, seed=6),), "x"),
    Program(number_or_array, lambda: (draw(3, seed=7), 4), "a"),
    Program(ladder, lambda: (0.8, 2), "x"),
    Program(dropped_names, lambda: (0.9,), "x"),
    Program(checked, lambda: (0.4, 3), "x"),
]
