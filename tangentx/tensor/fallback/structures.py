"""Structures that hold Tensors: flattening, copying, and the differentiable parts of a result."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.arrays import fields
from tangentx.arrays.structures import demand_no_end
from tangentx.tensor.core.tensor import Tensor


def inside_of(value: Any) -> dict[Any, Any] | None:
    """The parts of a structure by position, key or name; None for anything else, a Tensor among them."""
    if type(value) is Tensor:
        return None
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    return value if isinstance(value, dict) else fields(value)


def rebuilt(value: Any, made: dict[Any, Any]) -> Any:
    """The structure with these parts in the place of its own; a tuple is made anew."""
    if isinstance(value, list):
        value[:] = made.values()
    elif isinstance(value, dict):
        value.update(made)
    elif isinstance(value, tuple):
        return type(value)(*made.values()) if hasattr(value, "_fields") else tuple(made.values())
    else:
        for name, item in made.items():
            object.__setattr__(value, name, item)
    return value


def plain(value: Any, known: dict[int, Any] | None = None) -> Any:
    """A result with plain data for its Tensors; nothing that it shares is written."""
    if type(value) is Tensor:
        return value.current
    known = {} if known is None else known
    inside = None if type(value) is np.ndarray else inside_of(value)
    if inside is None:
        return value
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, tuple):
        return rebuilt(value, {key: plain(item, known) for key, item in inside.items()})
    result = known[id(value)] = _another(value)
    return rebuilt(result, {key: plain(item, known) for key, item in list(inside.items())})


def copied(value: Any, other: Callable[[Any], Any], known: dict[int, Any] | None = None) -> Any:
    """A result in containers of its own, with its Tensors, and ``other(x)`` for what is neither one nor a container."""
    if type(value) is Tensor:
        return value
    known = {} if known is None else known
    inside = None if type(value) is np.ndarray else inside_of(value)
    if inside is None:
        return other(value)
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, tuple):
        return rebuilt(value, {key: copied(item, other, known) for key, item in inside.items()})
    result = known[id(value)] = _another(value)
    return rebuilt(result, {key: copied(item, other, known) for key, item in list(inside.items())})


def _another(value: Any) -> Any:
    """An object or container of the same class, to be filled."""
    demand_no_end(type(value))
    return object.__new__(type(value)) if fields(value) is not None else copy.copy(value)


def outputs_in(value: Any, seed: Any, found: list[tuple[Tensor, Any]]) -> None:
    """The Tensors of a result with the parts of `seed` that belong to them."""
    if type(value) is Tensor:
        found.append((value, seed))
        return
    inside = None if type(value) is np.ndarray else inside_of(value)
    for key, item in (inside or {}).items():
        outputs_in(item, None if seed is None else seed[key], found)
