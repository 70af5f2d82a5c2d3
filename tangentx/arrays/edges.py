"""Extrapolation beyond the edges of an array, by the modes of `scipy.ndimage`, and the places that it reads."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable

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
