"""Programs of physics."""

import numpy as np

from tests.programs.case import Program, draw


def heat(u, k, steps):
    """Explicit heat equation, whole slices at once."""
    for n in range(steps):
        u[1:-1] = u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u[0] = u[1]
        u[-1] = 0.0
    return np.sum(u * u) / len(u)


def wave(u, c, steps):
    """Three time levels in turn, ghost cells at both ends."""
    old = u.copy()
    new = np.zeros_like(u)
    energy = 0.0
    for n in range(steps):
        u[0] = u[2]
        u[-1] = u[-3]
        for i in range(1, len(u) - 1):
            new[i] = 2.0 * u[i] - old[i] + c * c * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        energy += np.sum((new[1:-1] - old[1:-1]) ** 2)
        old, u, new = u, new, old
    return energy + u[2] ** 2


def n_body(position, velocity, mass, dt, steps):
    n = len(mass)
    for step in range(steps):
        for i in range(n):
            for j in range(n):
                if i == j:
                    continue
                d = position[j] - position[i]
                r2 = np.dot(d, d) + 0.05
                velocity[i] += dt * mass[j] * d / (r2 * np.sqrt(r2))
        position += dt * velocity
    return 0.5 * np.sum(mass * np.sum(velocity**2, axis=1)) + position[0, 1]


def slope(y, t, mu):
    return np.stack([y[1], mu * (1.0 - y[0] ** 2) * y[1] - y[0] + 0.1 * np.cos(t)])


def runge_kutta(y, mu, h, steps):
    """Van der Pol's oscillator."""
    t = 0.0
    for _ in range(steps):
        k1 = slope(y, t, mu)
        k2 = slope(y + 0.5 * h * k1, t + 0.5 * h, mu)
        k3 = slope(y + 0.5 * h * k2, t + 0.5 * h, mu)
        k4 = slope(y + h * k3, t + h, mu)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        t += h
    return y[0] * y[1]


def pendulum(angle, speed, length, dt):
    """Symplectic steps until it swings back; the time is counted in whole steps."""
    t = 0.0
    while speed > 0.0:
        speed = speed - dt * 9.8 / length * np.sin(angle)
        angle = angle + dt * speed
        t += dt
        if t > 3.0:
            break
    return angle * angle + speed * t


def gauss_seidel(u, f, w):
    n = u.shape[0]
    for sweep in range(2):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])
                u[i, j] = (1.0 - w) * u[i, j] + w * new
    return np.sum(u**3)


def bounce(height, drop):
    """The steepest slope of a potential with a hard wall."""
    total = 0.0
    for k in range(3):
        total += max(height - 0.3 * k, 0.0) ** 2
        height = abs(height - drop)
    return total


def wall(x):
    """A force that sets in at 1, which no element is near."""
    y = np.maximum(x - 1.0, 0.0)
    return np.sum(y * y) + np.sum(x**2)


def rotated(turn, point):
    """A point turned about a vector, by its length, after Rodrigues."""
    angle = np.sqrt(turn @ turn)
    axis = turn / angle
    found = point * np.cos(angle) + np.cross(axis, point) * np.sin(angle)
    return found + axis * (axis @ point * (1.0 - np.cos(angle)))


def reprojection(turns, points, which):
    """Squared errors of points seen by cameras that are turned."""
    total = 0.0
    for i, j in which:
        seen = rotated(turns[i], points[j])
        total = total + (seen[0] / seen[2] - 0.1) ** 2 + (seen[1] / seen[2] + 0.2) ** 2
    return total


def relaxed(b, sweeps):
    """Poisson's equation by Jacobi's method, in arrays that take turns."""
    u = np.zeros_like(b)
    for _ in range(sweeps):
        v = u.copy()
        v[1:-1] = 0.5 * (u[2:] + u[:-2] - b[1:-1])
        u = v
    return np.sum(u * u)


def advected(q, speed, ratio, steps):
    """Advection of densities in cells by upwind fluxes through the faces between them."""
    for n in range(steps):
        flux = speed * q[:-1] * (speed > 0.0) + speed * q[1:] * (speed <= 0.0)
        q[1:-1] -= ratio * (flux[1:] - flux[:-1])
    return q @ q


def diffused_in_place(u, steps):
    """Diffusion in place, inside of edges that stay."""
    for n in range(steps):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
    return np.sum(u**2)


PROGRAMS = [
    Program(heat, lambda: (draw(6, seed=1), 0.2, 4), ("u", "k")),
    Program(wave, lambda: (draw(6, seed=2), 0.5, 4), ("u", "c")),
    Program(
        n_body,
        lambda: (draw(3, 2, seed=3), draw(3, 2, seed=4), draw(3, seed=5, low=0.5), 0.1, 2),
        ("position", "velocity", "mass"),
    ),
    Program(runge_kutta, lambda: (np.array([1.0, 0.3]), 0.8, 0.1, 3), ("y", "mu", "h")),
    Program(pendulum, lambda: (0.1, 1.3, 1.2, 0.05), ("angle", "speed", "length")),
    Program(gauss_seidel, lambda: (draw(4, 4, seed=6), draw(4, 4, seed=7), 1.3), ("u", "f", "w")),
    Program(bounce, lambda: (0.85, 0.5), ("height", "drop")),
    Program(
        reprojection,
        lambda: (draw(2, 3, seed=8), draw(3, 3, seed=9) + [0.0, 0.0, 3.0], [(0, 1), (1, 2), (0, 0)]),
        ("turns", "points"),
    ),
    Program(relaxed, lambda: (draw(6, seed=10), 4), "b"),
    Program(advected, lambda: (draw(6, seed=11), 0.7, 0.4, 3), ("q", "speed", "ratio")),
    Program(diffused_in_place, lambda: (draw(5, 4, seed=12), 3), "u"),
    Program(wall, lambda: (np.array([1.2, 1.5, 0.3]),), "x"),
]
