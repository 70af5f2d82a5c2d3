"""Piecewise polynomials: interval lookup, and sums of powers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.safe_arithmetic import guarded


def interval_of(x: Any, points: Any) -> Any:
    """The piece in which each of `points` lies: between ``x[i]`` and ``x[i + 1]``; those outside in the nearest one.

    `x` increases or decreases. A nan lies in the first piece.
    """
    x, points = np.asarray(x), np.asarray(points)
    last = max(len(x) - 2, 0)
    if len(x) > 1 and x[0] > x[-1]:
        found = len(x) - 1 - np.searchsorted(x[::-1], points, "left")
    else:
        found = np.searchsorted(x, points, "right") - 1
    return np.where(np.isnan(points), 0, np.clip(found, 0, last))


def knot_span(t: Any, k: Any, points: Any) -> Any:
    """The knot `i` with ``t[i] <= point < t[i + 1]``, of those that have `k` knots on both sides."""
    t = np.asarray(t)
    least = min(k, len(t) - 1)
    found = np.searchsorted(t, points, "right") - 1
    return np.where(np.isnan(points), least, np.clip(found, least, max(len(t) - k - 2, least)))


def _factor(power: int, order: int) -> float:
    """What the derivative of that order of ``t ** power`` is multiplied by."""
    return float(np.prod(np.arange(power - order + 1, power + 1, dtype=float)))


def _behind(t: Any, rows: Any) -> Any:
    return np.reshape(t, np.shape(t) + (1,) * (np.ndim(rows) - 1 - np.ndim(t)))


def power_sum(rows: Any, t: Any, order: Any = 0) -> Any:
    """The polynomials with coefficients `rows`, of the highest power first, at `t`; or their derivative of an order.

    `rows` have shape (powers, \\*places, ...), `t` the shape of the places.
    """
    rows = np.asarray(rows)
    count = len(rows)
    total = np.zeros(rows.shape[1:], np.result_type(rows, t))
    z: Any = 1.0
    for power in range(order, count):
        total = total + guarded(rows[count - 1 - power], z) * _factor(power, order)
        z = z * _behind(t, rows)
    return total


def power_rows(g: Any, t: Any, like: Any, order: Any = 0) -> Any:
    """The adjoint of `power_sum` in its first argument: `g` times the powers, in the form of `like`."""
    count = np.shape(like)[0]
    found = np.zeros((count, *np.shape(g)), np.result_type(g, t))
    z: Any = 1.0
    for power in range(order, count):
        found[count - 1 - power] = guarded(g, z) * _factor(power, order)
        z = z * _behind(t, found)
    return found


def trailing_spread(g: Any, like: Any) -> Any:
    """`g`, repeated along the axes that `like` has behind its own."""
    return np.broadcast_to(np.reshape(g, np.shape(g) + (1,) * (np.ndim(like) - np.ndim(g))), np.shape(like)).copy()


def trailing_sum(a: Any, like: Any) -> Any:
    """`a`, summed over the axes that it has behind those of `like`."""
    return np.sum(a, axis=tuple(range(np.ndim(like), np.ndim(a))))
