"""Arrays written in place: elements, slices, masks, repeated indices."""

import numpy as np

from tests.programs.case import Program, draw


def smooth(u, c, sweeps):
    for s in range(sweeps):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + c * (u[i - 1] - 2.0 * u[i] + u[i + 1])
    return np.sum(u * u)


def swapped(A, v):
    """The temporaries of a swap of rows are views, those of a swap of elements are numbers."""
    v[0], v[1] = v[1] * v[0], v[0]
    A[0], A[1] = A[1], A[0]
    A[2, 0], A[2, 1] = A[2, 1], A[2, 0]
    return np.sum(A * A * v)


def shifted(A):
    """Both sides overlap."""
    A[1:] = A[:-1]
    A[0] = A[0]
    A[:-1] = A[1:] * A[:-1]
    A[:] = A[::-1]
    return np.sum(A * A * np.arange(len(A)))


def scattered(x, v):
    """Written through repeated indices the last one wins, `+=` too."""
    i = np.array([0, 2, 0, 1])
    x[i] = v * v
    x[i] += v * x[0]
    x[[3, 3]] *= v[:2]
    return np.sum(x**3)


def assembled(k, u):
    """Stiffness and forces of a chain of springs, each adding to both of its ends; repeated indices add up."""
    left, right = np.array([0, 1, 2, 0]), np.array([1, 2, 3, 3])
    K = np.zeros((4, 4))
    np.add.at(K, (left, left), k)
    np.add.at(K, (right, right), k)
    np.subtract.at(K, (left, right), k)
    np.subtract.at(K, (right, left), k)
    for step in range(3):
        force = K @ u
        stretch = np.tanh(u[right] - u[left])
        np.add.at(u, left, 0.1 * stretch * k)
        np.subtract.at(u, right, [0.1, 0.2, 0.1, 0.1 * force[step]])
        np.add.at(u, [0, 0], force[0] * u[1])
    return u @ K @ u


def masked_writes(x, y):
    x[x > 0.5] = 0.3
    x[y > 0.0] = y[y > 0.0] * 2.0
    low = x < 0.0
    x[low] *= x[low]
    return np.sum(x * x * y)


def cumulative(x):
    for i in range(1, len(x)):
        x[i] *= x[i - 1]
    p = np.zeros_like(x)
    total = 0.0
    for i in range(len(x)):
        total += x[i]
        p[i] = total
    return np.sum(p * p)


def running_max(x):
    best = np.empty_like(x)
    best[0] = x[0]
    for i in range(1, len(x)):
        best[i] = max(best[i - 1], x[i])
    return np.sum(best**2 * x)


def convolved(x, k):
    y = np.zeros(len(x) + len(k) - 1)
    for i in range(len(x)):
        for j in range(len(k)):
            y[i + j] += x[i] * k[j]
    return np.sum(y**3)


def buffered(u, c, steps):
    """Double buffering."""
    un = np.zeros_like(u)
    for n in range(steps):
        for i in range(len(u)):
            un[i] = u[i] + c * (u[i - 1] ** 2 - u[i])
        u, un = un, u
    return np.sum(u * u)


def augmented(A, v, s):
    A += v
    A *= s
    A[1] -= v * A[0]
    A[:, 0] /= 2.0 + v
    A[:, 1:] **= 2
    A[0, 0] += s
    A -= A.mean()
    return np.sum(A**3)


def filled(A, s, v):
    A[:] = s
    A[1] = v
    A[:, 2] = v[0] * s
    A[2] *= A[1]
    A[...] = A * s
    return np.sum(A * A)


def narrow(x, y):
    """float32 `+=` float64 stays float32."""
    x += y
    x[0] = x[0] * y[1]
    return np.sum(x * x)


def counted(x, n):
    """Integer arrays written on the way steer what is read and written."""
    order = np.zeros(n, dtype=int)
    seen = np.zeros(len(x), dtype=bool)
    for i in range(n):
        order[i] = (3 * i + 1) % len(x)
        seen[order[i]] = True
    total = 0.0
    for i in range(n):
        x[order[i]] = x[order[i]] * x[i % len(x)]
        order[i] += 1
        if seen[i % len(x)]:
            total += x[order[i] % len(x)] ** 2
    return total


def squared_in_place(a, n):
    """What is overwritten is needed."""
    total = 0.0
    for k in range(n):
        total += np.sum(a * a[::-1])
        a[k] = a[k] ** 2 + total
        a[1:] = np.sin(a[1:])
    return total


def overwritten_root(x):
    """The root's partial is infinite at an element that is overwritten."""
    y = np.sqrt(x * np.array([0.0, 1.0, 2.0]))
    y[0] = x[1]
    return np.sum(y * y * y)


def sorted_by_bubbles(x):
    for i in range(len(x)):
        for j in range(len(x) - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x[0] * x[1] ** 2 + x[2] ** 3 - x[3]


PROGRAMS = [
    Program(smooth, lambda: (draw(5, seed=1), 0.2, 3), ("u", "c")),
    Program(swapped, lambda: (draw(3, 2, seed=2), draw(2, seed=3)), ("A", "v")),
    Program(shifted, lambda: (draw(5, seed=4),), "A"),
    Program(scattered, lambda: (draw(5, seed=5), draw(4, seed=6)), ("x", "v")),
    Program(assembled, lambda: (draw(4, seed=25), draw(4, seed=26)), ("k", "u")),
    Program(
        masked_writes,
        lambda: (np.array([0.9, -0.4, 0.2, 0.7]), np.array([0.3, -0.8, -0.5, 0.6])),
        ("x", "y"),
    ),
    Program(cumulative, lambda: (draw(5, seed=7, low=0.5, high=1.5),), "x"),
    Program(running_max, lambda: (np.array([0.3, 0.1, 0.9, 0.4, 1.2]),), "x"),
    Program(convolved, lambda: (draw(4, seed=8), draw(2, seed=9)), ("x", "k")),
    Program(buffered, lambda: (draw(4, seed=10), 0.3, 3), ("u", "c")),
    Program(augmented, lambda: (draw(3, 3, seed=11), draw(3, seed=12), 1.4), ("A", "v", "s")),
    Program(filled, lambda: (draw(3, 3, seed=13), 0.7, draw(3, seed=14)), ("A", "s", "v")),
    Program(narrow, lambda: (draw(3, seed=15).astype(np.float32), draw(3, seed=16)), ("x", "y")),
    Program(counted, lambda: (draw(5, seed=17, low=0.5, high=1.5), 7), "x"),
    Program(squared_in_place, lambda: (draw(4, seed=18), 3), "a"),
    Program(overwritten_root, lambda: (np.array([0.4, 0.9, 1.3]),), "x"),
    Program(sorted_by_bubbles, lambda: (np.array([0.9, 0.2, 1.4, -0.3]),), "x"),
]
