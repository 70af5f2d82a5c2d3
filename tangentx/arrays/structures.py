"""Values and containers item by item: what they hold, and the public form of a gradient."""

from __future__ import annotations

import dataclasses
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.arrays.libraries import is_array, is_elsewhere, library_of_class
from tangentx.arrays.library_objects import parts_of
from tangentx.errors import NotDifferentiable

NUMBERS = (float, complex, np.floating, np.complexfloating)
_OPAQUE = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)
_WRITTEN_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE, which no class of a C source of the old kind has
PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)


def has_derivative(x: Any) -> bool:
    """True for a real or complex number or array; False for integers, strings, containers and all else."""
    return isinstance(x, NUMBERS) or (is_array(x) and x.dtype.kind in "fc")


def fields(x: Any) -> dict[str, Any] | None:
    """The attributes of a dataclass or plain object by name; None for anything without an open structure.

    A function, a class, a module, what wraps a function, an object whose class makes its instances itself, and one of
    a class of Python's own library (a logger, a lock) are opaque. Of libraries' objects some are known by what they
    are made of (`library_objects`).
    """
    cls: Any = type(x)
    if library_of_class(cls) is not None:
        return None
    known = parts_of(cls)
    if known is not None:
        return {name: getattr(x, name) for name in known.names if hasattr(x, name)}
    if not is_open(cls) or isinstance(x, _OPAQUE) or hasattr(x, "__wrapped__"):
        return None
    slots = [name for base in cls.__mro__ for name in _names(vars(base).get("__slots__", ())) if hasattr(x, name)]
    if not slots and not hasattr(x, "__dict__"):
        return None
    return {**{name: getattr(x, name) for name in slots}, **getattr(x, "__dict__", {})}


_OPEN: dict[int, tuple[Any, bool]] = {}


def is_open(cls: Any) -> bool:
    """Whether instances of the class are known by their attributes."""
    known = _OPEN.get(id(cls))
    if known is None:
        key = id(cls)  # the class itself is not kept, so it goes with its last instance
        known = _OPEN[key] = weakref.ref(cls, lambda _: _OPEN.pop(key, None)), _is_open(cls)
    return known[1]


def _is_open(cls: Any) -> bool:
    if getattr(cls, "__new__", None) is not object.__new__ or not cls.__flags__ & _WRITTEN_IN_PYTHON:
        return False
    return cls.__module__.partition(".")[0] not in sys.stdlib_module_names or cls.__module__ == "argparse"


def _names(slots: Any) -> tuple[str, ...]:
    """The attributes that `__slots__` declares."""
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def finish(bar: Any, primal: Any) -> Any:
    """The public gradient: the cotangent `bar` in the structure, shapes and dtypes of `primal`, in fresh memory.

    A missing (None) cotangent of a number or array is a zero; what has no derivative gives None.
    """
    if is_array(primal):
        return _finish_array(bar, primal) if primal.dtype.kind in "fc" else None
    if isinstance(primal, NUMBERS):
        return _finish_number(0.0 if bar is None else bar, primal)
    if isinstance(primal, (list, tuple)):
        bars = [None] * len(primal) if bar is None else bar
        items = [finish(b, p) for b, p in zip(bars, primal, strict=True)]
        if isinstance(primal, list):
            return items
        demand_no_end(type(primal))
        return type(primal)(*items) if hasattr(primal, "_fields") else tuple(items)
    if isinstance(primal, dict):
        return {key: finish((bar or {}).get(key), item) for key, item in primal.items()}
    inside = fields(primal)
    if inside is None:
        return None
    bars = (bar if isinstance(bar, dict) else fields(bar)) or {}
    return instance(type(primal), {key: finish(bars.get(key), item) for key, item in inside.items()})


def _finish_array(bar: Any, primal: Any) -> Any:
    order: Any = "F" if primal.flags.f_contiguous and not primal.flags.c_contiguous else "C"
    if is_elsewhere(primal):
        result = np.zeros_like(primal, order=order)
    else:
        result = np.zeros(primal.shape, primal.dtype, order=order)
    if bar is not None:
        result[...] = np.real(bar) if primal.dtype.kind == "f" else bar
    return result


def _finish_number(bar: Any, primal: Any) -> Any:
    if type(primal) is float and isinstance(bar, float):
        return float(bar)
    value = np.reshape(bar, ())[()]
    return type(primal)(value if isinstance(primal, (complex, np.complexfloating)) else np.real(value))


def demand_no_end(cls: type) -> None:
    """Refuses to make another object of a class with ``__del__``, which would run for that one, too."""
    if hasattr(cls, "__del__"):
        message = f"an object of class `{cls.__name__}` would be copied, and the `__del__` of the copy would run"
        raise NotDifferentiable(message, hint="pass what the object holds, or read it where nothing is written")


def instance(cls: type, attributes: dict[str, Any]) -> Any:
    """A new `cls` with `attributes`, made without `__init__`; frozen classes too, and those of `library_objects`."""
    known = parts_of(cls)
    if known is not None:
        return known.made(cls, attributes)
    demand_no_end(cls)
    made: Any = object.__new__(cls)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    return made


_whole: list[Callable[[Any], bool]] = []


def provide(whole: Callable[[Any], bool]) -> None:
    """`whole` tells a distribution of SciPy's from other objects; it lies above, and is handed down."""
    _whole[:] = [whole]


def is_whole(value: Any) -> bool:
    """Whether a value is a distribution, frozen or not: known by its methods alone, never by what is inside."""
    return "scipy.stats" in sys.modules and _whole[0](value)


def is_record(value: Any) -> bool:
    """Whether the value is a named tuple or an instance of a dataclass."""
    named = isinstance(value, tuple) and hasattr(type(value), "_fields")
    return named or (dataclasses.is_dataclass(value) and not isinstance(value, type))


def is_record_class(cls: type) -> bool:
    """Whether instances of the class are tuples or records: equal where their parts are."""
    return issubclass(cls, tuple) or dataclasses.is_dataclass(cls)


def is_container(value: Any) -> bool:
    """Whether the value is a list, tuple, dict or record, or an object that is known by its attributes."""
    if type(value) in (list, tuple, dict) or is_record(value):
        return True
    if is_whole(value):
        return False
    calls = [vars(cls)["__call__"] for cls in type(value).__mro__ if "__call__" in vars(cls)]
    return isinstance(calls[0] if calls else _plain, types.FunctionType) and fields(value) is not None


def _plain() -> None:
    """Stands for what is not called."""


def contents(value: Any) -> list[tuple[Any, Any]]:
    """Keys and items of a container: positions, keys, or attribute names."""
    if isinstance(value, list | tuple):
        return list(enumerate(value))
    if isinstance(value, dict):
        return list(value.items())
    return list((fields(value) or vars(value)).items())
