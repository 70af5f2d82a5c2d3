"""Moves modules to arrays of another library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tangentx.arrays.libraries import NUMPY, is_elsewhere
from tangentx.arrays.transfers import library_at
from tangentx.nn.parameter import Parameter
from tangentx.tensor.core.devices import data_on, device_of


def moved(module: Any, where: Any) -> Any:
    """See `Module.to`."""
    library = library_at(where)
    first = next(module.parameters(), None)
    if isinstance(first, Parameter):
        return _move(module, where)
    if library is not NUMPY:
        return _changed(module.arrays(), library.namespace.asarray)
    return _changed(module, lambda array: array.get()) if is_elsewhere(first) else module


def _move(module: Any, where: Any) -> Any:
    """Brings the Tensors, their gradients and the buffers there, in place."""

    def brought(array: Any) -> Any:
        return array if device_of(array) == where else data_on(array, where, None)

    for parameter in module.parameters():
        for each in (parameter, parameter.grad):
            if each is not None:
                each._primal, each._content = brought(each.current), None
    _set_buffers(module, brought)
    return module


def _changed(module: Any, change: Callable[[Any], Any]) -> Any:
    made = module._with(lambda name, value: change(value))
    _set_buffers(made, change)
    return made


def _set_buffers(module: Any, change: Callable[[Any], Any]) -> None:
    for each in module.modules():
        for name in each._buffers:
            if getattr(each, name) is not None:
                setattr(each, name, change(getattr(each, name)))
