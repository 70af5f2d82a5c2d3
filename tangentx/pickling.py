"""Differentiable functions and derivatives travel by qualified name, as functions do."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable
from typing import Any

from tangentx.derivative import target_of
from tangentx.errors import NoSource


def _by_name(module: str, name: str) -> Any:
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _function(function: Any) -> tuple[str, str]:
    """Module and name that lead to `function` or to what is made of it. Raises PicklingError."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    try:
        found = _by_name(str(module), str(name))
        wrapped = getattr(found, "__wrapped__", None)  # of a Differentiable of what is no Python function
        known = found is function or wrapped is function or target_of(found).function is function
    except (ImportError, AttributeError, NoSource):
        known = False
    if not known:
        raise pickle.PicklingError(f"{name!r} of module {module!r} is not this function: define it at the top")
    return str(module), str(name)


def reduced_function(function: Any, owner: Any) -> tuple[Any, ...]:
    """How a Differentiable is made again: by name, and bound to its owner."""
    named = _function(function)
    return (_by_name, named) if owner is None else (_bound, (*named, owner))


def _bound(module: str, name: str, owner: Any) -> Any:
    return _by_name(module, name).__get__(owner)


def reduced_derivative(derivative: Any, remade: Callable[..., Any]) -> tuple[Any, ...]:
    """How a derivative is made again: `remade` of its function, found by name, and what was asked."""
    target = derivative._target
    inner = target.function
    nested = hasattr(inner, "__tangentx_primal__")
    where = (inner,) if nested else _function(inner)
    return remade, (where, target.owner, derivative._spec)


def found_function(where: tuple[Any, ...], owner: tuple[Any, ...]) -> Any:
    """The function that `reduced_derivative` described, bound to its owners."""
    function = where[0] if len(where) == 1 else target_of(_by_name(*where)).function
    return _owned(function, owner) if owner else function


class _owned:
    """A function bound to objects, one before the other."""

    def __init__(self, function: Any, owner: tuple[Any, ...]) -> None:
        self.found = (function, owner)

    def __tangentx_target__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.found
