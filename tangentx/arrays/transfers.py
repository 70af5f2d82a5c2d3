"""Explicit transfers between NumPy's memory and a device."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from tangentx.arrays.libraries import (
    NUMPY,
    Library,
    as_array,
    is_elsewhere,
    library_called,
    library_of,
    library_of_class,
)
from tangentx.errors import NotDifferentiable, place, span_of


def library_at(device: Any) -> Library:
    """The library whose arrays lie on a device: of "cpu", of "cuda" or "cuda:1", or of the library's module itself.

    Raises NotDifferentiable for what is no device, and where CuPy is not installed.
    """
    name = device.partition(":")[0] if isinstance(device, str) else ""
    if name == "cpu":
        return NUMPY
    if name in ("cuda", "gpu"):
        device = _cupy(device)
    found = library_of_class(getattr(device, "ndarray", object)) if isinstance(device, ModuleType) else None
    if found is None:
        hint = 'say "cpu", "cuda" or cupy; a dtype is given where a layer is made: `nn.Linear(2, 3, dtype=np.float32)`'
        raise NotDifferentiable(f"{device!r} is no device", span_of(place()), hint)
    return found


def _cupy(device: str) -> ModuleType:
    try:
        return importlib.import_module("cupy")
    except ImportError:
        message = f"there is no device {device!r} here: CuPy is not installed"
        hint = "pip install 'tangentx[cuda13]', or stay on \"cpu\""
        raise NotDifferentiable(message, span_of(place()), hint) from None


def to_host(x: Any) -> Any:
    """A copy of an array of another library as one of NumPy's: ``x.get()``, as CuPy has it; else `x` itself."""
    return x.get() if is_elsewhere(x) else as_array(x)


def to_library(x: Any, module: str) -> Any:
    """An array of NumPy's as one of the library that is imported as `module`: ``cp.asarray(x)``."""
    return library_called(module).namespace.asarray(x)


def brought(t: Any, like: Any) -> Any:
    """`t` in the memory in which `like` lies: the adjoint of a transfer from there."""
    if is_elsewhere(like) == is_elsewhere(t):
        return t
    return library_of(like).namespace.asarray(t) if is_elsewhere(like) else to_host(t)
