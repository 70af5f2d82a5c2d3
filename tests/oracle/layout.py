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


def in_memory_of(x: Any, memories: dict[int, Any], keep: bool = True) -> Any:
    """A copy of the array `x`, zero unless `keep`; arrays that lie in one array lie in one of its copies.

    `memories` holds the copies, by the arrays that they are of.
    """
    root = x
    while isinstance(root.base, np.ndarray):
        root = root.base
    if root is x or not root.flags.c_contiguous:
        return laid_out(x if keep else 0.0, x)
    copy = memories.setdefault(id(root), root.copy() if keep else np.zeros_like(root))
    offset = x.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return np.ndarray(x.shape, x.dtype, buffer=copy.data, offset=offset, strides=x.strides)


def overlapping(rng: Random, a: Any) -> tuple[Any, Any]:
    """The array `a`, and another of its shape in its memory: itself, or one that begins an element later."""
    if rng.randrange(2):
        return a, a
    memory = np.append(a.ravel(), a.flat[0] + 0.5)
    return memory[:-1].reshape(a.shape), memory[1:].reshape(a.shape)


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
