"""Transfers between NumPy's memory and that of another library, where the program asks for them."""

from __future__ import annotations

from typing import Any

from tangentx.arrays.libraries import as_array, is_elsewhere, library_called, library_of


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
