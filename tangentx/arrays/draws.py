"""Random numbers on arrays of other libraries than NumPy."""

from __future__ import annotations

from typing import Any

from tangentx.arrays.libraries import library_of


def uniform_like(x: Any, seed: int) -> Any:
    """Numbers from 0 to 1, drawn from `seed` alone, one for each element of an array, in the memory where that lies."""
    generator = library_of(x).namespace.random.default_rng(seed)
    return generator.random(tuple(x.shape))
