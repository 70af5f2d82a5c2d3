"""Keys of arguments: what a derivative is compiled for, found from the values at each call."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.analysis.values import contents, is_record

_NUMBERS = (float, int, complex)


def key(value: Any, path: tuple[int, ...] = ()) -> Any:
    """A hashable key: equal keys mean equal kinds. Never a shape, never the value of a number.

    `path` is of the containers that the value is in: what holds itself is named by how far out it is.
    """
    cls = type(value)
    if cls in _NUMBERS:
        return cls
    if cls is np.ndarray:
        return (value.dtype, value.ndim)
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
    if callable(value):
        return ("object", value)
    if hasattr(value, "__dict__") and type(cls) is type:
        return (cls, tuple((k, key(item, path)) for k, item in vars(value).items()))
    return cls


def storages(values: Any) -> list[Any]:
    """Every array and container that the values reach, each time that it is reached, in order."""
    found: list[Any] = []
    stack = [values]
    path: set[int] = set()
    while stack:
        value = stack.pop()
        if isinstance(value, np.ndarray):
            found.append(value)
        elif type(value) in (list, tuple, dict) or is_record(value) or _is_plain(value):
            if type(value) is not tuple:
                found.append(value)
            if id(value) not in path:
                path.add(id(value))
                stack.extend(item for _, item in reversed(contents(value)))
    return found


def _is_plain(value: Any) -> bool:
    if callable(value) or isinstance(value, np.generic):
        return False
    return hasattr(value, "__dict__") and type(type(value)) is type


def overlaps(values: Any) -> tuple[tuple[int, int], ...]:
    """Pairs of positions in ``storages(values)`` that are the same object or may share memory."""
    found = storages(values)
    pairs: list[tuple[int, int]] = []
    for j, b in enumerate(found):
        for i in range(j):
            a = found[i]
            arrays = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
            if a is b or (arrays and np.may_share_memory(a, b)):
                pairs.append((i, j))
    return tuple(pairs)
