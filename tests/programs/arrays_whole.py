"""Whole arrays that nobody writes: operations, broadcasting, shapes, dtypes."""

import numpy as np

from tests.programs.case import Program, draw


def broadcasting(column, row, s):
    table = column * row - row / (2.0 + column) + s
    return np.sum(table * table * row)


def reductions(A):
    a = np.sum(A, axis=0) * np.mean(A, axis=0)
    b = A.sum(axis=1, keepdims=True) * A
    c = A - A.mean(axis=-1, keepdims=True)
    d = np.max(A, axis=1) * np.min(A, axis=1)
    return np.sum(a) + b.mean() + np.sum(c * c) + d.sum() + A.max() * A.min() + np.sum(A * A, axis=(0, 1))


def softmax_loss(z, labels):
    z = z - np.max(z, axis=1, keepdims=True)
    logs = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(logs[np.arange(len(labels)), labels])


def kept_dimensions(A, keep):
    """`keepdims` comes in as a variable: two calls of the helper have two meanings."""
    return np.sum(total_by(A, keep) * A) + np.sum(total_by(A, not keep) ** 2)


def total_by(A, keep):
    return np.sum(A * A, axis=1, keepdims=keep)


def selections(x, y):
    a = np.where(x > y, x * y, x - y)
    b = np.maximum(x, y) * np.minimum(x, 0.3)
    c = np.where(x > 0.0, 1.0, y) * np.abs(x)
    return np.sum(a * b + c)


def guarded_root(x, z):
    """The root's partial is infinite where it is not selected."""
    return np.sum(np.where(z > 0.0, np.sqrt(x * z), x * x))


def products(A, B, v):
    u = A @ v
    w = v @ B
    s = np.dot(u, w) + np.dot(v, v)
    M = np.matmul(A, B) + np.outer(u, v)
    return s * np.sum(M * M) + np.sum(A.dot(B) @ v)


def stacked_products(A, B, v):
    """`matmul` of stacks broadcasts; of vectors it drops an axis."""
    return np.sum((A @ B) ** 2) + np.sum(A @ v) * np.sum(v @ B)


def shapes(A, v):
    a = A.reshape(-1)
    b = np.ravel(A.T) * a
    c = np.transpose(A, (1, 0)) @ A
    d = np.concatenate([v, a[:2], v * v])
    e = np.stack([v, v + 1.0, v * v], axis=1)
    f = np.concatenate((A, A * A), axis=1).transpose()
    return np.sum(b) + np.sum(c * c) + np.sum(d * d) + np.sum(e @ e.T) + np.sum(f[1:] * f[:-1])


def makers(x, n):
    t = np.arange(n) * 0.5
    a = np.zeros(n) + x * t
    b = np.ones((2, n)) * x
    c = np.full(n, x[0])
    d = np.full_like(a, x[1]) * np.ones_like(a) + np.zeros_like(a)
    return np.sum(a * b * c * d) + np.sum(np.array([x[0], x[1] * x[2], 1.0]) * x[:3])


def curves(x):
    a = np.exp(x) + np.expm1(x) * np.exp2(x)
    b = np.log(x) + np.log1p(x) * np.log2(x) - np.log10(x)
    c = np.sqrt(x) * np.square(x) + np.reciprocal(x) - np.cbrt(x)
    d = np.power(x, 1.5) + np.power(2.0, x) + x**2 / 3.0
    return np.sum(a * b + c * d)


def waves(x):
    a = np.sin(x) * np.cos(x) + np.tan(x)
    b = np.arcsin(x) + np.arccos(x) * np.arctan(x) + np.arctan2(x, 1.0 + x)
    c = np.sinh(x) + np.cosh(x) * np.tanh(x)
    d = np.arcsinh(x) + np.arccosh(1.5 + x) * np.arctanh(x) + np.hypot(x, 0.3)
    return np.sum(a * b + c * d)


def zero_dimensional(x, y):
    """0-d arrays are arrays."""
    z = x * y + np.sin(x)
    w = np.stack([z, x, y])
    return np.sum(w * w) + z


def size_one(x, y):
    """(1,) and (1, 1) broadcast as they are."""
    return np.sum(x * y + x[0] * y[0, 0]) + x.sum() * y.mean()


def empty(x, y):
    """Sums of nothing are zero; gradients of nothing are empty."""
    e = x[:0]
    return np.sum(e * 2.0) + np.sum(y * y) + np.sum(np.concatenate([e, y[:2]]) ** 3) + np.sum(x * 0.5)


def single(x, w):
    """float32 all through."""
    h = np.tanh(x @ w) * 2.0
    return np.sum(h * h) + np.mean(w)


def mixed(x, y):
    """float32 meets float64: the gradient of each has its own dtype."""
    z = x * y + x.astype(np.float64) * 0.5
    return np.sum(z * z)


