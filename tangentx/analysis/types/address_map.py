"""The memory map of outside arrays: which of them overlap, by address rather than by identity."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field
from typing import Any

from tangentx.analysis.types.kinds import Region
from tangentx.arrays.memory import bounds_of


@dataclass
class Memory:
    """Stretches of memory, apart from one another and in order, each with its region and the arrays that lie in it."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    held: list[tuple[Region, list[Any]]] = field(default_factory=list)

    def add(self, array: Any, region: Region) -> None:
        """An array whose region is this; with those of all arrays that it may overlap it becomes one."""
        if not array.size:
            return
        low, high = bounds_of(array)
        first = bisect.bisect_right(self.ends, low)
        last = bisect.bisect_left(self.starts, high)
        arrays = [array]
        for other, inside in self.held[first:last]:
            other.unite(region)
            arrays += inside
        low, high = min([low, *self.starts[first:last]]), max([high, *self.ends[first:last]])
        self.starts[first:last], self.ends[first:last] = [low], [high]
        self.held[first:last] = [(region, arrays)]

    def shared(self) -> list[tuple[Region, list[Any]]]:
        """The stretches in which several arrays lie."""
        return [(region, arrays) for region, arrays in self.held if len(arrays) > 1]
