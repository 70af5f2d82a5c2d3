"""Pickling of differentiable functions and derivatives, by qualified name as for functions."""

from __future__ import annotations

import importlib
import pickle
import types
from collections.abc import Callable
from typing import Any

from tangentx.dispatch.entries import Target, target_of
from tangentx.errors import NoSource


def _by_name(module: str, name: str) -> Any:
    """The function of a module, or of a class in it, that has this name.

    What a pickle names may have been written by anybody: nothing comes back but what this module says of a function.
    Raises UnpicklingError for other objects, and for functions that the module has from elsewhere.
    """
    found: Any = importlib.import_module(module)
    known = (module, found.__name__)  # a process that multiprocessing has started calls the script by another name
    for depth, part in enumerate(name.split(".")):
        if depth and not isinstance(found, type):
            break
        found = getattr(found, part)
    else:
        if _is_function_of(found, known):
            return found
    raise pickle.UnpicklingError(f"{name!r} of module {module!r} is no function that is defined there")


def _is_function_of(found: Any, module: tuple[str, ...]) -> bool:
    """Whether it is a function that the module, by one of its names, defines, or what tangentx made of one."""
    made = not isinstance(found, types.FunctionType | types.MethodType) and hasattr(type(found), "__tangentx_target__")
    plain = isinstance(found, types.FunctionType | types.MethodType)
    return (made or plain) and getattr(found, "__module__", None) in module


def _function(function: Any) -> tuple[str, str]:
    """Module and name that lead to `function` or to what is made of it. Raises PicklingError."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    try:
        found = _by_name(str(module), str(name))
        wrapped = getattr(found, "__wrapped__", None)  # of a Differentiable of what is no Python function
        known = found is function or wrapped is function or target_of(found).function is function
    except (ImportError, AttributeError, NoSource, pickle.UnpicklingError):
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


def reduced(target: Target, remade: Callable[..., Any], *options: Any) -> tuple[Any, ...]:
    """How what was made of a function is made again: `remade` of where that is found, its owners, and the options."""
    inner = target.function
    nested = hasattr(inner, "__tangentx_primal__")
    where = (inner,) if nested else _function(inner)
    return remade, (where, target.owner, *options)


def found_function(where: tuple[Any, ...], owner: tuple[Any, ...]) -> Any:
    """The function that `reduced` described, bound to its owners."""
    function = where[0] if len(where) == 1 else target_of(_by_name(*where)).function
    while len(where) > 1 and hasattr(function, "__tangentx_primal__"):  # the name is that of what was made of it
        function = function.__tangentx_primal__()
    return Owned(function, owner) if owner else function


class Owned:
    """A function bound to objects, one before the other."""

    def __init__(self, function: Any, owner: tuple[Any, ...]) -> None:
        self.found = (function, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function, owner = self.found
        return function(*owner, *args, **kwargs)

    def __tangentx_target__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.found
