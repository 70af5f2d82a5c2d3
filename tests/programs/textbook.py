"""Algorithms of numerical textbooks, by loops."""

import numpy as np

from tests.programs.case import Program, draw


def thomas(a, b, c, d):
    """Tridiagonal solve in place."""
    n = len(d)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    x = np.zeros(n)
    x[-1] = d[-1] / b[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return np.sum(x * x)


def factored(A):
    """LU in place, without pivots; the helper writes into its argument."""
    n = len(A)
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]


def lu_solve(A, b):
    factored(A)
    n = len(b)
    for i in range(n):
        b[i] -= np.dot(A[i, :i], b[:i])
    for i in reversed(range(n)):
        b[i] = (b[i] - A[i, i + 1 :] @ b[i + 1 :]) / A[i, i]
    return np.sum(b * b)


def pivoted_determinant(A):
    """Elimination with swaps of rows; the pivots are found by comparing."""
    n = A.shape[0]
    det = 1.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if p != k:
            A[[k, p]] = A[[p, k]]
            det = -det
        det *= A[k, k]
        for i in range(k + 1, n):
            A[i, k:] -= A[i, k] / A[k, k] * A[k, k:]
    return det * det


def cholesky(A):
    n = len(A)
    L = np.zeros_like(A)
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                L[i, i] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    logdet = 0.0
    for i in range(n):
        logdet += 2.0 * np.log(L[i, i])
    return logdet + np.sum(L**3)


def gram_schmidt(A):
    Q = A.copy()
    for j in range(Q.shape[1]):
        q = Q[:, j]
        for i in range(j):
            q -= np.dot(Q[:, i], q) * Q[:, i]
        q /= np.sqrt(np.dot(q, q))
    return np.sum(Q**3 * A)


def simpson(a, b, n):
    h = (b - a) / n
    total = integrand(a) + integrand(b)
    for i in range(1, n):
        weight = 4.0 if i % 2 else 2.0
        total += weight * integrand(a + i * h)
    return total * h / 3.0


def integrand(x):
    return np.exp(-x) * np.sin(2.0 * x)


def lagrange(xs, ys, x):
    total = 0.0
    for i in range(len(xs)):
        term = ys[i]
        for j in range(len(xs)):
            if j != i:
                term *= (x - xs[j]) / (xs[i] - xs[j])
        total += term
    return total


def fourier(x):
    """Power of the first frequencies, by sums."""
    n = len(x)
    power = np.zeros(n // 2)
    for k in range(len(power)):
        re = 0.0
        im = 0.0
        for t in range(n):
            angle = 2.0 * np.pi * k * t / n
            re += x[t] * np.cos(angle)
            im -= x[t] * np.sin(angle)
        power[k] = re * re + im * im
    return np.sum(np.log1p(power))


def softened(a, b, c):
    low = min(a, b, c)
    return low - 0.3 * np.log(np.exp((low - a) / 0.3) + np.exp((low - b) / 0.3) + np.exp((low - c) / 0.3))


def time_warp(x, y):
    """Soft dynamic time warping: a table filled cell by cell."""
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), 1000.0)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            D[i, j] = cost + softened(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


def shortest_paths(D):
    """Floyd and Warshall in place; the result is linear between ties, its square is not."""
    n = len(D)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if D[i, k] + D[k, j] < D[i, j]:
                    D[i, j] = D[i, k] + D[k, j]
    return np.sum(D * D)


def jacobi(A, b, tol):
    x = np.zeros_like(b)
    new = np.zeros_like(b)
    for n in range(100):
        for i in range(len(b)):
            s = 0.0
            for j in range(len(b)):
                if j != i:
                    s += A[i, j] * x[j]
            new[i] = (b[i] - s) / A[i, i]
        change = np.max(np.abs(new - x))
        x, new = new, x
        if change < tol:
            break
    return np.dot(x, x)


DOMINANT = np.array([[4.0, 1.0, -0.5], [0.7, 3.0, 0.4], [0.2, -0.6, 5.0]])
POSITIVE = np.array([[2.0, 0.4, 0.1], [0.4, 1.5, -0.3], [0.1, -0.3, 1.8]])

PROGRAMS = [
    Program(
        thomas,
        lambda: (draw(4, seed=1), draw(4, seed=2) + 4.0, draw(4, seed=3), draw(4, seed=4)),
        ("a", "b", "c", "d"),
    ),
    Program(lu_solve, lambda: (DOMINANT.copy(), draw(3, seed=5)), ("A", "b")),
    Program(pivoted_determinant, lambda: (draw(3, 3, seed=6),), "A"),
    Program(cholesky, lambda: (POSITIVE.copy(),), "A"),
    Program(gram_schmidt, lambda: (draw(3, 2, seed=7),), "A"),
    Program(simpson, lambda: (0.2, 1.7, 6), ("a", "b")),
    Program(lagrange, lambda: (np.array([0.0, 0.7, 1.5]), draw(3, seed=8), 1.1), ("xs", "ys", "x")),
    Program(fourier, lambda: (draw(6, seed=9),), "x"),
    Program(time_warp, lambda: (draw(3, seed=10), draw(2, seed=11)), ("x", "y")),
    Program(shortest_paths, lambda: (np.array([[0.1, 0.9, 3.0], [2.5, 0.2, 0.7], [0.6, 4.0, 0.3]]),), "D"),
    Program(jacobi, lambda: (DOMINANT.copy(), draw(3, seed=12), 1e-13), ("A", "b")),
]
