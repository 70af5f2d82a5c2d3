"""Views: what is written through one name is read through another."""

import numpy as np

from tests.programs.case import Program, draw


def transposed_then_flat(A, v):
    """`reshape` of a transposed argument is a copy, of a plain one a view."""
    flat = A.reshape(-1)
    flat[0] = v[0] * v[1]
    flat[1:3] *= v
    return np.sum(A * A) + np.sum(flat**3)


def written_by_columns(A, v):
    B = A.T
    B[0] = v * B[0]
    B[1, 0] += B[0, 1] ** 2
    return np.sum(A**3)


def rows(A, s):
    for row in A:
        row *= s
        row[0] = row[1] * row[0]
    for k, row in enumerate(A):
        row[1:] += k * row[0]
    return np.sum(A * A)


def view_of_view(a, x):
    b = a[1:]
    c = b[::2]
    c[0] = x * a[1]
    b[1] += c[1] ** 2
    a[3] = c[0] * b[1]
    c[:] = c * c
    return np.sum(a * np.arange(6.0)) + np.sum(b * b)


def ravelled(A, B, s):
    """`ravel` gives a view of what is contiguous, else a copy."""
    a = A.ravel()
    b = B.ravel()
    a[0] = s * a[1]
    b[0] = s * b[1]
    a += s
    b *= b
    return np.sum(A * A) + np.sum(B * B) + np.sum(a * b)


def diagonal(A, v):
    n = len(A)
    A.reshape(-1)[:: n + 1] += v
    d = A.ravel()[:: n + 1]
    d *= d
    return np.sum(A @ A)


def overlapping(a):
    """NumPy buffers what overlaps."""
    left = a[:-1]
    right = a[1:]
    right += left
    left *= right
    a[::-1] += a
    return np.sum(a * a * a)


def kept_views(a):
    """Views kept in a list, written after their storage has changed."""
    parts = []
    for i in range(3):
        parts.append(a[2 * i : 2 * i + 2])
    a[:] = np.sin(a)
    for k, p in enumerate(parts):
        p[0] = p[1] * p[0] + k
    parts[1][:] = parts[0] * parts[2]
    return np.sum(a * a)


def old_row(A):
    """A row read before its storage is overwritten is a view: the new content counts."""
    first = A[0]
    total = np.sum(first * first)
    A[0] = A[1] * A[2]
    total += np.sum(first**3)
    copied = A[1].copy()
    A[1] = first
    return total * np.sum(copied * A[1])


def strided_argument(a, s):
    """The argument is every other element of a larger array."""
    b = a.reshape(2, 2)
    b[0, 1] = s * a[0]
    a[3] = b[0, 1] * a[1]
    return np.sum(a * a) + np.sum(b**3)


def broadcast_row(A, v):
    w = v[None, :]
    A[1:] = w * A[1:]
    v[0] = A[1, 1]
    return np.sum(A * w)


def log_determinant(A):
    """Cholesky's factor is filled by columns, and its diagonal is read through NumPy's read-only view."""
    n = len(A)
    L = np.zeros_like(A)
    d = np.diagonal(L)
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - L[j, :j] @ L[j, :j])
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - L[i, :j] @ L[j, :j]) / d[j]
    return 2.0 * np.sum(np.log(d))


def definite(n):
    """A symmetric matrix with eigenvalues above 1."""
    half = draw(n, n, seed=17)
    return half @ half.T + n * np.eye(n)


def halves(u, c):
    """A Haar transform: the halves of a signal are views, written level by level."""
    n = len(u)
    while n > 1:
        even, odd = u[:n:2].copy(), u[1:n:2].copy()
        mean, detail = np.split(u[: n + n % 2], 2)
        mean[:] = c * (even + odd)
        detail[:] = c * (even - odd)
        n //= 2
    return np.sum(u**2 * np.arange(len(u)))


def quadrants(A, s):
    """A block matrix squared in place, by views of views."""
    upper, lower = np.vsplit(A, 2)
    a, b = np.hsplit(upper, 2)
    c, d = np.hsplit(lower, 2)
    top = a @ b
    c += s * top
    d[:] = c.T @ d
    b[...] = np.rot90(a) * s
    turned = np.rollaxis(A.reshape(2, 2, 4), 2)
    turned[0] *= turned[1]
    A.mT[1] += A.mT[0] ** 2
    return np.sum(A**3)


def striped(grid, w):
    """Neighbouring rows are mixed pair by pair, a column is kept through three of its views."""
    for above, below in zip(grid[:-1], grid[1:]):
        below[1:] += w * above[:-1]
        above *= below
    thin = grid[:, 1:2]
    column = thin.squeeze(axis=1)
    stood = column[..., None]
    stood[0] = w * column[1]
    column += thin[::-1, 0]
    (first, second, third) = grid
    third[:] = first * second
    return np.sum(grid**2)


