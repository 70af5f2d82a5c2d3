"""Sliding windows along one axis of images, for convolutions and pooling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Axis:
    """Windows along one axis of an image: at how many `places`, and how many elements `before` the image they begin."""

    length: int
    kernel: int
    stride: int
    before: int
    dilation: int
    places: int

    def met(self, k: int) -> tuple[slice, slice] | None:
        """The places at which element `k` of a window lies in the image, and what it meets there; None for no place.

        >>> Axis(length=5, kernel=3, stride=2, before=1, dilation=1, places=3).met(0)
        (slice(1, 3, None), slice(1, 4, 2))
        """
        shift = k * self.dilation - self.before
        first = max(0, -(shift // self.stride))
        behind = min(self.places, (self.length - 1 - shift) // self.stride + 1)
        if first >= behind:
            return None
        start = first * self.stride + shift
        return slice(first, behind), slice(start, (behind - 1) * self.stride + shift + 1, self.stride)

    def steps(self) -> Iterator[tuple[slice, slice]]:
        """For each element of a window that lies in the image anywhere what `met` says."""
        for k in range(self.kernel):
            found = self.met(k)
            if found is not None:
                yield found

    def covers(self, steps: list[tuple[slice, slice]]) -> bool:
        """Whether the first element lies in the image at all places."""
        return bool(steps) and steps[0][0] == slice(0, self.places)


def source_places(length: int, count: int, factor: float | None, mode: str, aligned: bool) -> Any:
    """For each of `count` elements of a row made of `length` ones: the element it is taken from, the next one, and the
    weight of that. `factor` is how much longer the row was asked to be, None where its length was.

    >>> places, following, weights = source_places(2, 4, 2.0, "bilinear", False)
    >>> places, following, weights
    (array([0, 0, 0, 1]), array([1, 1, 1, 1]), array([0.  , 0.25, 0.75, 0.  ]))
    """
    if length == 0 or count <= 0:
        raise ValueError(f"a row of {length} elements cannot be made one of {count}")
    step = length / count if factor is None else 1.0 / factor
    if mode == "nearest":  # in single precision, as PyTorch does it
        at = np.floor(np.arange(count, dtype=np.float32) * np.float32(step))
        places = np.minimum(at.astype(np.int64), length - 1)
        return places, places, np.zeros(count)
    if aligned:
        position = np.arange(count) * ((length - 1) / (count - 1) if count > 1 else 0.0)
    else:
        position = np.maximum(step * (np.arange(count) + 0.5) - 0.5, 0.0)
    places = np.minimum(position.astype(np.int64), length - 1)
    following = np.minimum(places + 1, length - 1)
    return places, following, np.where(following > places, np.minimum(position - places, 1.0), 0.0)
