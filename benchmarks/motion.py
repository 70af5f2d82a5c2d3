"""Motion step by step, of numbers and of arrays, each with its gradient by hand."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


def van_der_pol(mu: float, x: float, steps: int, dt: float) -> float:
    """An oscillator that damps itself, by Euler's method; the integral of its square."""
    v = 0.0
    loss = 0.0
    for _ in range(steps):
        a = mu * (1.0 - x * x) * v - x
        x = x + dt * v
        v = v + dt * a
        loss = loss + dt * x * x
    return loss


def van_der_pol_by_hand(mu: float, x: float, steps: int, dt: float, ans_bar: float = 1.0) -> tuple[float, float]:
    """Gradient of `van_der_pol` with respect to `mu` and `x`."""
    v = 0.0
    tape = []
    for _ in range(steps):
        tape.append((x, v))
        a = mu * (1.0 - x * x) * v - x
        x = x + dt * v
        v = v + dt * a
    mu_bar = x_bar = v_bar = 0.0
    after = x
    for _ in range(steps):
        x, v = tape.pop()
        x_bar += 2.0 * dt * after * ans_bar
        a_bar = dt * v_bar
        v_bar += dt * x_bar
        c = 1.0 - x * x
        mu_bar += c * v * a_bar
        v_bar += mu * c * a_bar
        x_bar -= a_bar + 2.0 * x * mu * v * a_bar
        after = x
    return mu_bar, x_bar


def n_body(q: Array, mass: Array, steps: int, dt: float) -> Any:
    """Bodies that attract one another, all pairs at once."""
    v = np.zeros_like(q)
    for _ in range(steps):
        d = q[None, :, :] - q[:, None, :]
        square = np.sum(d * d, axis=2) + 0.01
        w = mass / (square * np.sqrt(square))
        v = v + dt * np.sum(w[:, :, None] * d, axis=1)
        q = q + dt * v
    return np.sum(q * q)


def n_body_by_hand(q: Array, mass: Array, steps: int, dt: float, ans_bar: float = 1.0) -> tuple[Array, Array]:
    """Gradient of `n_body` with respect to `q` and `mass`."""
    v = np.zeros_like(q)
    tape = []
    for _ in range(steps):
        d = q[None, :, :] - q[:, None, :]
        square = np.sum(d * d, axis=2) + 0.01
        cube = square * np.sqrt(square)
        w = mass / cube
        v = v + dt * np.sum(w[:, :, None] * d, axis=1)
        q = q + dt * v
        tape.append((d, square, cube, w))
    q_bar = 2.0 * ans_bar * q
    v_bar = np.zeros_like(q)
    mass_bar = np.zeros_like(mass)
    for _ in range(steps):
        d, square, cube, w = tape.pop()
        v_bar += dt * q_bar
        pull_bar = dt * v_bar[:, None, :]
        w_bar = np.sum(pull_bar * d, axis=2)
        mass_bar += np.sum(w_bar / cube, axis=0)
        square_bar = -1.5 * w_bar * w / square
        d_bar = w[:, :, None] * pull_bar + 2.0 * square_bar[:, :, None] * d
        q_bar += np.sum(d_bar, axis=0) - np.sum(d_bar, axis=1)
    return q_bar, mass_bar


def bodies(count: int, steps: int) -> tuple[Any, ...]:
    """Arguments of `n_body`."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(count, 3)), rng.random(count), steps, 0.01
