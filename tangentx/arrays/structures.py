"""Values and containers item by item: zeros, tangents and the public form of a gradient."""

from __future__ import annotations

import sys
import types
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

_NUMBERS = (float, complex, np.floating, np.complexfloating)
_OPAQUE = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)
_WRITTEN_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE, which no class of a C source of the old kind has
PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)


def has_derivative(x: Any) -> bool:
    """True for a real or complex number or array; False for integers, strings, containers and all else."""
    return isinstance(x, _NUMBERS) or (isinstance(x, np.ndarray) and x.dtype.kind in "fc")


def fields(x: Any) -> dict[str, Any] | None:
    """The attributes of a dataclass or plain object by name; None for anything without an open structure.

    A function, a class, a module, what wraps a function, an object whose class makes its instances itself, and one of
    a class of Python's own library (a logger, a lock) are opaque.
    """
    cls: Any = type(x)
    if not is_open(cls) or isinstance(x, _OPAQUE) or hasattr(x, "__wrapped__"):
        return None
    slots = [name for base in cls.__mro__ for name in _names(vars(base).get("__slots__", ())) if hasattr(x, name)]
    if not slots and not hasattr(x, "__dict__"):
        return None
    return {**{name: getattr(x, name) for name in slots}, **getattr(x, "__dict__", {})}


@lru_cache(maxsize=1000)
def is_open(cls: Any) -> bool:
    """Whether instances of the class are known by their attributes."""
    if getattr(cls, "__new__", None) is not object.__new__ or not cls.__flags__ & _WRITTEN_IN_PYTHON:
        return False
    return cls.__module__.partition(".")[0] not in sys.stdlib_module_names or cls.__module__ == "argparse"


def _names(slots: Any) -> tuple[str, ...]:
    """The attributes that `__slots__` declares."""
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def zero(x: Any) -> Any:
    """The zero cotangent of `x`.

    Numbers and arrays give a zero of their type, containers a list or dict of zeros (an object a dict by field).
    A whole number, and None for a name that is not bound yet, give 0.0, for they may stand where reals do; all else
    that has no derivative gives None.
    """
    if isinstance(x, np.ndarray):
        return zeros_as(x) if x.dtype.kind in "fc" else None
    if isinstance(x, _NUMBERS):
        return type(x)(0)
    if x is None or isinstance(x, (int, np.integer)):
        return 0.0
    if isinstance(x, (list, tuple)):
        return [zero(item) for item in x]
    if isinstance(x, dict):
        return {key: zero(item) for key, item in x.items()}
    inside = fields(x)
    return None if inside is None else {key: zero(item) for key, item in inside.items()}


def real_zero(x: Any) -> Any:
    """As `zero`, for a variable of reals that may hold whole numbers for a while: these give real zeros too."""
    if isinstance(x, np.ndarray) and x.dtype.kind not in "fc":
        return np.zeros(x.shape)
    return zero(x)


def zeros_as(a: Any) -> Any:
    """Zeros of the shape, dtype and strides of `a`, so that a view of `a` and of them relate alike; writable.

    An array that repeats its elements (a stride of 0) gives plain contiguous zeros; a number gives zero, None itself.
    """
    if not isinstance(a, np.ndarray):
        return None if a is None else type(a)(0)
    if a.flags.c_contiguous or 0 in a.shape:
        return np.zeros(a.shape, a.dtype)
    return _strided(a)


def _strided(a: Any) -> Any:
    """Zeros in fresh memory with the strides of `a`."""
    if any(s == 0 and n > 1 for s, n in zip(a.strides, a.shape, strict=True)):
        return np.zeros(a.shape, a.dtype)
    low, high = byte_bounds(a)
    memory = np.zeros(high - low, np.uint8)
    offset = a.__array_interface__["data"][0] - low
    return np.ndarray(a.shape, a.dtype, buffer=memory.data, offset=offset, strides=a.strides)


def finish(bar: Any, primal: Any) -> Any:
    """The public gradient: the cotangent `bar` in the structure, shapes and dtypes of `primal`, in fresh memory.

    A missing (None) cotangent of a number or array is a zero; what has no derivative gives None.
    """
    if isinstance(primal, np.ndarray):
        return _finish_array(bar, primal) if primal.dtype.kind in "fc" else None
    if isinstance(primal, _NUMBERS):
        return _finish_number(0.0 if bar is None else bar, primal)
    if isinstance(primal, (list, tuple)):
        bars = [None] * len(primal) if bar is None else bar
        items = [finish(b, p) for b, p in zip(bars, primal, strict=True)]
        if isinstance(primal, list):
            return items
        return type(primal)(*items) if hasattr(primal, "_fields") else tuple(items)
    if isinstance(primal, dict):
        return {key: finish((bar or {}).get(key), item) for key, item in primal.items()}
    inside = fields(primal)
    if inside is None:
        return None
    result = object.__new__(type(primal))
    for key, item in inside.items():
        object.__setattr__(result, key, finish((bar or {}).get(key), item))
    return result


def _finish_array(bar: Any, primal: Any) -> Any:
    order: Any = "F" if primal.flags.f_contiguous and not primal.flags.c_contiguous else "C"
    result = np.zeros(primal.shape, primal.dtype, order=order)
    if bar is not None:
        result[...] = np.real(bar) if primal.dtype.kind == "f" else bar
    return result


def _finish_number(bar: Any, primal: Any) -> Any:
    value = np.reshape(bar, ())[()]
    return type(primal)(value if isinstance(primal, (complex, np.complexfloating)) else np.real(value))


def filled(dot: Any, primal: Any) -> Any:
    """A tangent structure with real zeros where it has None, in the layout of a shadow; nothing is copied."""
    if isinstance(primal, (list, tuple)):
        dots = [None] * len(primal) if dot is None else dot
        return [filled(d, p) for d, p in zip(dots, primal, strict=True)]
    if isinstance(primal, dict):
        return {key: filled(None if dot is None else dot[key], item) for key, item in primal.items()}
    return real_zero(primal) if dot is None else dot


def tangent_as(dot: Any, primal: Any) -> Any:
    """A copy of a tangent structure whose arrays have the strides and dtypes of the primal's, and alias as they do.

    A part that stands at two places aliases itself only if it is given one tangent at both.
    """
    return _tangent_as(dot, primal, {})


def _tangent_as(dot: Any, primal: Any, memo: dict[tuple[int, int], Any]) -> Any:
    both = (id(primal), id(dot))
    if both in memo and not isinstance(primal, PLAIN):
        return memo[both]
    if isinstance(primal, np.ndarray):
        if primal.dtype.kind not in "fc":
            return None
        result = zeros_as(primal)
        if dot is not None:
            result[...] = dot
        memo[both] = result
        return result
    if isinstance(primal, _NUMBERS):
        return zero(primal) if dot is None else dot
    if isinstance(primal, (list, tuple)):
        parts: list[Any] = []
        memo[both] = parts
        dots = [None] * len(primal) if dot is None else dot
        parts.extend(_tangent_as(d, p, memo) for d, p in zip(dots, primal, strict=True))
        return parts
    inside = primal if isinstance(primal, dict) else fields(primal)
    if inside is None:
        return None
    named: dict[Any, Any] = {}
    memo[both] = named
    dots_by_name = dot if isinstance(dot, dict) or dot is None else fields(dot)
    named.update((k, _tangent_as((dots_by_name or {}).get(k), p, memo)) for k, p in inside.items())
    return named


def instance(cls: type, attributes: dict[str, Any]) -> Any:
    """A new `cls` with `attributes`, made without `__init__`; frozen classes too."""
    made: Any = object.__new__(cls)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    return made
