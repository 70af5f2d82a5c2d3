"""Interpolation: piecewise polynomials, and images beyond their edges."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from tangentx.arrays.safe_arithmetic import guarded
from tangentx.errors import NotDifferentiable

# Extrapolation beyond the edges of an array, by the modes of `scipy.ndimage`, and the places that it reads.

_MODES = {"reflect", "grid-mirror", "constant", "grid-constant", "nearest", "mirror", "wrap", "grid-wrap"}


def edge_places(size: int, before: int, after: int, mode: str) -> Any:
    """Which elements of a row stand for those from `before` places ahead of it to `after` behind; beyond the edges of
    a constant one -1. Raises NotDifferentiable for another mode, and for a row without elements."""
    if mode not in _MODES:
        raise NotDifferentiable(
            f"scipy.ndimage has no derivative for mode={mode!r}", hint=f"use one of {sorted(_MODES)}"
        )
    if size == 0:
        raise NotDifferentiable(
            "a filter of scipy.ndimage has no derivative for an image without elements", hint="leave such images out"
        )
    return _folded(np.arange(-before, size + after), size, mode)


def _folded(places: Any, size: int, mode: str) -> Any:
    if mode in ("constant", "grid-constant"):
        return np.where((places < 0) | (places >= size), -1, places)
    if mode == "nearest":
        return np.clip(places, 0, size - 1)
    if mode in ("wrap", "grid-wrap"):
        return places % size
    if mode == "mirror":
        period = max(2 * (size - 1), 1)
        found = places % period
        return np.where(found >= size, period - found, found)
    found = places % (2 * size)
    return np.where(found >= size, 2 * size - 1 - found, found)


def tap_places(first: Any, size: int, order: int, mode: str) -> Any:
    """The elements by which a spline of an order is read from `first` on, one row for each; within the edges the
    modes without a continuation of their own mirror."""
    places = np.asarray(first)[None, :] + np.arange(order + 1)[:, None]
    inner = mode if mode in ("reflect", "grid-mirror", "grid-wrap") else "mirror"
    return _folded(places, max(size, 1), inner)


def spline_weights(t: Any, order: int, derivative: int = 0) -> Any:
    """B-splines of an order at the distance `t` from the first of their taps to a place, one row for each tap; or
    their derivatives.

    The spline of order n is a sum of powers ``(x + (n + 1) / 2 - k)₊ ** n`` with signed binomials over n!.
    """
    power = order - derivative
    if power < 0:
        return np.zeros((order + 1, *np.shape(t)))
    place = np.asarray(t) + 0.5 * (order + 1) - order
    if np.all((place >= 0.0) & (place < 1.0)):  # each tap in a piece of its own, as where images are read
        powers = np.ones((power + 1, *place.shape))
        for k in range(power):
            powers[k + 1] = powers[k] * place
        return _pieces(order, derivative) @ powers
    x = np.asarray(t)[None, :] - np.arange(order + 1)[:, None]
    total = np.zeros(x.shape)
    scale = float(np.prod(np.arange(1.0, power + 1)))
    binomial = 1.0
    for k in range(order + 2):
        away = x + 0.5 * (order + 1) - k
        term = np.where(away > 0.0, away, 0.0) ** power if power else (away >= 0.0).astype(float)
        total += binomial * term
        binomial *= -(order + 1 - k) / (k + 1)
    return total / scale


@functools.lru_cache(maxsize=64)
def _pieces(order: int, derivative: int) -> Any:
    """The coefficients of the pieces of a B-spline, or of its derivative, the last piece first: in powers of the
    distance from where each begins."""
    power = order - derivative
    found = np.zeros((order + 1, power + 1))
    for piece in range(order + 1):
        for k in range(piece + 1):
            sign = (-1.0) ** k * math.comb(order + 1, k) / math.factorial(power)
            for p in range(power + 1):
                found[order - piece, p] += sign * math.comb(power, p) * float(piece - k) ** (power - p)
    found.flags.writeable = False
    return found


# Piecewise polynomials: interval lookup, and sums of powers.


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
