"""Tensors inside lists, tuples, dicts and dataclasses."""

from __future__ import annotations

import copy
import itertools
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import numpy as np

from tangentx.arrays import fields
from tangentx.errors import NotDifferentiable
from tangentx.tensor.core.tensor import Tensor

CONTAINERS = (list, tuple, dict)
ROWS = frozenset((list, tuple))
LASTING = frozenset((bool, int, float, complex, str, type(None), type(Ellipsis), slice, np.float64, np.int64))
"""Types of values that nobody can change."""
WITHOUT = LASTING | {np.ndarray, np.float32, np.complex128, np.bool_, np.dtype, type}
"""Types of values that are no Tensor and hold none."""
_OTHERS = (deque, set, frozenset)


def consist_of(kinds: frozenset[Any], items: Collection[Any]) -> bool:
    """Whether all items are of some classes, or tuples of such items: soon told of long containers.

    >>> consist_of(LASTING, [1.0, (2, "b"), ()]), consist_of(LASTING, [(1, (2,))])
    (True, False)
    """
    found = set(map(type, items))
    if tuple in found:
        found.discard(tuple)
        inside = itertools.chain.from_iterable(x for x in items if type(x) is tuple)
        return found.issubset(kinds) and kinds.issuperset(map(type, inside))
    return found.issubset(kinds)


def parts_of(value: Any) -> dict[Any, Any] | None:
    """What a list, tuple, dict or dataclass holds, by position, key or name; None for anything else."""
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    if isinstance(value, dict):
        return value
    names = () if type(value) in WITHOUT else getattr(type(value), "__dataclass_fields__", ())
    return {name: getattr(value, name, None) for name in names} if names else None


def holds_tensor(value: Any) -> bool:
    """Whether a value is, or holds in lists, tuples, dicts and dataclasses, a Tensor."""
    return any(type(x) is Tensor for x in _within(value, lambda x: ()))


def holds_known_tensor(value: Any) -> bool:
    """As `holds_tensor`. Raises NotDifferentiable for Tensors that other objects hold: nothing would know of them."""
    kinds = {type(x) for x in _within(value, _held_by_another)}
    return Tensor in kinds


def _held_by_another(x: Any) -> Iterable[Any]:
    held = tuple(x) if isinstance(x, _OTHERS) else (fields(x) or {}).values()
    if any(type(item) is Tensor for item in held):
        message = f"an object of the class {type(x).__name__} holds a Tensor, of whose history nothing is known"
        hint = "hold it in a dataclass, list, tuple or dict, or pass it by itself"
        if hasattr(x, "__tangentx_arrays__"):
            hint = "give the module on plain arrays: `model.arrays()`"
        raise NotDifferentiable(message, hint=hint)
    return held


def _within(value: Any, items: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """The value and all that it holds, but what holds no Tensor for certain; `items` of what else it is."""
    stack = [value]
    seen: set[int] = set()  # a list may hold itself
    while stack:
        value = stack.pop()
        kind = type(value)
        if kind in WITHOUT or id(value) in seen or (kind in ROWS and WITHOUT.issuperset(map(type, value))):
            continue
        yield value
        if kind is Tensor:
            continue
        seen.add(id(value))
        if kind in ROWS:
            stack.extend(value)
        else:
            parts = parts_of(value)
            stack.extend(items(value) if parts is None else parts.values())


def tensors_in(value: Any) -> Iterator[Tensor]:
    """The Tensors that a value is or holds, in order."""
    if type(value) is Tensor:
        yield value
    else:
        for item in (parts_of(value) or {}).values():
            yield from tensors_in(item)


def raw(value: Any) -> Any:
    """The value with plain data for its Tensors."""
    kind = type(value)
    if kind is Tensor:
        return value.current
    if kind in WITHOUT or not holds_tensor(value):
        return value
    return with_parts(value, {key: raw(item) for key, item in (parts_of(value) or {}).items()})


def mapped(value: Any, one: Callable[[Any], Any]) -> Any:
    """The value with ``one(x)`` for each `x` that it holds and that holds nothing itself."""
    parts = parts_of(value)
    if parts is None:
        return one(value)
    return with_parts(value, {key: mapped(item, one) for key, item in parts.items()})


def with_parts(value: Any, parts: dict[Any, Any]) -> Any:
    """What has the form of `value`, and these for its parts."""
    if isinstance(value, dict):
        return parts
    if isinstance(value, list | tuple):
        return like_container(value, list(parts.values()))
    made = copy.copy(value)
    for name, part in parts.items():
        object.__setattr__(made, name, part)
    return made


def like_container(value: Any, items: list[Any]) -> Any:
    """The items as a list or tuple of the class of `value`."""
    if isinstance(value, list):
        return items
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
