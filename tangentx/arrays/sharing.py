"""Aliasing among arguments and outside objects: which places hold the same object, or overlapping memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tangentx.arrays.signatures import key
from tangentx.arrays.structures import contents, is_container

Path: TypeAlias = tuple[Any, ...]
Groups: TypeAlias = frozenset[frozenset[Path]]


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
