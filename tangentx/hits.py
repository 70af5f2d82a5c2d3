"""The quick way from flat arguments, numbers and arrays, to what was found for their kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from tangentx.axes import single_axes

T = TypeVar("T")


@dataclass(slots=True)
class _Alike(Generic[T]):
    """What was found for arguments of the same types: by dtypes, ranks and axes of length one of the arrays."""

    arrays: tuple[int, ...]
    found: dict[tuple[Any, ...], T] = field(default_factory=dict)


class Hits(Generic[T]):
    """A table by the exact types of flat arguments, then by dtypes, ranks and axes of length one.

    `context` is what else the answer depends on. What is not flat is never found.
    """

    def __init__(self) -> None:
        self._tables: dict[tuple[Any, ...], _Alike[T]] = {}

    def find(self, context: Any, values: Sequence[Any]) -> T | None:
        """What was kept for arguments of these kinds."""
        table = self._tables.get((context, *map(type, values)))
        if table is None:
            return None
        if not table.arrays:
            return table.found.get(())
        layout: list[Any] = []
        for i in table.arrays:
            array = values[i]
            shape = array.shape
            layout += (array.dtype, len(shape), 1 in shape and single_axes(shape))
        return table.found.get(tuple(layout))

    def keep(self, context: Any, values: Sequence[Any], found: T) -> None:
        """Enters what was found, if the arguments are flat."""
        types = tuple(map(type, values))
        if not all(t in (float, int, complex, np.ndarray) or issubclass(t, np.generic) for t in types):
            return
        arrays = tuple(i for i, t in enumerate(types) if t is np.ndarray)
        table = self._tables.setdefault((context, *types), _Alike(arrays))
        layout: list[Any] = []
        for i in arrays:
            shape = values[i].shape
            layout += (values[i].dtype, len(shape), 1 in shape and single_axes(shape))
        table.found[tuple(layout)] = found

    def clear(self) -> None:
        """Forgets everything."""
        self._tables.clear()
