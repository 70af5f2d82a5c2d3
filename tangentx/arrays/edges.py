"""Extrapolation beyond the edges of an array, by the modes of `scipy.ndimage`, and the places that it reads."""

from __future__ import annotations

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
    x = np.asarray(t)[None, :] - np.arange(order + 1)[:, None]
    power = order - derivative
    if power < 0:
        return np.zeros(x.shape)
    total = np.zeros(x.shape)
    scale = float(np.prod(np.arange(1.0, power + 1)))
    binomial = 1.0
    for k in range(order + 2):
        away = x + 0.5 * (order + 1) - k
        term = np.where(away > 0.0, away, 0.0) ** power if power else (away >= 0.0).astype(float)
        total += binomial * term
        binomial *= -(order + 1 - k) / (k + 1)
    return total / scale
