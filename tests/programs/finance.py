"""Programs of finance."""

import math

import numpy as np

from tests.programs.case import Program, draw


def normal(x):
    """Distribution function by Abramowitz and Stegun 26.2.17, for positive x."""
    t = 1.0 / (1.0 + 0.2316419 * x)
    p = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    return 1.0 - p * math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


def black_scholes(spot, strike, rate, sigma, years):
    root = sigma * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + 0.5 * sigma**2) * years) / root
    d2 = d1 - root
    n1 = normal(d1) if d1 > 0.0 else 1.0 - normal(-d1)
    n2 = normal(d2) if d2 > 0.0 else 1.0 - normal(-d2)
    return spot * n1 - strike * math.exp(-rate * years) * n2


def binomial_tree(spot, strike, sigma, rate, n):
    """An American put, the tree rolled back in place."""
    dt = 1.0 / n
    up = math.exp(sigma * math.sqrt(dt))
    p = (math.exp(rate * dt) - 1.0 / up) / (up - 1.0 / up)
    value = np.zeros(n + 1)
    for i in range(n + 1):
        value[i] = max(strike - spot * up ** (2 * i - n), 0.0)
    for k in range(n - 1, -1, -1):
        for i in range(k + 1):
            held = math.exp(-rate * dt) * (p * value[i + 1] + (1.0 - p) * value[i])
            value[i] = max(held, strike - spot * up ** (2 * i - k))
    return value[0]


def bond_yield(price, coupons):
    """Newton's iteration for the yield of a bond, stopped when it stands."""
    y = 0.05
    for _ in range(50):
        value = 0.0
        slope = 0.0
        for k, c in enumerate(coupons):
            value += c / (1.0 + y) ** (k + 1)
            slope -= (k + 1) * c / (1.0 + y) ** (k + 2)
        step = (value - price) / slope
        y = y - step
        if abs(step) < 1e-12:
            break
    return y


def asian_option(spot, sigma, normals):
    """Paths with fixed draws; the payoff is softened."""
    paths, steps = normals.shape
    total = 0.0
    for i in range(paths):
        s = spot
        mean = 0.0
        for j in range(steps):
            s *= np.exp(-0.5 * sigma**2 / steps + sigma * np.sqrt(1.0 / steps) * normals[i, j])
            mean += s / steps
        total += np.log1p(np.exp(5.0 * (mean - 1.0))) / 5.0
    return total / paths


def portfolio(w, mean, cov, aversion):
    w = w / np.sum(w)
    risk = w @ cov @ w
    return w @ mean - 0.5 * aversion * risk - 0.01 * np.sqrt(risk)


def drawdown(prices, floor):
    """The largest fall from the highest price so far, in a record with ties, and the lowest one of each moment."""
    peak = np.maximum.accumulate(prices)
    fall = (peak - prices) / peak
    low = np.minimum.accumulate(prices, axis=-1)
    return np.max(fall) + floor * np.sum(low * peak) / np.sum(prices**2)


def payoff(spots, strike):
    """A payoff in three pieces."""
    moneyness = spots / strike
    pieces = np.select([moneyness < 0.9, moneyness < 1.1], [spots * 0.0 + strike, spots**2], default=np.log(spots))
    return np.sum(pieces[()] ** 2)


PROGRAMS = [
    Program(black_scholes, lambda: (1.05, 1.0, 0.03, 0.25, 0.8), ("spot", "strike", "rate", "sigma", "years")),
    Program(binomial_tree, lambda: (1.03, 1.1, 0.3, 0.04, 5), ("spot", "strike", "sigma")),
    Program(drawdown, lambda: (np.array([1.0, 1.3, 1.2, 1.1, 1.7, 1.4, 1.6]), 0.3), ("prices", "floor")),
    Program(payoff, lambda: (np.array([0.7, 1.0, 1.4]), 1.05), ("spots", "strike")),
    Program(bond_yield, lambda: (0.97, [0.04, 0.05, 1.06]), ("price", "coupons")),
    Program(asian_option, lambda: (1.02, 0.3, draw(2, 3, seed=1)), ("spot", "sigma")),
    Program(
        portfolio,
        lambda: (
            np.array([0.5, 0.8, 0.3]),
            np.array([0.1, 0.07, 0.05]),
            np.array([[0.3, 0.1, 0.0], [0.1, 0.2, 0.05], [0.0, 0.05, 0.1]]),
            2.0,
        ),
        ("w", "cov", "aversion"),
    ),
]
