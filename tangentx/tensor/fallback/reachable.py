"""Reachability: what structures, arguments and captured variables hold, and what of it is differentiated."""

from __future__ import annotations

import contextlib
import copy
import functools
import gc
import types
from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from tangentx.arrays import fields
from tangentx.arrays.structures import demand_no_end
from tangentx.tensor.core.containers import WITHOUT, consist_of
from tangentx.tensor.core.modes import STATE
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.fallback.library_code import is_users_class

# Reachability: the arguments of a call, their contents, and what functions among them captured.

_CODE = types.CodeType
_SKIPPED = (types.ModuleType, types.BuiltinFunctionType, types.FrameType, _CODE, np.ndarray, np.generic, type)
_LISTED = (list, tuple, set, frozenset, deque)
_ITERATORS = frozenset(
    map(type, (iter([]), iter(()), iter({}), iter({}.values()), iter({}.items()), iter(set()), reversed([])))
) | {map, filter, zip, enumerate, type({}.values()), type({}.items()), type({}.keys())}
_TRIES = 1000


def active_in(*values: Any) -> Tensor | None:
    """A Tensor that is differentiated and that one of the values is, holds or can come to; None without one."""
    stack = list(values)
    met: dict[int, Any] = {}  # each is kept, so that no other one gets its identity
    while stack:
        value = stack.pop()
        kind = type(value)
        if kind is Tensor:
            if value.requires_grad:
                found: Tensor = value
                return found
        elif kind not in WITHOUT and id(value) not in met:
            met[id(value)] = value
            inside = reached(value)
            if not (isinstance(inside, tuple) and consist_of(WITHOUT, inside)):
                stack.extend(inside)
    return None


def reached(value: Any) -> Iterable[Any]:
    """What a value that is no Tensor gives access to."""
    if isinstance(value, _LISTED):
        return (*_held(value), *_held(vars(value).values())) if hasattr(value, "__dict__") else _held(value)
    if isinstance(value, dict):
        return (*_held(value.keys()), *_held(value.values()))
    if isinstance(value, types.FunctionType):
        return of_function(value)
    if isinstance(value, types.MethodType):
        return value.__self__, value.__func__
    if isinstance(value, types.BuiltinMethodType | types.MethodWrapperType):
        return () if isinstance(value.__self__, types.ModuleType) else (value.__self__,)
    if isinstance(value, functools.partial):
        return value.func, value.args, value.keywords
    if isinstance(value, types.GeneratorType):
        return () if value.gi_frame is None else (*value.gi_frame.f_locals.values(), value.gi_yieldfrom)
    if type(value) in _ITERATORS or type(value).__module__ == "itertools":
        return _of_iterator(value)
    if isinstance(value, _SKIPPED):
        return ()
    if hasattr(type(value), "__tangentx_parts__"):  # a module, or what stands for an object of a library's
        parts: Iterable[Any] = vars(value).values()
        return parts
    touched = STATE.program is not None and id(value) in STATE.program.touched
    # Into an object of a library, of which nothing is known, only the program itself can have put something.
    inside = fields(value) if touched or is_users_class(type(value)) else None
    if inside is not None:
        return inside.values()
    held = getattr(value, "__dict__", None)
    own = hasattr(value, "__wrapped__") or touched or isinstance(value, BaseException | types.SimpleNamespace)
    more = value.args if isinstance(value, BaseException) else ()
    return (*held.values(), *more) if own and isinstance(held, dict) else more


def _of_iterator(value: Any) -> list[Any]:
    """What an iterator of Python's holds, and what is in its tuples: one of `zip_longest` that has ended in part has a
    tuple with places that hold nothing, which no code but the collector's may read."""
    found: list[Any] = []
    for each in gc.get_referents(value):
        found += gc.get_referents(each) if type(each) is tuple else [each]
    return found


def _held(container: Collection[Any]) -> tuple[Any, ...]:
    """What a container holds at one moment: while it is read, another thread may change its size."""
    for _ in range(_TRIES):
        with contextlib.suppress(RuntimeError):
            return tuple(container)
    return tuple(container)


def of_function(function: types.FunctionType) -> list[Any]:
    """What a function has captured, its defaults and attributes, and the globals that it reads."""
    found = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), *vars(function).values()]
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # nothing has been bound yet
            continue
    names = function.__globals__
    found += [names[name] for name in _names(function.__code__) if name in names]
    return found


@functools.lru_cache(maxsize=2000)
def _names(code: types.CodeType) -> tuple[str, ...]:
    inner = [name for constant in code.co_consts if isinstance(constant, _CODE) for name in _names(constant)]
    return tuple(dict.fromkeys((*code.co_names, *inner)))


def is_late(x: Any) -> bool:
    """Whether a value is an iterator, which is read later. One of the program's own is an object like any other: where
    it stands is in its attributes."""
    kind = type(x)
    if not hasattr(kind, "__next__"):
        return isinstance(x, types.CoroutineType)
    following = (vars(base)["__next__"] for base in kind.__mro__ if "__next__" in vars(base))
    return not (is_users_class(kind) and all(isinstance(each, types.FunctionType) for each in following))


# Structures that hold Tensors: flattening, copying, and the differentiable parts of a result.


def inside_of(value: Any) -> dict[Any, Any] | None:
    """The parts of a structure by position, key or name; None for anything else, a Tensor among them."""
    if type(value) is Tensor:
        return None
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    return value if isinstance(value, dict) else fields(value)


def rebuilt(value: Any, made: dict[Any, Any]) -> Any:
    """The structure with these parts in the place of its own; a tuple is made anew."""
    if isinstance(value, list):
        value[:] = made.values()
    elif isinstance(value, dict):
        value.update(made)
    elif isinstance(value, tuple):
        return type(value)(*made.values()) if hasattr(value, "_fields") else tuple(made.values())
    else:
        for name, item in made.items():
            object.__setattr__(value, name, item)
    return value


def plain(value: Any, known: dict[int, Any] | None = None) -> Any:
    """A result with plain data for its Tensors; nothing that it shares is written."""
    if type(value) is Tensor:
        return value.current
    known = {} if known is None else known
    inside = None if type(value) is np.ndarray else inside_of(value)
    if inside is None:
        return value
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, tuple):
        return rebuilt(value, {key: plain(item, known) for key, item in inside.items()})
    result = known[id(value)] = _another(value)
    return rebuilt(result, {key: plain(item, known) for key, item in list(inside.items())})


def copied(value: Any, other: Callable[[Any], Any], known: dict[int, Any] | None = None) -> Any:
    """A result in containers of its own, with its Tensors, and ``other(x)`` for what is neither one nor a container."""
    if type(value) is Tensor:
        return value
    known = {} if known is None else known
    inside = None if type(value) is np.ndarray else inside_of(value)
    if inside is None:
        return other(value)
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, tuple):
        return rebuilt(value, {key: copied(item, other, known) for key, item in inside.items()})
    result = known[id(value)] = _another(value)
    return rebuilt(result, {key: copied(item, other, known) for key, item in list(inside.items())})


def _another(value: Any) -> Any:
    """An object or container of the same class, to be filled."""
    demand_no_end(type(value))
    return object.__new__(type(value)) if fields(value) is not None else copy.copy(value)


def outputs_in(value: Any, seed: Any, found: list[tuple[Tensor, Any]]) -> None:
    """The Tensors of a result with the parts of `seed` that belong to them."""
    if type(value) is Tensor:
        found.append((value, seed))
        return
    inside = None if type(value) is np.ndarray else inside_of(value)
    for key, item in (inside or {}).items():
        outputs_in(item, None if seed is None else seed[key], found)
