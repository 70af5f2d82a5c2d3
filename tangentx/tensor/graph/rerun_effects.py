"""Side effects of a function that a checkpoint repeats: what it reaches outside its arguments.

What acts whenever it is used (printing, logging, files, iterators) is told from its name; all else is looked at before
and after the first run, for a change that a second one would make again.
"""

from __future__ import annotations

import builtins
import collections
import functools
import logging
import types
import warnings
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tangentx.tensor.core.tensor import Tensor

_ACTS = (builtins.print, builtins.input, builtins.open, warnings.warn)
_HELD = (list, tuple, dict, set, frozenset, collections.deque)
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype, Tensor, types.CodeType)
_LIBRARIES = frozenset(("numpy", "scipy", "tangentx", "math", "builtins"))


class Surroundings:
    """What `function` reaches: by the names in it and in the user's functions that these stand for, and by `args`."""

    def __init__(self, function: Any, args: Sequence[Any]) -> None:
        self._function, self._args = function, args
        self._before = self._state()

    def acts(self) -> str:
        """The name of something that acts on the world or moves on whenever it is used; empty for none."""
        return next((name for name, value in self._met if _acts(value)), "")

    def changed(self, *, by_tensors: bool = False) -> str:
        """The name of something that is not as it was; empty for none.

        `by_tensors`: what is no argument counts if it holds other Tensors now.
        """
        now = self._state()
        for key in dict.fromkeys((*self._before, *now)):
            name, before = self._before.get(key, ("", ()))
            name, after = now.get(key, (name, ()))
            if by_tensors and not name.startswith("argument "):
                held = set(map(id, before))
                differs = any(type(part) is Tensor and id(part) not in held for part in after)
            else:
                differs = key not in self._before or key not in now or not _same(before, after)
            if differs:
                return name or "what is outside"
        return ""

    def _state(self) -> dict[Any, tuple[str, Sequence[Any]]]:
        """The parts of all that can be changed, by identity; what is named is a part of where it is looked up."""
        found: dict[Any, tuple[str, Sequence[Any]]] = {}
        self._met: list[tuple[str, Any]] = []
        name = getattr(self._function, "__name__", "")
        todo = [*((f"argument {i}", a) for i, a in enumerate(self._args)), (name, self._function)]
        seen: set[int] = set()
        while todo:
            name, value = todo.pop()
            if isinstance(value, _PLAIN) or id(value) in seen:
                continue
            seen.add(id(value))
            self._met.append((name, value))
            if isinstance(value, np.ndarray) and not value.dtype.hasobject:
                found[id(value)] = name, [str(value.shape), _sum_of(value)]
                continue
            parts = list(_parts(value))
            found[id(value)] = (name, [part for _, part in parts])
            todo += [(own or name, part) for own, part in parts]
        return found


def _same(parts: Sequence[Any], others: Sequence[Any]) -> bool:
    return len(parts) == len(others) and all(map(_is_same, parts, others))


def _is_same(a: Any, b: Any) -> bool:
    compared = isinstance(a, (bool, int, float, complex, str, bytes, np.generic, types.MethodType))
    return a is b or (compared and type(a) is type(b) and bool(a == b))


def _sum_of(array: Any) -> int:
    """A checksum of what an array holds."""
    return zlib.crc32(np.ascontiguousarray(array).tobytes())


def _acts(value: Any) -> bool:
    moves = hasattr(type(value), "__next__") or isinstance(value, logging.Logger)
    return moves or any(value is each for each in _ACTS)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What a value holds that a function could change or use, with names where it is found by one."""
    if isinstance(value, functools.partial):
        yield from (("", part) for part in (value.func, *value.args, *value.keywords.values()))
    elif isinstance(value, types.MethodType):
        yield from (("", value.__self__), ("", value.__func__))
        yield from _methods(value.__self__, value.__func__.__code__ if hasattr(value.__func__, "__code__") else None)
    elif isinstance(value, types.FunctionType):
        if not _is_library(value):
            yield from _named(value)
    elif isinstance(value, np.ndarray):  # of objects
        yield from (("", part) for part in (str(value.shape), *value.flat))
    elif isinstance(value, dict):
        yield from (("", part) for pair in value.items() for part in pair)
    elif isinstance(value, _HELD):
        yield from (("", part) for part in value)
    elif type(value).__module__.startswith("tangentx.") and hasattr(value, "__wrapped__"):
        yield "", value.__wrapped__  # what has been compiled for it is no part of the program
    elif not isinstance(value, type | types.ModuleType | types.BuiltinFunctionType):
        yield from _own(value)


def _own(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes that an object keeps itself, but for those under which we keep what belongs to a function."""
    held = getattr(value, "__dict__", {})
    return ((str(name), part) for name, part in held.items() if not str(name).startswith("__tangentx_"))


def _named(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function keeps, and what its names stand for: captured, globals, attributes of modules and objects."""
    code = function.__code__
    yield from (("", part) for part in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()))
    yield from (("" if name == "__wrapped__" else name, part) for name, part in _own(function))
    owners: list[Any] = []
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        held = _held(cell)
        owners.append(held)
        yield name, held
    names = tuple(dict.fromkeys(_names(code)))
    for name in names:
        space = function.__globals__
        held = space[name] if name in space else getattr(builtins, name, None)
        owners.append(held)
        yield name, held
    for owner in owners:
        yield from _methods(owner, code)
    for owner in owners:
        if isinstance(owner, types.ModuleType) and owner.__name__.partition(".")[0] not in _LIBRARIES:
            yield from ((name, getattr(owner, name, None)) for name in names)


def _methods(owner: Any, code: types.CodeType | None) -> Iterator[tuple[str, Any]]:
    """The functions among the attributes of an object's class that a function names."""
    if code is None or isinstance(owner, (*_PLAIN, np.ndarray, types.ModuleType, types.FunctionType, type)):
        return
    for name in dict.fromkeys(_names(code)):
        found = getattr(type(owner), name, None)
        if isinstance(found, types.FunctionType):
            yield name, found


def _held(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is bound later
        return None


def _is_library(function: types.FunctionType) -> bool:
    return str(function.__module__).partition(".")[0] in _LIBRARIES


def _names(code: types.CodeType) -> Iterator[str]:
    """The names in a function and in those inside of it."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)