def windowed(u, w):
    """A moving variance and its largest window, through NumPy's overlapping windows, and a filter of a padded plane."""
    with np.errstate(divide="ignore"):
        signal = np.nan_to_num(u / (np.abs(u) > 0.2), posinf=w[0], neginf=0.5)
    windows = np.lib.stride_tricks.sliding_window_view(signal, 3)
    total = np.sum(np.var(windows, axis=1)) + windows[1, 0] * windows[-1][2]
    for k in range(0, len(windows), 2):
        total += w[1] * windows[k, 1] ** 2 * windows[k].sum()
    plane = np.pad(np.outer(w, signal), ((1, 0), (1, 1)), mode="reflect")
    patches = np.lib.stride_tricks.sliding_window_view(plane, (2, 2))
    return total + np.einsum("ijkl,kl->", patches**2, w[:4].reshape(2, 2))


def centred(rows):
    """Rows less their means."""
    return rows - np.mean(rows, axis=-1, keepdims=True)


def shown_twice(x, y):
    """Views that show an element at several places, cut and handed to a helper."""
    windows = np.lib.stride_tricks.sliding_window_view(x * y, 3, -1)[..., ::2, :]
    repeated = np.broadcast_to(x, (3, len(x)))[::2, 1:]
    return np.sum(centred(windows) ** 3) + np.sum(centred(repeated) ** 2) * repeated[1, 0]


def windows_cut(x):
    return np.sum(centred(np.lib.stride_tricks.sliding_window_view(x, 5, -1)[..., ::3, :]) ** 2)


def joined_and_cut(x, y):
    """Rows of numbers and of arrays joined, some taken out, and what they have in common."""
    table = np.vstack([[x[0], y, 1.0, x[1]], [0.5, x[4], x[2], y], (y, 0.5, x[2], 2.0)])
    table[1] *= y
    shape = np.delete(table, [0, -1]).reshape((5, 2), order="F")
    shape[2] += x[4]
    return np.sum(np.cov(shape[:, 0], x) ** 2) + np.prod(x, where=x > 0.1)


def reals_as_complex_numbers(x):
    """The numbers of an array in twos, written as complex ones."""
    y = x * 1.0
    z = y.view(complex)
    z[0] = z[1] * 1j
    z *= 2.0 + 1.0j
    imaginary = z.imag
    imaginary += 1.0
    return np.sum(y**3)


def complex_numbers_as_reals(x):
    """The parts of complex numbers, written in turn, and cut out of what nobody writes."""
    z = np.zeros(2, complex)
    z[0] = x[0] + 1j * x[1]
    parts = z.view("f8")
    for i in range(4):
        parts[i] = parts[i] + x[i] * parts[0]
    spectrum = np.fft.rfft(x).view(float).reshape(-1, 2)
    return np.sum(np.abs(z) ** 2) + np.sum(z.imag) + np.sum(np.hypot(spectrum[:, 0], spectrum[:, 1] + 0.3))


PROGRAMS = [
    Program(reals_as_complex_numbers, lambda: (draw(4, seed=26),), "x"),
    Program(complex_numbers_as_reals, lambda: (draw(4, seed=27),), "x"),
    Program(shown_twice, lambda: (draw(7, seed=24), 0.8), ("x", "y")),
    Program(windows_cut, lambda: (draw(12, seed=25),), "x"),
    Program(windowed, lambda: (draw(7, seed=21), draw(4, seed=22)), ("u", "w")),
    Program(joined_and_cut, lambda: (draw(5, seed=23), 0.7), ("x", "y")),
    Program(transposed_then_flat, lambda: (draw(2, 3, seed=1).T, draw(2, seed=2)), ("A", "v")),
    Program(written_by_columns, lambda: (draw(2, 3, seed=3), draw(2, seed=4)), ("A", "v")),
    Program(rows, lambda: (draw(3, 3, seed=5), 1.2), ("A", "s")),
    Program(view_of_view, lambda: (draw(6, seed=6), 0.7), ("a", "x")),
    Program(ravelled, lambda: (draw(2, 2, seed=7), draw(2, 2, seed=8).T, 0.6), ("A", "B", "s")),
    Program(diagonal, lambda: (draw(3, 3, seed=9), draw(3, seed=10)), ("A", "v")),
    Program(overlapping, lambda: (draw(5, seed=11),), "a"),
    Program(kept_views, lambda: (draw(6, seed=12),), "a"),
    Program(old_row, lambda: (draw(3, 3, seed=13),), "A"),
    Program(strided_argument, lambda: (draw(8, seed=14)[::2], 1.3), ("a", "s")),
    Program(broadcast_row, lambda: (draw(3, 2, seed=15), draw(2, seed=16)), ("A", "v")),
    Program(log_determinant, lambda: (definite(3),), "A"),
    Program(halves, lambda: (draw(8, seed=18), 0.6), ("u", "c")),
    Program(quadrants, lambda: (draw(4, 4, seed=19), 0.7), ("A", "s")),
    Program(striped, lambda: (draw(3, 4, seed=20), 0.5), ("grid", "w")),
]
