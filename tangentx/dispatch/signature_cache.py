"""The signature cache: from flat arguments to compiled code, by exact signature."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from tangentx.common.axes import Taken, single_axes

T = TypeVar("T")
LIMIT_MET = 64
LIMIT_FOUND = 256
LIMIT_TAKEN = 4
_EXACT = operator.attrgetter("dtype", "shape")


class _Alike(Generic[T]):
    """What was found for arguments of the same types: by dtypes, ranks and axes of length one of the arrays.

    `met` has it by the dtypes and shapes of earlier calls, which are quicker to ask for.
    """

    __slots__ = ("arrays", "count", "found", "met", "of")

    def __init__(self, arrays: tuple[int, ...], count: int) -> None:
        self.arrays = arrays
        self.count = count
        self.of: Any = operator.itemgetter(*arrays) if len(arrays) > 1 else lambda values: [values[i] for i in arrays]
        self.found: dict[tuple[Any, ...], list[tuple[Taken, T]]] = {}
        self.met: dict[tuple[Any, ...], T] = {}

    def at(self, exact: tuple[Any, ...]) -> T | None:
        """What was kept for arrays of these dtypes and shapes, which were not met yet."""
        shapes: list[Any] = [None] * self.count
        for i, (_, shape) in zip(self.arrays, exact, strict=True):
            shapes[i] = shape
        for taken, known in self.found.get(_layout(exact), ()):
            if taken.fits(shapes):
                if len(self.met) >= LIMIT_MET:
                    self.met.clear()
                self.met[exact] = known
                return known
        return None


def _layout(exact: tuple[Any, ...]) -> tuple[Any, ...]:
    """What counts of dtypes and shapes."""
    return tuple((dtype, len(shape), single_axes(shape)) for dtype, shape in exact)


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
        exact = tuple(map(_EXACT, table.of(values))) if table.arrays else ()
        return table.met.get(exact) or table.at(exact)

    def keep(self, context: Any, values: Sequence[Any], taken: Taken, found: T) -> None:
        """Enters what was found, if the arguments are flat; it is for arguments of which `taken` holds."""
        types = tuple(map(type, values))
        if not all(t in (float, int, complex, np.ndarray) or issubclass(t, np.generic) for t in types):
            return
        arrays = tuple(i for i, t in enumerate(types) if t is np.ndarray)
        if len(self._tables) >= LIMIT_FOUND:
            self._tables.clear()
        table = self._tables.setdefault((context, *types), _Alike(arrays, len(types)))
        table.met.clear()
        if len(table.found) >= LIMIT_FOUND:
            table.found.clear()
        layout = _layout(tuple(map(_EXACT, table.of(values))))
        others = [pair for pair in table.found.get(layout, ()) if pair[0] != taken]
        every = [(taken, found), *others[: LIMIT_TAKEN - 1]]
        table.found[layout] = sorted(every, key=lambda pair: -len(pair[0].lengths))  # what takes nothing fits all

    def clear(self) -> None:
        """Forgets everything."""
        self._tables.clear()
