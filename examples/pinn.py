"""A network that solves the heat equation: it is trained to obey it, at points drawn at random.

The network is a function u(x, t). Its derivatives by x and t are taken inside of the loss, and the loss is
differentiated by the weights (Raissi, Perdikaris and Karniadakis 2019): derivatives of third order, compiled into one
text. Run ``python examples/pinn.py``.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import tangentx as tx

Array: TypeAlias = NDArray[np.float64]
CONDUCTIVITY = 0.1


def u(weights, x, t):
    """The network; zero at the ends x = 0 and x = 1 by its form, and sin(pi x) at t = 0."""
    w1, b1, w2, b2, w3 = weights
    h = np.tanh(np.outer(x, w1[0]) + np.outer(t, w1[1]) + b1)
    h = np.tanh(h @ w2 + b2)
    return np.sin(np.pi * x) + t * x * (1.0 - x) * (h @ w3)


def loss(weights, x, t):
    """The mean square of what is left of u_t - k u_xx."""
    u_t = tx.elementwise_grad(u, wrt="t")(weights, x, t)
    u_xx = tx.elementwise_grad(tx.elementwise_grad(u, wrt="x"), wrt="x")(weights, x, t)
    return np.mean((u_t - CONDUCTIVITY * u_xx) ** 2)


def solution(x: Array, t: Array) -> Array:
    """The heat of a rod whose ends are cold decays."""
    return np.exp(-CONDUCTIVITY * np.pi**2 * t) * np.sin(np.pi * x)


def start(width: int) -> tuple[Array, ...]:
    """Weights drawn by Glorot and Bengio's rule."""
    draw = np.random.default_rng(0)
    return (
        draw.normal(size=(2, width)) * np.sqrt(2.0 / (2 + width)),
        draw.normal(size=width),
        draw.normal(size=(width, width)) * np.sqrt(1.0 / width),
        np.zeros(width),
        draw.normal(size=width) * np.sqrt(2.0 / (1 + width)),
    )


def show_progress(done: int, total: int) -> None:
    """Draw a bar on a terminal; write nothing into a pipe or a file."""
    if sys.stderr.isatty():
        filled = 40 * done // total
        end = "\n" if done == total else ""
        print(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done}/{total}", end=end, file=sys.stderr, flush=True)


def error(weights: tuple[Array, ...]) -> float:
    """The largest difference from the solution, on a grid."""
    x, t = (part.ravel() for part in np.meshgrid(np.linspace(0.0, 1.0, 41), np.linspace(0.0, 1.0, 41)))
    return float(np.max(np.abs(u(weights, x, t) - solution(x, t))))


def difference(weights: tuple[Array, ...], x: Array, t: Array) -> float:
    """How far the gradient along one direction is from a central difference, relatively."""
    draw = np.random.default_rng(1)
    along = tuple(draw.normal(size=w.shape) for w in weights)
    slope = sum(float(np.sum(g * a)) for g, a in zip(tx.grad(loss)(weights, x, t), along, strict=True))
    ends = [loss(tuple(w + h * a for w, a in zip(weights, along, strict=True)), x, t) for h in (1e-5, -1e-5)]
    return abs((ends[0] - ends[1]) / 2e-5 / slope - 1.0)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--width", type=int, default=20)
    given = parser.parse_args()
    draw = np.random.default_rng(2)
    weights: Any = start(given.width)
    opt = tx.optim.Adam(lr=0.003)
    state, step = opt.init(weights), tx.value_and_grad(loss)
    print(f"Off central differences by {difference(weights, draw.random(50), draw.random(50)):.1e}.")
    print(f"Off the solution by {error(weights):.5f} before.")
    for n in range(given.steps):
        value, gradient = step(weights, draw.random(200), draw.random(200))
        rate = 0.003 * 0.5 * (1.0 + np.cos(np.pi * n / given.steps))
        weights, state = opt.update(weights, gradient, state, lr=rate)
        if n % (given.steps // 10) == 0:
            print(f"step {n:5d}   loss {value:.6f}")
        show_progress(n + 1, given.steps)
    found = error(weights)
    print(f"Off the solution by {found:.5f} after {given.steps} steps.\n")
    print(step.source)
    return 0 if found < 0.05 else 1


if __name__ == "__main__":
    sys.exit(main())
