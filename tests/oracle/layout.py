"""Arrays in the layouts that people pass: slices of larger ones, transposed, reversed, every other element."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds


def laid_out(values: Any, like: Any) -> Any:
    """A copy of the array `values` with the dtype and strides of `like`; what is no array is returned as it is."""
    if not isinstance(like, np.ndarray):
        return values
    low, high = byte_bounds(like)
    offset = like.__array_interface__["data"][0] - low
    memory = np.zeros(high - low, np.uint8).data
    made: Any = np.ndarray(like.shape, like.dtype, buffer=memory, offset=offset, strides=like.strides)
    made[...] = values
    return made


def _every_other(a: Any) -> Any:
    return np.zeros((*a.shape[:-1], 2 * a.shape[-1]))[..., ::2]


def _interior(a: Any) -> Any:
    return np.zeros([n + 2 for n in a.shape])[tuple(slice(1, n + 1) for n in a.shape)]


FORMS: tuple[Callable[[Any], Any], ...] = (
    np.zeros_like,
    lambda a: np.zeros(a.shape[::-1]).T,
    lambda a: np.zeros(a.shape)[::-1],
    lambda a: np.zeros((*a.shape, 2))[..., 1],
    lambda a: _interior(a.T).T,
    lambda a: _interior(a)[..., ::-1],
    _every_other,
)
"""Memory for an array of the shape of `a`, the plainest first."""


def some_layout(rng: Random, a: Any) -> Any:
    """The array `a` in a layout drawn at random, as it is more often than not."""
    return a if rng.randrange(5) < 3 else laid_out(a, FORMS[rng.randrange(len(FORMS))](a))
