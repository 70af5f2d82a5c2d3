"""Complex numbers inside real programs: wave fields in buffers, parts that are viewed, phases."""

import numpy as np

from tests.programs.case import Program, draw


def beam(aperture, phase, k, steps):
    """A paraxial field marched by Crank and Nicolson's rule, its parts read where it was written."""
    n = len(aperture)
    u = np.zeros(n, dtype=complex)
    u[:] = aperture * np.exp(1j * phase)
    intensity = 0.0
    for s in range(steps):
        before = u.imag
        rough = np.sum(before * before)
        for i in range(1, n - 1):
            u[i] = u[i] + 0.1j / k * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        intensity += np.sum(u.real**2) + 0.5 * np.sum(before**3) + rough
    return intensity


def tuned_circuit(r, c, sweep):
    """The response of a resonator over frequencies; real and imaginary part are filled apart."""
    answer = np.empty(len(sweep), dtype=complex)
    inductive, resistive = answer.imag, answer.real
    for i, w in enumerate(sweep):
        z = complex(r, w - 1.0 / (c * w))
        resistive[i] = (1.0 / z).real
        inductive[i] = (1.0 / z).imag
    answer *= answer
    return np.sum(inductive * resistive) + abs(answer[0]) ** 2


def spun(z, spin):
    """A complex parameter, turned in place, its imaginary part written through a view that is kept."""
    parts = [z.imag, z.real]
    for i in range(len(z)):
        z[i] = z[i] * z[i - 1] + 1j * spin
    parts[0][1:] *= spin
    parts[1][0] = parts[0][1] * spin
    swap(z, parts[0])
    return np.sum(parts[0] * z.real) + np.sum(np.abs(z) ** 2)


def swap(z, imaginary):
    """Writes through one name, reads through the other."""
    imaginary[0] = z[1].imag * z[0].real
    z[1] = z[1] - 1j * imaginary[0]


def quasi_newton(coefficients, start):
    """A root of a polynomial in the complex plane; the result is how far out it lies."""
    x = complex(start, 0.5)
    for _ in range(4):
        value, slope = 0j, 0j
        for a in coefficients:
            slope = slope * x + value
            value = value * x + a
        x = x - value / slope
    return abs(x) ** 2 + x.imag


PROGRAMS = [
    Program(beam, lambda: (draw(6, seed=61), draw(6, seed=62), 1.3, 3), ("aperture", "phase", "k")),
    Program(tuned_circuit, lambda: (0.7, 1.4, np.array([0.5, 0.9, 1.6])), ("r", "c", "sweep")),
    Program(spun, lambda: (draw(3, seed=63) + 1j * draw(3, seed=64), 0.8), "spin"),
    Program(quasi_newton, lambda: (draw(4, seed=65), 0.3), ("coefficients", "start")),
]
