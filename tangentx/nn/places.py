"""Modules on arrays of another library."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np

from tangentx.arrays.libraries import is_elsewhere
from tangentx.errors import NotDifferentiable, place, span_of


def moved(module: Any, where: Any) -> Any:
    """See `Module.to`."""
    if isinstance(where, str) and where.partition(":")[0] in ("cuda", "gpu"):
        where = _cupy(where)
    if isinstance(where, ModuleType) and where is not np:
        return _changed(module.arrays(), where.asarray)
    if where in ("cpu", np):
        first = next(module.parameters(), None)
        return _changed(module, lambda array: array.get()) if is_elsewhere(first) else module
    hint = 'say "cpu", "cuda" or cupy; a dtype is given where a layer is made: `nn.Linear(2, 3, dtype=np.float32)`'
    raise NotDifferentiable(f"a module cannot go to {where!r}", span_of(place()), hint)


def _cupy(where: str) -> ModuleType:
    try:
        return importlib.import_module("cupy")
    except ImportError:
        message = f"there is no device {where!r} here: CuPy is not installed"
        raise NotDifferentiable(
            message, span_of(place()), "pip install 'tangentx[cuda13]', or stay on \"cpu\""
        ) from None


def _changed(module: Any, change: Any) -> Any:
    made = module._with(lambda name, value: change(value))
    _set_buffers(made, change)
    return made


def _set_buffers(module: Any, change: Any) -> None:
    for each in module.modules():
        for name in each._buffers:
            if getattr(each, name) is not None:
                setattr(each, name, change(getattr(each, name)))
