"""Programs of loops over numbers and of arrays, for ``jit="c"`` beside the generated Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

import tangentx as tx
from benchmarks.measure import interleaved


@dataclass(frozen=True)
class Jitted:
    """A function and its arguments; the goal is a share of the time of the generated Python."""

    name: str
    primal: Callable[..., Any]
    arguments: tuple[Any, ...]
    goal: float


def van_der_pol(mu: Any, x: Any, steps: Any, dt: Any) -> Any:
    """An oscillator, step by step."""
    v = 0.0
    loss = 0.0
    for _ in range(steps):
        a = mu * (1.0 - x * x) * v - x
        x = x + dt * v
        v = v + dt * a
        loss = loss + dt * x * x
    return loss


def gauss_seidel(b: Any, sweeps: Any) -> Any:
    """Relaxation in place."""
    x = np.zeros_like(b)
    for _ in range(sweeps):
        for i in range(1, len(b) - 1):
            x[i] = 0.5 * (b[i] + x[i - 1] + x[i + 1])
    return np.sum(x * x)


def cholesky(a: Any) -> Any:
    """Half the logarithm of a determinant, by its factor."""
    n = a.shape[0]
    factor = np.zeros_like(a)
    total = 0.0
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s = s - factor[j, k] * factor[j, k]
        factor[j, j] = math.sqrt(s)
        total = total + math.log(factor[j, j])
        for i in range(j + 1, n):
            t = a[i, j]
            for k in range(j):
                t = t - factor[i, k] * factor[j, k]
            factor[i, j] = t / factor[j, j]
    return total


def n_body(p: Any, mass: Any, steps: Any, dt: Any) -> Any:
    """Bodies that attract one another."""
    q = p.copy()
    v = np.zeros_like(p)
    for _ in range(steps):
        for i in range(len(mass)):
            for j in range(len(mass)):
                if i != j:
                    dx = q[j, 0] - q[i, 0]
                    dy = q[j, 1] - q[i, 1]
                    square = dx * dx + dy * dy + 0.01
                    w = mass[j] / (square * math.sqrt(square))
                    v[i, 0] += dt * w * dx
                    v[i, 1] += dt * w * dy
        for i in range(len(mass)):
            q[i, 0] += dt * v[i, 0]
            q[i, 1] += dt * v[i, 1]
    return np.sum(q * q)


def burgers(u: Any, nu: Any, dt: Any, dx: Any, steps: Any) -> Any:
    """A wave that steepens."""
    u = u.copy()
    for _ in range(steps):
        bend = (u[2:] - 2.0 * u[1:-1] + u[:-2]) / dx**2
        u[1:-1] = u[1:-1] - dt / dx * u[1:-1] * (u[1:-1] - u[:-2]) + nu * dt * bend
    return np.sum(u * u)


def heat(u: Any, c: Any, steps: Any) -> Any:
    """Diffusion on a grid."""
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += c * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
    return np.sum(u**2)


def polynomial(x: Any) -> Any:
    """Horner's rule."""
    return np.sum(1.0 + x * (0.5 + x * (0.25 + x * (0.125 + x * 0.0625))))


def options(s: Any, k: Any, t: Any, r: Any, sigma: Any) -> Any:
    """Prices by Black and Scholes, with a smooth approximation of the normal distribution."""
    d1 = (np.log(s / k) + (r + sigma * sigma / 2.0) * t) / (sigma * np.sqrt(t))
    d2 = d1 - sigma * np.sqrt(t)
    first = 0.5 * (1.0 + np.tanh(0.79788456 * (d1 + 0.044715 * d1 * d1 * d1)))
    second = 0.5 * (1.0 + np.tanh(0.79788456 * (d2 + 0.044715 * d2 * d2 * d2)))
    return np.sum(s * first - k * np.exp(-r * t) * second)