def gathered(x, indices):
    """Repeated indices read one element several times."""
    a = x[indices]
    b = x[[0, 0, 2]]
    return np.sum(a**3) + np.sum(b * x[:3] * a[:3])


def masked(x, keep):
    positive = x[x > 0.0]
    return np.sum(positive**2) * np.sum(x[keep] ** 3) + len(positive)


def indexed(A):
    """Indices of every form, read."""
    a = A[1] * A[-1] + A[:, 0, None][1]
    b = A[::-1, ::2] * A[:, 1:3]
    c = A[..., -1] * A[:, np.newaxis, 2][:, 0]
    d = A[1, 2] * A[0][1] * A[(2, 3)]
    e = A[[0, 2], [1, 1]] * A[1:3, np.array([0, 0])][:, 1]
    f = A[np.array([True, False, True])]
    return np.sum(a) + np.sum(b) + np.sum(c) + d + np.sum(e) + np.sum(f * f) + np.sum(A[1:1])


def methods(A, v):
    B = A.copy()
    n = A.shape[0] * A.ndim + A.size + len(v)
    s = B.T.dot(v).sum() * B.max() + B.mean(axis=0).min()
    return s * B.ravel()[1] / n + (B.reshape((2, 3)) * A).sum() + B.astype(float).transpose(1, 0)[2, 1]


def ties(x, y):
    """Ties share equally, `abs` at 0 gives 0: what central differences give, too."""
    return np.sum(np.maximum(x, y) + 2.0 * np.minimum(x, y)) + 3.0 * np.max(x) - np.sum(np.abs(x - 0.5))


def joined_with_whole_numbers(x):
    ends = np.concatenate([np.array([0, 3]), x * x])
    return np.sum(ends[1:] * ends[:-1])


PROGRAMS = [
    Program(broadcasting, lambda: (draw(3, 1, seed=8), draw(4, seed=9), 0.4), ("column", "row", "s")),
    Program(reductions, lambda: (draw(3, 4, seed=90),), "A"),
    Program(joined_with_whole_numbers, lambda: (draw(3, seed=91),), "x"),
    Program(softmax_loss, lambda: (draw(3, 3, seed=11), np.array([0, 2, 1])), "z"),
    Program(kept_dimensions, lambda: (draw(3, 3, seed=12), True), "A"),
    Program(
        selections,
        lambda: (np.array([0.5, -0.7, 0.1, 0.9]), np.array([0.2, 0.4, -0.6, 1.1])),
        ("x", "y"),
    ),
    Program(guarded_root, lambda: (np.array([0.5, 0.7, 0.9]), np.array([1.0, 0.0, 2.0])), "x"),
    Program(
        products,
        lambda: (draw(3, 3, seed=13), draw(3, 3, seed=14), draw(3, seed=15)),
        ("A", "B", "v"),
    ),
    Program(
        stacked_products,
        lambda: (draw(2, 2, 3, seed=16), draw(3, 2, seed=17), draw(3, seed=18)),
        ("A", "B", "v"),
    ),
    Program(shapes, lambda: (draw(2, 3, seed=19), draw(2, seed=20)), ("A", "v")),
    Program(makers, lambda: (draw(4, seed=21), 4), "x"),
    Program(curves, lambda: (draw(3, seed=22, low=0.5, high=1.5),), "x"),
    Program(waves, lambda: (draw(3, seed=23, low=0.2, high=0.7),), "x"),
    Program(zero_dimensional, lambda: (np.array(0.8), np.array(-0.4)), ("x", "y")),
    Program(size_one, lambda: (np.array([0.8]), np.array([[0.6]])), ("x", "y")),
    Program(empty, lambda: (np.zeros(0), draw(3, seed=24)), ("x", "y")),
    Program(
        single,
        lambda: (draw(2, 3, seed=25).astype(np.float32), draw(3, seed=26).astype(np.float32)),
        ("x", "w"),
    ),
    Program(mixed, lambda: (draw(3, seed=27).astype(np.float32), draw(3, seed=28)), ("x", "y")),
    Program(gathered, lambda: (draw(4, seed=29), np.array([3, 1, 1, 0, 3])), "x"),
    Program(masked, lambda: (draw(5, seed=30), np.array([True, False, True, True, False])), "x"),
    Program(indexed, lambda: (draw(3, 4, seed=31),), "A"),
    Program(methods, lambda: (draw(2, 3, seed=32), draw(2, seed=33)), ("A", "v")),
    Program(
        ties,
        lambda: (np.array([0.5, 0.9, 0.9]), np.array([0.5, 0.9, 0.2])),
        ("x", "y"),
        smooth=False,
        kink="maximum, minimum and max have ties, abs is asked at 0",
    ),
]
