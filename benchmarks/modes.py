"""Forward mode, products and Jacobians, beside the program itself, its gradient, and what a person would write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import tangentx as tx
from benchmarks.measure import demand_equal, interleaved

Array: TypeAlias = NDArray[np.float64]


def damped(x: Array) -> Any:
    """Some operations element by element."""
    return np.sin(3.0 * x) * np.exp(-0.5 * x * x) + np.tanh(x)


def damped_by_hand(x: Array, x_dot: Array) -> tuple[Array, Array]:
    """Value and tangent of `damped`."""
    s, e, t = np.sin(3.0 * x), np.exp(-0.5 * x * x), np.tanh(x)
    return s * e + t, ((3.0 * np.cos(3.0 * x) - x * s) * e + (1.0 - t * t)) * x_dot


def valley(x: Array) -> Any:
    """Rosenbrock's function."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def layer(x: Array, w: Array) -> Any:
    """As many results as parameters, all of which depend on all."""
    return np.tanh(w @ x)


def forward_ratios(seconds: float, scale: float) -> tuple[float, float]:
    """Forward mode beside the program, and beside forward mode by hand. Raises ValueError where they differ."""
    rng = np.random.default_rng(0)
    x, dot = rng.normal(size=max(10, int(100_000 * scale))), rng.normal(size=max(10, int(100_000 * scale)))
    ours: Callable[[], Any] = lambda: tx.jvp(damped, (x,), (dot,))  # noqa: E731
    demand_equal("forward mode", ours(), damped_by_hand(x, dot))
    primal, moved, by_hand = interleaved((lambda: damped(x), ours, lambda: damped_by_hand(x, dot)), seconds)
    return moved / primal, moved / by_hand


def product_ratio(seconds: float, scale: float) -> float:
    """A product with the Hessian beside the gradient."""
    rng = np.random.default_rng(1)
    x, v = rng.normal(size=max(10, int(100_000 * scale))), rng.normal(size=max(10, int(100_000 * scale)))
    gradient = tx.grad(valley)
    second, first = interleaved((lambda: tx.hvp(valley, (x,), (v,)), lambda: gradient(x)), seconds)
    return second / first


def jacobian_ratio(seconds: float) -> float:
    """The Jacobian of 100 numbers by 100 beside 100 products. Raises ValueError where they differ."""
    rng = np.random.default_rng(2)
    x, w, units = rng.normal(size=100), rng.normal(size=(100, 100)) / 10.0, np.eye(100)
    jacobian = tx.jacobian(layer)

    def columns() -> Any:
        return np.stack([tx.jvp(layer, (x, w), (unit, None))[1] for unit in units], axis=1)

    demand_equal("Jacobian", (jacobian(x, w),), (columns(),))
    whole, products = interleaved((lambda: jacobian(x, w), columns), seconds)
    return whole / products
