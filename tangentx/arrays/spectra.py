"""Adjoints of Fourier transforms: other lengths, and spectra of which a real transform keeps one half."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.libraries import zeros_of
from tangentx.errors import NotDifferentiable

_INVERSE = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def inverse_norm(norm: Any) -> Any:
    """The `norm` by which the inverse transform scales as the transform of `norm` does."""
    return _INVERSE[norm]


def length_along(shape: tuple[int, ...], n: Any = None, axis: Any = -1) -> int:
    """The length of a transform along `axis`: `n`, or what `shape` says where it is None."""
    return int(shape[axis] if n is None else n)


def cropped(t: Any, shape: tuple[int, ...], axes: Any = None) -> Any:
    """`t` cut off, or continued with zeros, along each axis to `shape`; fresh.

    `axes` are those that were transformed. Raises NotDifferentiable if one of them is named twice: the lengths in
    between are not known.
    """
    if axes is not None and len({axis % len(shape) for axis in axes}) < len(axes):
        raise NotDifferentiable(
            "a transform over the same axis twice has no derivative", hint="transform that axis in two calls"
        )
    result = zeros_of(t, shape)
    common = tuple(slice(min(a, b)) for a, b in zip(np.shape(t), shape, strict=True))
    result[common] = t[common]
    return result


def _paired(t: Any, n: int, axis: int) -> tuple[slice, ...]:
    """The frequencies whose conjugates half a spectrum leaves out: all but 0 and, if `n` is even, n / 2."""
    return (slice(None),) * (axis % np.ndim(t)) + (slice(1, (n + 1) // 2),)


def doubled(t: Any, n: int, axis: int = -1) -> Any:
    """Half a spectrum of rows of length `n`, times how often each of its frequencies is in the whole one; fresh."""
    result = np.copy(t)
    result[_paired(t, n, axis)] *= 2.0
    return result


def halved(t: Any, n: int, axis: int = -1) -> Any:
    """Half a spectrum of rows of length `n`, over how often each of its frequencies is in the whole one; fresh."""
    result = np.copy(t)
    result[_paired(t, n, axis)] *= 0.5
    return result


def last_axes(count: int) -> tuple[int, ...]:
    """The last axes of an array, as many as that, counted from the end."""
    return tuple(range(-count, 0))