def _slope(state: Any, push: Any, cart: Any) -> Any:
    """How fast a cart that is pushed, and the pole on it, change their state."""
    s, c = np.sin(state["angle"]), np.cos(state["angle"])
    mass, length = cart["cart"] + cart["pole"], cart["length"]
    force = (push + cart["pole"] * length * state["spin"] ** 2 * s) / mass
    bend = (9.81 * s - c * force) / (length * (4.0 / 3.0 - cart["pole"] * c * c / mass))
    speed = force - cart["pole"] * length * bend * c / mass
    return {"place": state["speed"], "angle": state["spin"], "speed": speed, "spin": bend}


def _moved(state: Any, slope: Any, h: Any) -> Any:
    """The state after a time."""
    return {
        "place": state["place"] + h * slope["place"],
        "angle": state["angle"] + h * slope["angle"],
        "speed": state["speed"] + h * slope["speed"],
        "spin": state["spin"] + h * slope["spin"],
    }


def control(pushes: Any, cart: Any, h: Any) -> Any:
    """What a plan to keep a pole upright costs, by the method of Runge and Kutta."""
    state = {"place": 0.0, "angle": 0.3, "speed": 0.0, "spin": 0.0}
    total = 0.0
    for k in range(len(pushes)):
        k1 = _slope(state, pushes[k], cart)
        k2 = _slope(_moved(state, k1, 0.5 * h), pushes[k], cart)
        k3 = _slope(_moved(state, k2, 0.5 * h), pushes[k], cart)
        k4 = _slope(_moved(state, k3, h), pushes[k], cart)
        for slope, weight in ((k1, 1.0), (k2, 2.0), (k3, 2.0), (k4, 1.0)):
            state = _moved(state, slope, h / 6.0 * weight)
        total = total + state["place"] ** 2 + 10.0 * state["angle"] ** 2 + 0.01 * pushes[k] ** 2
    return total


def programs(scale: float) -> list[Jitted]:
    """The programs with their arguments."""
    rng = np.random.default_rng(0)
    size = max(1000, int(1_000_000 * scale))
    factor = rng.normal(size=(40, 40))
    return [
        Jitted("Van der Pol", van_der_pol, (1.2, 2.0, max(100, int(10_000 * scale)), 1e-3), 0.05),
        Jitted("Gauss-Seidel", gauss_seidel, (rng.normal(size=200), 50), 0.05),
        Jitted("Cholesky", cholesky, (factor @ factor.T + 40.0 * np.eye(40),), 0.05),
        Jitted("n-body", n_body, (rng.normal(size=(8, 2)), rng.random(8), 50, 0.01), 0.07),
        Jitted("Burgers", burgers, (np.sin(np.linspace(0.0, 3.0, 1001)), 0.01, 1e-4, 3e-3, 200), 0.1),
        Jitted("heat", heat, (rng.normal(size=(100, 100)), 0.1, 50), 0.28),
        Jitted("control", control, (np.sin(np.arange(50.0)), {"cart": 1.0, "pole": 0.1, "length": 0.5}, 0.02), 0.05),
        Jitted("polynomial", polynomial, (rng.normal(size=4 * size),), 0.15),
        Jitted("Black-Scholes", options, (*(rng.random((3, size)) + 1.0), 0.05, 0.2), 0.5),
    ]


def measured(program: Jitted, seconds: float) -> tuple[float, str]:
    """The time of the compiled gradient as a share of that of the generated Python, and what goes with it.

    Raises ValueError where the two differ.
    """
    plain, compiled = tx.grad(program.primal), tx.grad(program.primal, jit="c")
    wanted = plain(*program.arguments)
    start = perf_counter()
    found = compiled(*program.arguments)
    first = perf_counter() - start
    if not np.allclose(found, wanted, rtol=1e-10, atol=1e-12 * float(np.max(np.abs(wanted)))):
        raise ValueError(f"{program.name}: the compiled gradient differs")
    slow, fast = interleaved([lambda: plain(*program.arguments), lambda: compiled(*program.arguments)], seconds)
    return fast / slow, f"{fast * 1e3:.3f} ms beside {slow * 1e3:.3f} ms; the first call took {first:.2f} s"


def shares(seconds: float, scale: float) -> Iterator[tuple[Jitted, float, str]]:
    """Each program with its figure."""
    for program in programs(scale):
        yield (program, *measured(program, seconds))
