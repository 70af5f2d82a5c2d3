"""Axes of length one: along them arrays are broadcast, which rank alone does not tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

Single: TypeAlias = tuple[int, ...] | None
_SCALARS = (int, float, complex, str, bytes, type(None), np.generic)


def single_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of length one."""
    return tuple(axis for axis, n in enumerate(shape) if n == 1) if 1 in shape else ()


def axes_of(values: Sequence[Any]) -> tuple[Single, ...]:
    """The axes of length one of each value that is an array; none for a container of arrays without such, and None for
    what else there is."""
    return tuple(_axes(value) for value in values)


def _axes(value: Any) -> Single:
    if type(value) is np.ndarray:
        return single_axes(value.shape)
    if type(value) in (list, tuple, dict):
        items = value.values() if type(value) is dict else value
        found = [_axes(item) for item in items if not isinstance(item, _SCALARS)]
        return () if found and not any(axes is None or axes for axes in found) else None
    return None


class Axes:
    """Those of the first arguments of a program's root, and whether a proof made use of them."""

    def __init__(self, single: Sequence[Single] = ()) -> None:
        self.single = tuple(single)
        self.relied = False

    def rely(self) -> None:
        """Notes that it matters which axes have length one."""
        self.relied = self.relied or any(axes is not None for axes in self.single)

    def sentence(self, names: Sequence[str]) -> str:
        """What the text of a derivative takes for granted, for parameters of these names."""
        pairs = zip(names, self.single, strict=False)
        found = [f"axis {axis} of `{name}`" for name, single in pairs for axis in single or ()]
        if not found:
            return "No axis of these arrays has length one, here and in every call."
        return f"Of these arrays' axes, only {', '.join(found)} has length one, here and in every call."
