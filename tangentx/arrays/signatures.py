"""Signatures: the cache key of a call, computed from its argument values."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from tangentx.arrays.libraries import is_array, library_of_class
from tangentx.arrays.memory import may_share
from tangentx.arrays.structures import contents, is_container, is_record, is_whole

_NUMBERS = (float, int, complex)


def key(value: Any, path: tuple[int, ...] = ()) -> Any:
    """A hashable key: equal keys mean equal kinds. Never a length, never the value of a number.

    `path` is of the containers that the value is in: what holds itself is named by how far out it is.
    """
    cls = type(value)
    if cls in _NUMBERS:
        return cls
    if cls is np.ndarray:
        return (value.dtype, value.ndim)
    if library_of_class(cls) is not None:
        return (cls, value.dtype, value.ndim)
    if cls is bool or cls is str or cls is bytes or value is None:
        return (cls, value)
    if id(value) in path:
        return ("again", len(path) - path.index(id(value)))
    path = (*path, id(value))
    if cls is list:
        keys = [key(item, path) for item in value]
        alike = all(k == keys[0] for k in keys)
        return ("list", keys[0] if keys else None) if alike else ("items", tuple(keys))
    if cls is tuple:
        return ("tuple", tuple(key(item, path) for item in value))
    if cls is dict or is_record(value):
        return (cls, tuple((k, key(item, path)) for k, item in contents(value)))
    if isinstance(value, np.generic):
        return cls
    if is_container(value):
        return (cls, tuple((k, key(item, path)) for k, item in contents(value)))
    return ("object", value) if callable(value) or isinstance(value, enum.Enum) or is_whole(value) else cls


def storages(values: Any) -> list[Any]:
    """Every array and container that the values reach, each time that it is reached, in order."""
    found: list[Any] = []
    stack = [values]
    path: set[int] = set()
    while stack:
        value = stack.pop()
        if is_array(value):
            found.append(value)
        elif not isinstance(value, np.generic) and is_container(value):
            if type(value) is not tuple:
                found.append(value)
            if id(value) not in path:
                path.add(id(value))
                stack.extend(item for _, item in reversed(contents(value)))
    return found


def overlaps(values: Any) -> tuple[tuple[int, int], ...]:
    """Pairs of positions in ``storages(values)`` that are the same object or may share memory."""
    found = storages(values)
    pairs: list[tuple[int, int]] = []
    for j, b in enumerate(found):
        for i in range(j):
            a = found[i]
            if a is b or (is_array(a) and is_array(b) and may_share(a, b)):
                pairs.append((i, j))
    return tuple(pairs)
