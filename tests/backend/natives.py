import math

import numpy as np

GRAVITY = 9.81


def smooth(u, c, sweeps):
    for s in range(sweeps):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + c * (u[i - 1] - 2.0 * u[i] + u[i + 1])
            u[i - 1] += c * u[i + 1]
    return np.sum(u * u)


def relax(x, b, w):
    change = 0.0
    for i in range(len(x)):
        new = (1.0 - w) * x[i] + w * np.cos(b[i] * x[i - 1])
        change = max(change, abs(new - x[i]))
        x[i] = new
    return change


def settle(b, w, tol):
    x = np.zeros_like(b)
    for n in range(500):
        if relax(x, b, w) < tol:
            break
    return np.mean(x)


def walk(v, n):
    t = 0
    np_ = GRAVITY
    while t < n and v > 0.0:
        if v > 3.0:
            v -= 1.0
        elif v > 2.0:
            v *= 0.5
        else:
            v = v - 0.1 if n > 3 else v
        t += 1
    return v * np_, t


def lists(x):
    out = []
    for v in x:
        out.append(v * 2)
    d = {"a": out[0], "b": x[1:3]}
    y = out.pop() + d["a"]
    a, b = d["b"]
    a, b = b, a
    return [k * y for k in out], a, -(b**2), (-b) ** 2, d["b"] is not None, 3 not in out


def math1(x):
    return math.sin(x) ** 2 / 3 - abs(-x) // 2 % 5 + x.real


def early(x):
    while True:
        x = x * 2
        if x > 100:
            return x
        if x < 0:
            raise ValueError("negative")


def long(a, b, c):
    return (
        a * b
        + b * c
        + c * a
        + a * a * a * b * b * b * c * c * c
        + (a + b) * (b + c) * (c + a)
        + a / (b + c)
        + a * b
        + b * c
        + c * a
        - (a - (b - c))
        - math.sin(a * b * c)
    )


def aug(a, k):
    a[k] *= 2.0
    a[k - 1] -= a[k]
    a[...] += 1.0
    a[1:3] = a[0:2]
    return a


def chain(x, y):
    return 0 < x < y or x == 7 and not y


def nested(rows):
    rows[0][1] = rows[1][0]
    return rows


def ifs(x):
    y = 1 if x > 0 else 2
    if x > 2 and y == 1:
        pass
    else:
        y = 5
    return y


def powers(x):
    return -(x**2), (-x) ** 2, 2**-x, x ** (1 - x), (x - 1) - (x - 2), x - (1 - (2 - x)), x / (2 / x), not x == 1


def keys(a):
    return a[1, ...], a[:, 0], a[::2, 1:], a[-1][0], a[(0, 1)], a[None].shape


ARGUMENTS = {
    "smooth": [lambda: (np.arange(5.0), 0.1, 2)],
    "relax": [lambda: (np.arange(5.0), np.ones(5), 0.3)],
    "settle": [lambda: (np.ones(4), 0.3, 1e-6)],
    "walk": [lambda: (5.0, 6), lambda: (5.0, 2)],
    "lists": [lambda: (np.arange(5.0),)],
    "math1": [lambda: (1.3,)],
    "early": [lambda: (1.3,)],
    "long": [lambda: (1.0, 2.0, 3.0)],
    "aug": [lambda: (np.arange(5.0), 2)],
    "chain": [lambda: (1, 2), lambda: (3, 2), lambda: (7, 0), lambda: (7, 1)],
    "nested": [lambda: ([[1, 2], [3, 4]],)],
    "ifs": [lambda: (3,), lambda: (1,), lambda: (-1,)],
    "powers": [lambda: (1.5,), lambda: (1,)],
    "keys": [lambda: (np.arange(12.0).reshape(3, 4),)],
}
