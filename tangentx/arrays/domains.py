"""Replaces numbers outside a function's domain by nan, as the function itself would."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.copies import clone


def positive(x: Any) -> Any:
    """`x`, nan where it is not above 0: scales and shapes of distributions."""
    return _kept(x, np.greater(x, 0.0))


def positive_with(x: Any, shape: Any) -> Any:
    """`x`, nan where it or `shape` is not above 0: the scale of a distribution that has this shape."""
    return np.where(np.greater(x, 0.0) & np.greater(shape, 0.0), x, np.nan)[()]


def within(x: Any, low: Any, high: Any) -> Any:
    """`x`, nan where it is not between the two: probabilities."""
    return _kept(x, np.greater_equal(x, low) & np.less_equal(x, high))


def _kept(x: Any, inside: Any) -> Any:
    """The numbers inside, in memory of their own: a result that is sometimes its argument would be a view of it."""
    if np.all(inside):
        return clone(x)
    found = np.where(inside, x, np.nan)
    return found if np.ndim(found) else found.dtype.type(found) if isinstance(x, np.generic) else float(found)
