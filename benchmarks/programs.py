"""The programs, each with the gradient that a careful person would have written, and arguments to run them on.

The gradients by hand take the cotangent of the result as their last argument, as the generated ones do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks import in_place, learning, matrices, motion, relaxation

Array: TypeAlias = NDArray[np.float64]


def formula(x: float, y: float, z: float) -> float:
    """Ten operations on numbers."""
    a = x * y + z
    b = math.sin(a) / (1.0 + z * z)
    return b * math.exp(-a) + y


def formula_by_hand(x: float, y: float, z: float, ans_bar: float = 1.0) -> tuple[float, float, float]:
    """Gradient of `formula`."""
    a = x * y + z
    c = 1.0 + z * z
    b = math.sin(a) / c
    e = math.exp(-a)
    t = e * ans_bar / c
    a_bar = math.cos(a) * t - b * e * ans_bar
    z_bar = a_bar - 2.0 * z * b * t
    return y * a_bar, ans_bar + x * a_bar, z_bar


def network(w1: Array, b1: Array, w2: Array, b2: Array, x: Array, wanted: Array) -> Any:
    """Mean squared error of a network with one hidden layer."""
    h = np.tanh(x @ w1 + b1)
    y = h @ w2 + b2
    r = y - wanted
    return np.mean(r * r)


def network_by_hand(
    w1: Array, b1: Array, w2: Array, b2: Array, x: Array, wanted: Array, ans_bar: float = 1.0
) -> tuple[Array, Array, Array, Array]:
    """Gradient of `network` with respect to the weights."""
    h = np.tanh(x @ w1 + b1)
    y = h @ w2 + b2
    r = y - wanted
    y_bar = 2.0 * ans_bar / r.size * r
    w2_bar = h.T @ y_bar
    b2_bar = np.sum(y_bar, axis=0)
    z_bar = (1.0 - h * h) * (y_bar @ w2.T)
    w1_bar = x.T @ z_bar
    b1_bar = np.sum(z_bar, axis=0)
    return w1_bar, b1_bar, w2_bar, b2_bar


def cdf(x: Array) -> Array:
    """The normal distribution, to three digits."""
    result: Array = 1.0 / (1.0 + np.exp(-x * (1.5976 + 0.07056 * x * x)))
    return result


def black_scholes(spot: Array, strike: Array, time: Array, rate: Array, vol: Array) -> Any:
    """Value of a book of call options."""
    width = vol * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + 0.5 * vol * vol) * time) / width
    d2 = d1 - width
    return np.sum(spot * cdf(d1) - strike * np.exp(-rate * time) * cdf(d2))


def black_scholes_by_hand(
    spot: Array, strike: Array, time: Array, rate: Array, vol: Array, ans_bar: float = 1.0
) -> tuple[Array, Array, Array, Array, Array]:
    """Gradient of `black_scholes` with respect to every input."""
    root = np.sqrt(time)
    width = vol * root
    ratio = spot / strike
    drift = rate + 0.5 * vol * vol
    d1 = (np.log(ratio) + drift * time) / width
    d2 = d1 - width
    n1 = cdf(d1)
    n2 = cdf(d2)
    discount = np.exp(-rate * time)
    paid = strike * discount
    d2_bar = -ans_bar * paid * cdf_by_hand(d2, n2)
    paid_bar = -ans_bar * n2
    d1_bar = ans_bar * spot * cdf_by_hand(d1, n1) + d2_bar
    t = d1_bar / width
    width_bar = -d2_bar - d1 * t
    exponent_bar = paid * paid_bar
    spot_bar = ans_bar * n1 + t / spot
    strike_bar = discount * paid_bar - t / strike
    time_bar = drift * t + 0.5 * vol / root * width_bar - rate * exponent_bar
    rate_bar = time * t - time * exponent_bar
    vol_bar = vol * time * t + root * width_bar
    return spot_bar, strike_bar, time_bar, rate_bar, vol_bar


def cdf_by_hand(x: Array, n: Array) -> Array:
    """Derivative of `cdf`, of which `n` is the value."""
    result: Array = n * (1.0 - n) * (1.5976 + 0.21168 * x * x)
    return result


def slope(y: float, r: float, k: float) -> float:
    """Logistic growth."""
    return r * y * (1.0 - y / k)


def growth(y: float, r: float, k: float, h: float, steps: int) -> float:
    """Logistic growth by the method of Runge and Kutta."""
    for _ in range(steps):
        s1 = slope(y, r, k)
        s2 = slope(y + 0.5 * h * s1, r, k)
        s3 = slope(y + 0.5 * h * s2, r, k)
        s4 = slope(y + h * s3, r, k)
        y = y + h / 6.0 * (s1 + 2.0 * s2 + 2.0 * s3 + s4)
    return y


def growth_by_hand(
    y: float, r: float, k: float, h: float, steps: int, y_bar: float = 1.0
) -> tuple[float, float, float]:
    """Gradient of `growth` with respect to `y`, `r` and `k`."""
    tape = []
    for _ in range(steps):
        s1 = slope(y, r, k)
        y2 = y + 0.5 * h * s1
        s2 = slope(y2, r, k)
        y3 = y + 0.5 * h * s2
        s3 = slope(y3, r, k)
        y4 = y + h * s3
        s4 = slope(y4, r, k)
        tape.append((y, y2, y3, y4))
        y = y + h / 6.0 * (s1 + 2.0 * s2 + 2.0 * s3 + s4)
    r_bar = 0.0
    k_bar = 0.0
    for _ in range(steps):
        y1, y2, y3, y4 = tape.pop()
        s4_bar = h / 6.0 * y_bar
        t4, r4, k4 = slope_by_hand(y4, r, k, s4_bar)
        s3_bar = 2.0 * s4_bar + h * t4
        t3, r3, k3 = slope_by_hand(y3, r, k, s3_bar)
        s2_bar = 2.0 * s4_bar + 0.5 * h * t3
        t2, r2, k2 = slope_by_hand(y2, r, k, s2_bar)
        s1_bar = s4_bar + 0.5 * h * t2
        t1, r1, k1 = slope_by_hand(y1, r, k, s1_bar)
        y_bar = y_bar + t1 + t2 + t3 + t4
        r_bar = r_bar + r1 + r2 + r3 + r4
        k_bar = k_bar + k1 + k2 + k3 + k4
    return y_bar, r_bar, k_bar


def slope_by_hand(y: float, r: float, k: float, s_bar: float) -> tuple[float, float, float]:
    """Cotangents of what `slope` was given."""
    c = y / k
    d = 1.0 - c
    c_bar = -r * y * s_bar / k
    return r * d * s_bar + c_bar, y * d * s_bar, -c * c_bar


@dataclass(frozen=True)
class Program:
    """A program, by what it is differentiated, its gradient by hand (with the helpers of that), its arguments."""

    name: str
    primal: Callable[..., Any]
    wrt: tuple[str, ...]
    by_hand: Callable[..., Any]
    helpers: tuple[Callable[..., Any], ...]
    arguments: tuple[Any, ...]
    direct: bool = False  # what the call costs is left out: the generated function is called itself
    peers: tuple[str, ...] = ("autograd", "jax")
    memory: bool = False  # whether the peak of memory is compared too


_WEIGHTS = ("w1", "b1", "w2", "b2")
_MARKET = ("spot", "strike", "time", "rate", "vol")


def programs(scale: float = 1.0) -> tuple[Program, ...]:
    """The programs; a `scale` below one makes the large ones smaller."""
    large = max(4, int(512 * scale))
    steps = max(2, int(10_000 * scale))
    return (
        Program("formula", formula, ("x", "y", "z"), formula_by_hand, (), (0.7, 1.3, 0.4), direct=True),
        Program("network 32", network, _WEIGHTS, network_by_hand, (), _network_arguments(32, 64)),
        Program("network 512", network, _WEIGHTS, network_by_hand, (), _network_arguments(large, 2 * large)),
        Program(
            "black_scholes",
            black_scholes,
            _MARKET,
            black_scholes_by_hand,
            (cdf_by_hand,),
            _market(max(10, int(10**6 * scale))),
        ),
        Program(
            "rk4", growth, ("y", "r", "k"), growth_by_hand, (slope_by_hand,), (0.1, 1.1, 2.0, 1e-3, steps), peers=()
        ),
        *_in_place(scale),
        *_of_loops(scale),
        *_of_models(scale),
    )


def _in_place(scale: float) -> tuple[Program, ...]:
    heat, tridiagonal = in_place.heat, in_place.tridiagonal  # the gradients by hand of these two run them first
    rows = (
        ("heat", heat, "u", in_place.heat_by_hand, (heat,), in_place.plate(scale)),
        ("burgers", in_place.burgers, "u", in_place.burgers_by_hand, (), in_place.wave(scale)),
        ("tridiagonal", tridiagonal, "d", in_place.tridiagonal_by_hand, (tridiagonal,), in_place.system(scale)),
    )
    return tuple(
        Program(name, primal, (wrt,), by_hand, helpers, arguments, peers=(), memory=True)
        for name, primal, wrt, by_hand, helpers, arguments in rows
    )


def _of_loops(scale: float) -> tuple[Program, ...]:
    size, sweeps = max(8, int(100 * scale)), max(2, int(100 * scale))
    rows: tuple[tuple[Any, ...], ...] = (
        ("Van der Pol", motion.van_der_pol, ("mu", "x"), motion.van_der_pol_by_hand, (1.2, 2.0, 50 * sweeps, 1e-3)),
        ("n-body", motion.n_body, ("q", "mass"), motion.n_body_by_hand, motion.bodies(size // 2, sweeps)),
        ("Jacobi", relaxation.jacobi, ("b",), relaxation.jacobi_by_hand, relaxation.square(2 * size, sweeps)),
        ("Gauss-Seidel", relaxation.gauss_seidel, ("b",), relaxation.gauss_seidel_by_hand, relaxation.chain(size, 20)),
        ("Cholesky", matrices.cholesky, ("a",), matrices.cholesky_by_hand, matrices.definite(2 * size)),
        ("triangular", matrices.triangular, ("lower", "b"), matrices.triangular_by_hand, matrices.system(2 * size)),
        ("Durbin", matrices.durbin, ("r",), matrices.durbin_by_hand, matrices.correlations(2 * size)),
    )
    return tuple(
        Program(name, primal, wrt, hand, (), arguments, peers=(), memory=True)
        for name, primal, wrt, hand, arguments in rows
    )


def _of_models(scale: float) -> tuple[Program, ...]:
    m = learning
    size, count = max(4, int(32 * scale)), max(20, int(10_000 * scale))
    rows: tuple[tuple[Any, ...], ...] = (
        ("polynomial", m.polynomial, ("x",), m.polynomial_by_hand, (), (np.linspace(-1.0, 1.0, 400 * count),)),
        ("softmax 4-D", m.softmax, ("x",), m.softmax_by_hand, (), m.images(size)),
        ("mixture", m.mixture, ("weights", "means", "scales"), m.mixture_by_hand, (), m.clusters(count)),
        ("LSTM", m.lstm, ("w", "b"), m.lstm_by_hand, (m.sigmoid,), m.sentence(max(3, int(100 * scale)), 4 * size)),
        (
            "LSTM of ADBench",
            m.adbench_lstm,
            ("main", "extra"),
            m.adbench_lstm_by_hand,
            (m.sigmoid, m.cell_by_hand),
            m.characters(max(4, int(100 * scale))),
        ),
        ("convolution", m.convolution, ("image", "kernel"), m.convolution_by_hand, (), m.picture(size + 4)),
        (
            "bundle adjustment",
            m.bundle,
            ("cameras", "points"),
            m.bundle_by_hand,
            (m.rotated, m.rotated_by_hand),
            m.views(count // 20),
        ),
    )
    return tuple(
        Program(name, primal, wrt, hand, helpers, arguments, peers=(), memory=True)
        for name, primal, wrt, hand, helpers, arguments in rows
    )


def _network_arguments(batch: int, width: int) -> tuple[Array, ...]:
    rng = np.random.default_rng(0)
    shapes: tuple[tuple[int, ...], ...] = ((width, width), (width,), (width, 10), (10,), (batch, width), (batch, 10))
    return tuple(rng.normal(size=shape) / math.sqrt(width) for shape in shapes)


def _market(count: int) -> tuple[Array, ...]:
    rng = np.random.default_rng(0)
    ranges = ((80.0, 120.0), (80.0, 120.0), (0.1, 2.0), (0.0, 0.05), (0.1, 0.5))
    return tuple(rng.uniform(low, high, count) for low, high in ranges)
