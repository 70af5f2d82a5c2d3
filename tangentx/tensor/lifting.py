"""Functions written for arrays, made to take Tensors: rules of templates and compositions, differentiated again.

Their text is as it was. What they call by a global name (a function of NumPy, of the support module, of Python) is
given by one that records, where an argument holds a Tensor.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any

from tangentx.templates import find, has_composition

_LIFTED: dict[Any, Any] = {}
_BUILTINS = ("abs", "float", "complex", "max", "min", "pow", "sum", "sorted", "divmod")


def lifted_names(names: dict[str, Any]) -> dict[str, Any]:
    """The globals of a function, in which what can record does."""
    found = {name: lifted(value) for name, value in names.items() if not name.startswith("__")}
    more = {name: lifted(getattr(builtins, name)) for name in _BUILTINS if name not in names}
    return {**names, **found, **more}


def lifted(value: Any) -> Any:
    """A module, an operation or a function of the templates that takes Tensors; anything else as it is."""
    try:
        known = _LIFTED.get(value)
    except TypeError:
        return value
    if known is None:
        known = _lift(value)
        _LIFTED[value] = known
    return known


def _lift(value: Any) -> Any:
    if isinstance(value, types.ModuleType) and value.__name__.split(".")[0] in ("numpy", "math", "operator"):
        return _Module(value)
    if isinstance(value, types.FunctionType) and value.__module__.startswith("tangentx.templates") and not find(value):
        return lifted_function(value)
    if callable(value) and (find(value) is not None or has_composition(value)):
        return _recording(value)
    return value


def lifted_function(function: Any) -> Any:
    """A function with the same code whose globals record. They are filled after it is known: it may call itself."""
    names: dict[str, Any] = {}
    made = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    _LIFTED[function] = made
    names.update(lifted_names(function.__globals__))
    return made


class _Module:
    """A module whose functions record."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = lifted(getattr(self._module, name))
        setattr(self, name, found)
        return found


def _recording(function: Callable[..., Any]) -> Callable[..., Any]:
    from tangentx.tensor.apply import call
    from tangentx.tensor.holding import holds_tensor

    def recording(*args: Any, **kwargs: Any) -> Any:
        if holds_tensor(args) or (kwargs and holds_tensor(kwargs)):
            return call(function, args, kwargs)
        return function(*args, **kwargs)

    return recording
