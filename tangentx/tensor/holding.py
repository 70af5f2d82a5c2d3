"""Tensors that lists, tuples and dicts hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tangentx.tensor.core import Tensor

CONTAINERS = (list, tuple, dict)
ROWS = frozenset((list, tuple))
LASTING = frozenset((bool, int, float, complex, str, type(None), type(Ellipsis), slice, np.float64, np.int64))
"""Types of values that nobody can change."""
WITHOUT = LASTING | {np.ndarray, np.float32, np.complex128, np.bool_, np.dtype, type}
"""Types of values that are no Tensor and hold none."""


def holds_tensor(value: Any) -> bool:
    """Whether a value is, or holds in lists, tuples and dicts, a Tensor."""
    if type(value) is Tensor:
        return True
    if type(value) in ROWS and WITHOUT.issuperset(map(type, value)):
        return False
    stack = [value]
    seen: set[int] = set()  # a list may hold itself
    while stack:
        value = stack.pop()
        if type(value) is Tensor:
            return True
        if isinstance(value, list | tuple | dict) and id(value) not in seen:
            seen.add(id(value))
            stack.extend(value.values() if isinstance(value, dict) else value)
    return False


def tensors_in(value: Any) -> Iterator[Tensor]:
    """The Tensors that a value is or holds, in order."""
    if type(value) is Tensor:
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def raw(value: Any) -> Any:
    """The value with plain data for its Tensors."""
    kind = type(value)
    if kind is Tensor:
        return value.current
    if kind not in WITHOUT and isinstance(value, CONTAINERS) and holds_tensor(value):
        if isinstance(value, dict):
            return {key: raw(item) for key, item in value.items()}
        return like_container(value, [raw(item) for item in value])
    return value


def like_container(value: Any, items: list[Any]) -> Any:
    """The items as a list or tuple of the class of `value`."""
    if isinstance(value, list):
        return items
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
