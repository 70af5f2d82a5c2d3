"""Programs that the tests of the analysis read."""

from __future__ import annotations

import numpy as np


def reused(x):
    t = 3
    y = x * t
    t = "a"
    return y if t else x


def joined(x, flag):
    if x > 0.0:
        y = x
    else:
        y = 1
    return y * 2.0


def decided(x, flag):
    if flag is None:
        return x
    return np.sin(x) * flag


def by_type(x):
    if isinstance(x, np.ndarray):
        return np.sum(x)
    return x * 3.0


def cut(x):
    L = [x, 2.0 * x, 3.0]
    M = L[1:]
    return M[0]


def view(A):
    r = A[0]
    s = A[[0, 1]]
    t = A.T
    r[0] = 2.0
    return np.sum(A) + s[0, 0] + t[0, 0]


def in_place(x, A):
    A += x
    n = 1.0
    n += x
    return n


def helper(x):
    return x * x


def calls(x, n):
    return helper(x) + helper(2.0 * x) + helper(n)


def grown(x, n):
    total = 0.0
    for _ in range(n):
        total += x
    return total


def taken(x, A):
    L = [x]
    L.append(x * x)
    L[0] = 1.0
    return L.pop() + len(A)
