"""Windows along one axis of images, such as kernels of convolutions and of pooling have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


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
