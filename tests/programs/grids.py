"""Solvers and simulations on grids, from their textbook definitions: sweeps, lines, halos, all in place."""

import numpy as np

from tests.programs.case import Program, draw


def thomas(lower, diagonal, upper, rhs):
    """A tridiagonal system solved in its right side; the diagonals are overwritten."""
    n = len(rhs)
    for i in range(1, n):
        w = lower[i] / diagonal[i - 1]
        diagonal[i] -= w * upper[i - 1]
        rhs[i] -= w * rhs[i - 1]
    rhs[n - 1] /= diagonal[n - 1]
    for i in reversed(range(n - 1)):
        rhs[i] = (rhs[i] - upper[i] * rhs[i + 1]) / diagonal[i]


def alternating_directions(u, k, steps):
    """Peaceman and Rachford: half a step along the rows, half a step along the columns."""
    n, m = u.shape
    half = np.empty_like(u)
    for step in range(steps):
        for source, target, lines in ((u, half, n), (half.T, u.T, m)):
            for i in range(lines):
                line = target[i]
                count = len(line)
                np.multiply(source[i], 1.0 - 2.0 * k, out=line)
                line += k * source[i - 1]
                line += k * source[(i + 1) % lines]
                thomas(np.full(count, -k), np.full(count, 1.0 + 2.0 * k), np.full(count, -k), line)
    return np.sum(u**2) + u[0, 0]


def red_black(p, f, omega, sweeps):
    """Over-relaxation of a Poisson problem, colour by colour, with strided slices."""
    for sweep in range(sweeps):
        for colour in (0, 1):
            for i in range(1, p.shape[0] - 1):
                first = 1 + (i + colour) % 2
                here = p[i, first:-1:2]
                around = p[i - 1, first:-1:2] + p[i + 1, first:-1:2] + p[i, first - 1 : -2 : 2] + p[i, first + 1 :: 2]
                here += omega * (0.25 * (around - f[i, first:-1:2]) - here)
    return np.sum(p[1:-1, 1:-1] ** 2)


def maxwell(source, epsilon, steps):
    """Two-dimensional finite differences in time for a transverse field, with a lossless edge."""
    n = len(epsilon)
    ez, hx, hy = np.zeros((n, n)), np.zeros((n, n - 1)), np.zeros((n - 1, n))
    energy = 0.0
    for t in range(steps):
        hx -= 0.5 * (ez[:, 1:] - ez[:, :-1])
        hy += 0.5 * (ez[1:] - ez[:-1])
        curl = hy[1:, 1:-1] - hy[:-1, 1:-1] - (hx[1:-1, 1:] - hx[1:-1, :-1])
        ez[1:-1, 1:-1] += 0.5 / epsilon[1:-1, 1:-1] * curl
        ez[n // 2, n // 2] += source * np.sin(0.7 * t)
        energy += np.sum(ez[1] ** 2)
    return energy + np.sum(hx * hx[::-1])


def cavity(lid, viscosity, steps):
    """Vorticity and stream function of a lid-driven cavity; the stream function by a few sweeps each step."""
    n = 5
    psi, w = np.zeros((n, n)), np.zeros((n, n))
    inner = (slice(1, -1), slice(1, -1))
    for step in range(steps):
        for sweep in range(3):
            psi[inner] = 0.25 * (psi[2:, 1:-1] + psi[:-2, 1:-1] + psi[1:-1, 2:] + psi[1:-1, :-2] + w[inner])
        w[0], w[-1] = -2.0 * psi[1], -2.0 * psi[-2] - 2.0 * lid
        w[:, 0], w[:, -1] = -2.0 * psi[:, 1], -2.0 * psi[:, -2]
        u = 0.5 * (psi[2:, 1:-1] - psi[:-2, 1:-1])
        v = -0.5 * (psi[1:-1, 2:] - psi[1:-1, :-2])
        spread = w[2:, 1:-1] + w[:-2, 1:-1] + w[1:-1, 2:] + w[1:-1, :-2] - 4.0 * w[inner]
        carried = u * (w[1:-1, 2:] - w[1:-1, :-2]) + v * (w[2:, 1:-1] - w[:-2, 1:-1])
        w[inner] += 0.1 * (viscosity * spread - 0.5 * carried)
    return np.sum(psi**2) + np.max(np.abs(psi))


def levinson(r, y):
    """Levinson and Durbin's recursion for a symmetric Toeplitz system, the predictor turned round in place."""
    n = len(y)
    a, x = np.zeros(n), np.zeros(n)
    a[0], x[0] = 1.0, y[0] / r[0]
    error = r[0]
    for k in range(1, n):
        reflection = -(a[:k] @ r[k:0:-1]) / error
        a[: k + 1] += reflection * a[k::-1]
        error *= 1.0 - reflection**2
        gain = (y[k] - x[:k] @ r[k:0:-1]) / error
        x[: k + 1] += gain * a[k::-1]
    return x @ x + error


def csr_power(data, x, steps):
    """Power iteration with a sparse matrix by rows."""
    indptr, indices = np.array([0, 2, 3, 5, 6]), np.array([0, 2, 1, 3, 0, 2])
    y = np.empty_like(x)
    for step in range(steps):
        y.fill(0.0)
        for row in range(len(indptr) - 1):
            for k in range(indptr[row], indptr[row + 1]):
                y[row] += data[k] * x[indices[k]]
        norm = np.sqrt(y @ y)
        np.divide(y, norm, out=x)
    return norm + x[0]


def alignment(match, gap):
    """Smith and Waterman's best local alignment: the maximum of the table and where it comes from."""
    a, b = [0, 1, 1, 2], [1, 1, 0, 2, 1]
    H = np.zeros((len(a) + 1, len(b) + 1))
    for (i, j), same in np.ndenumerate(np.equal.outer(a, b)):
        diagonal = H[i, j] + (match if same else -gap)
        H[i + 1, j + 1] = max(0.0, diagonal, H[i, j + 1] - gap, H[i + 1, j] - gap)
    best = np.max(H)
    return best + 0.1 * np.sum(H * H)


def masked_correlation(data, eps):
    """PolyBench's correlation: deviations that are nearly zero are replaced, the matrix is filled by symmetry."""
    n, m = data.shape
    mean = np.mean(data, axis=0)
    std = np.sqrt(np.mean((data - mean) ** 2, axis=0))
    std[std <= eps] = 1.0
    data -= mean
    np.divide(data, np.sqrt(n) * std, out=data)
    corr = np.eye(m)
    for i in range(m - 1):
        corr[i + 1 :, i] = corr[i, i + 1 :] = data[:, i] @ data[:, i + 1 :]
    return np.sum(corr**3)


PROGRAMS = [
    Program(alternating_directions, lambda: (draw(3, 4, seed=101), 0.3, 2), ("u", "k")),
    Program(red_black, lambda: (draw(5, 6, seed=102), draw(5, 6, seed=103), 1.4, 2), ("p", "f", "omega")),
    Program(maxwell, lambda: (1.3, draw(5, 5, seed=104, low=1.0, high=2.0), 4), ("source", "epsilon")),
    Program(cavity, lambda: (1.2, 0.3, 3), ("lid", "viscosity")),
    Program(levinson, lambda: (np.array([2.0, 0.6, -0.3, 0.2]), draw(4, seed=105)), ("r", "y")),
    Program(csr_power, lambda: (draw(6, seed=106, low=0.5, high=1.5), draw(4, seed=107), 3), ("data", "x")),
    Program(alignment, lambda: (1.7, 0.45), ("match", "gap")),
    Program(masked_correlation, lambda: (draw(4, 3, seed=108), 0.1), "data"),
]
