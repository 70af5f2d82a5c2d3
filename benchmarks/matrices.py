"""Algorithms on matrices, written with loops and slices, each with its gradient by hand."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


def cholesky(a: Array) -> Any:
    """Logarithm of a determinant by a factor that is found column by column."""
    n = len(a)
    factor = np.zeros_like(a)
    total = 0.0
    for j in range(n):
        row = factor[j, :j]
        d = math.sqrt(a[j, j] - row @ row)
        factor[j, j] = d
        factor[j + 1 :, j] = (a[j + 1 :, j] - factor[j + 1 :, :j] @ row) / d
        total = total + 2.0 * math.log(d)
    return total


def cholesky_by_hand(a: Array, ans_bar: float = 1.0) -> tuple[Array]:
    """Gradient of `cholesky`."""
    n = len(a)
    factor = np.zeros_like(a)
    for j in range(n):
        row = factor[j, :j]
        d = math.sqrt(a[j, j] - row @ row)
        factor[j, j] = d
        factor[j + 1 :, j] = (a[j + 1 :, j] - factor[j + 1 :, :j] @ row) / d
    a_bar = np.zeros_like(a)
    factor_bar = np.zeros_like(a)
    for j in range(n - 1, -1, -1):
        row, d = factor[j, :j], factor[j, j]
        t = factor_bar[j + 1 :, j] / d
        a_bar[j + 1 :, j] = t
        factor_bar[j + 1 :, :j] -= np.outer(t, row)
        d_bar = 2.0 * ans_bar / d + factor_bar[j, j] - t @ factor[j + 1 :, j]
        s_bar = d_bar / (2.0 * d)
        a_bar[j, j] = s_bar
        factor_bar[j, :j] -= t @ factor[j + 1 :, :j] + 2.0 * s_bar * row
    return (a_bar,)


def triangular(lower: Array, b: Array) -> Any:
    """A triangular system solved from the top."""
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return np.sum(x * x)


def triangular_by_hand(lower: Array, b: Array, ans_bar: float = 1.0) -> tuple[Array, Array]:
    """Gradient of `triangular`."""
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    lower_bar = np.zeros_like(lower)
    b_bar = np.zeros_like(b)
    x_bar = 2.0 * ans_bar * x
    for i in range(len(b) - 1, -1, -1):
        t = x_bar[i] / lower[i, i]
        b_bar[i] = t
        lower_bar[i, :i] = -t * x[:i]
        lower_bar[i, i] = -t * x[i]
        x_bar[:i] -= t * lower[i, :i]
    return lower_bar, b_bar


def durbin(r: Array) -> Any:
    """The equations of Yule and Walker by Durbin's recursion."""
    n = len(r)
    y = np.zeros_like(r)
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        alpha = -(r[k] + r[:k][::-1] @ y[:k]) / beta
        y[:k] = y[:k] + alpha * y[:k][::-1]
        y[k] = alpha
    return np.sum(y * y)


def durbin_by_hand(r: Array, ans_bar: float = 1.0) -> tuple[Array]:
    """Gradient of `durbin`."""
    n = len(r)
    y = np.zeros_like(r)
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    tape = []
    for k in range(1, n):
        before, old = y[:k].copy(), (alpha, beta)
        beta = (1.0 - alpha * alpha) * beta
        alpha = -(r[k] + r[:k][::-1] @ before) / beta
        y[:k] = before + alpha * before[::-1]
        y[k] = alpha
        tape.append((before, old, alpha, beta))
    r_bar = np.zeros_like(r)
    y_bar = 2.0 * ans_bar * y
    alpha_bar = beta_bar = 0.0
    for k in range(n - 1, 0, -1):
        before, (alpha_before, beta_before), alpha, beta = tape.pop()
        alpha_bar += y_bar[k] + y_bar[:k] @ before[::-1]
        y_bar[:k] += alpha * y_bar[:k][::-1]
        t = -alpha_bar / beta
        beta_bar += alpha * t
        r_bar[k] += t
        r_bar[:k] += t * before[::-1]
        y_bar[:k] += t * r[:k][::-1]
        alpha_bar = -2.0 * alpha_before * beta_before * beta_bar
        beta_bar = (1.0 - alpha_before * alpha_before) * beta_bar
    r_bar[0] -= alpha_bar + y_bar[0]
    return (r_bar,)


def definite(size: int) -> tuple[Any, ...]:
    """Arguments of `cholesky`."""
    a = np.random.default_rng(0).normal(size=(size, size))
    return (a @ a.T + size * np.eye(size),)


def system(size: int) -> tuple[Any, ...]:
    """Arguments of `triangular`."""
    rng = np.random.default_rng(0)
    return np.tril(rng.normal(size=(size, size))) / size + 2.0 * np.eye(size), rng.normal(size=size)


def correlations(size: int) -> tuple[Any, ...]:
    """Arguments of `durbin`: those of a process that forgets."""
    return (0.5 ** np.arange(1.0, size + 1.0) + 0.01 * np.random.default_rng(0).random(size),)
