"""Which arrays from outside share memory: one joint map of all of them, by where they lie, not by who they are."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.lib.array_utils import byte_bounds

if TYPE_CHECKING:
    from tangentx.analysis.regions import Region

Path: TypeAlias = tuple[Any, ...]
Groups: TypeAlias = frozenset[frozenset[Path]]


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
        low, high = byte_bounds(array)
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


class Sharing(NamedTuple):
    """Places in values that hold one object, and places that hold arrays that may overlap."""

    same: Groups
    overlapping: Groups


def sharing(values: Sequence[Any]) -> Sharing:
    """Which places in the values hold the same object, or memory of others: what a derivative is made for.

    The items of a list of one kind are one place, whose items may be anything to one another.
    """
    places: dict[int, tuple[Any, set[Path]]] = {}
    for i, value in enumerate(values):
        _collect(value, (i,), places, set())
    groups: list[set[Path]] = []
    end = -1
    arrays = [(byte_bounds(a), paths) for a, paths in places.values() if isinstance(a, np.ndarray) and a.size]
    for (low, high), paths in sorted(arrays, key=lambda found: found[0]):
        if low < end:
            groups[-1] |= paths
        else:
            groups.append(set(paths))
        end = max(end, high)
    return Sharing(_several(paths for _, paths in places.values()), _several(groups))


def _several(groups: Iterable[set[Path]]) -> Groups:
    return frozenset(frozenset(group) for group in groups if len(group) > 1)


def _collect(value: Any, path: Path, places: dict[int, tuple[Any, set[Path]]], above: set[int]) -> None:
    from tangentx.analysis.keys import key
    from tangentx.analysis.values import contents, is_container

    if isinstance(value, np.generic) or not (isinstance(value, np.ndarray) or is_container(value)):
        return
    if id(value) in places and path in places[id(value)][1]:
        return
    if type(value) is not tuple:
        places.setdefault(id(value), (value, set()))[1].add(path)
    if isinstance(value, np.ndarray) or id(value) in above:
        return
    alike = type(value) is list and key(value)[0] == "list"
    for place, item in contents(value):
        _collect(item, (*path, "items" if alike else place), places, above | {id(value)})
