"""Runs of a function a second time: its side effects, its arguments by memory, and the states of random generators."""

from __future__ import annotations

import builtins
import collections
import functools
import logging
import random
import types
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from tangentx.arrays import generator_states, set_generators
from tangentx.errors import place
from tangentx.tensor.calls.operation import root_of
from tangentx.tensor.core.containers import tensors_in
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.writes.storage import Step, View, detached

# Side effects of a function that a checkpoint repeats: what it reaches outside its arguments.
#
# What acts whenever it is used (printing, logging, files, iterators) is told from its name; all else is looked at
# before and after the first run, for a change that a second one would make again.

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


# Calls that are repeated by a checkpoint: their arguments by memory, and their results.


class Call:
    """A call of a function, without the Tensors that it is given.

    `order` has for each argument the number of its Tensor, None for others; one that is given twice is one. `places`
    have for each Tensor its unit and the steps from there: those that share memory with another argument have their
    root for their unit, all others stand for themselves.
    """

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], tensors: Sequence[Tensor]) -> None:
        self.function = function
        self.place = place()
        self.args = [None if type(a) is Tensor else a for a in args]
        self.order = [_number(a, tensors) if type(a) is Tensor else None for a in args]
        roots = [id(root_of(t)) for t in tensors]
        shared = [t._view is not None and roots.count(id(root_of(t))) > 1 for t in tensors]
        every = [root_of(t) if s else t for t, s in zip(tensors, shared, strict=True)]
        self.units = distinct(every)
        self.places = [
            (_number(unit, self.units), t._view.steps if s else ())
            for unit, t, s in zip(every, tensors, shared, strict=True)
        ]

    def released(self) -> list[Tensor]:
        """The units, which are kept no longer: backward gets them from what it has saved."""
        units, self.units = self.units, []
        return units


class Run:
    """One way through a function whose arguments stand in `units`.

    `results` are the Tensors that it gives, or whose parts it gives, and that are no part of an argument; `reshaped`
    tells whether the shape of an argument was set. By identity `arguments` has the number of an argument that is given
    itself; `parts` has for a part its unit, or, behind these, the result, and how it is a view of it.
    """

    def __init__(self, call: Call, units: Sequence[Tensor]) -> None:
        self.units = units
        given = [stepped(units[unit], steps) for unit, steps in call.places]
        views = [t._view for t in given]
        self.result = call.function(
            *(arg if i is None else given[i] for arg, i in zip(call.args, call.order, strict=True))
        )
        self.reshaped = any(t._view is not view for t, view in zip(given, views, strict=True))
        self.arguments = {id(t): i for i, t in enumerate(given)}
        self.parts: dict[int, tuple[int, View | None]] = {}
        self.results: list[Tensor] = []
        numbers = {id(unit): i for i, unit in enumerate(units)}
        for t in tensors_in(self.result):
            if id(t) in self.arguments:
                continue
            root = root_of(t)
            if id(root) not in numbers:
                numbers[id(root)] = len(units) + len(self.results)
                self.results.append(root)
            self.parts[id(t)] = numbers[id(root)], t._view


def distinct(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Each once."""
    return list({id(t): t for t in tensors}.values())


def _number(t: Tensor, tensors: Sequence[Tensor]) -> int:
    return next(i for i, other in enumerate(tensors) if other is t)


def part(t: Tensor, view: View | None) -> Any:
    """What is to a Tensor as a view is to its root."""
    if view is None:
        return t
    found = stepped(t, view.steps)
    return found if view.with_history else detached(found)


def stepped(t: Tensor, steps: tuple[Step, ...]) -> Any:
    """The view of a Tensor to which the steps lead."""
    for step in steps:
        t = step.on_tensor(t)
    return t


# States of random generators, restored when a function runs a second time.

T = TypeVar("T")
_GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


class States:
    """The states of the generators of NumPy and Python, and of those that a function is given or refers to."""

    def __init__(self, function: Any, args: Sequence[Any]) -> None:
        found: dict[int, Any] = {}
        for value in (np.random.standard_normal, random.random, *args, *_referred(function)):
            own = getattr(value, "__self__", value)
            if isinstance(own, _GENERATORS):
                found[id(own)] = own
        self._generators = tuple(found.values())
        self._states = generator_states(*self._generators)

    def drawn(self) -> None:
        """After the first run: generators that it has not drawn from are left alone, for others may use them."""
        now = generator_states(*self._generators)
        moved = [not _same_state(a, b) for a, b in zip(self._states, now, strict=True)]
        self._generators = tuple(g for g, m in zip(self._generators, moved, strict=True) if m)
        self._states = tuple(s for s, m in zip(self._states, moved, strict=True) if m)

    def again(self, run: Callable[[], T]) -> T:
        """What `run` gives while they give what they gave; afterwards they go on from where they are now."""
        now = generator_states(*self._generators)
        try:
            set_generators(self._states, *self._generators)
            return run()
        finally:
            try:
                set_generators(now, *self._generators)
            except BaseException:  # an interrupt in between
                set_generators(now, *self._generators)
                raise


def _same_state(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return all(_same_state(a[name], b[name]) for name in a)
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else bool(a == b)


def _referred(function: Any) -> Iterator[Any]:
    """What a function refers to: captured, as a default, by a global name, or as an attribute of its object."""
    if isinstance(function, functools.partial):
        yield from (*function.args, *function.keywords.values())
        yield from _referred(function.func)
    elif isinstance(function, types.MethodType):
        yield from _attributes(function.__self__)
        yield from _referred(function.__func__)
    elif isinstance(function, types.FunctionType):
        yield from function.__defaults__ or ()
        yield from (function.__kwdefaults__ or {}).values()
        for cell in function.__closure__ or ():
            yield from _held_values(cell)
        for name in _names(function.__code__):
            yield function.__globals__.get(name)
    else:
        yield from _attributes(function)


def _held_values(cell: Any) -> Iterator[Any]:
    try:
        value = cell.cell_contents
    except ValueError:  # it is bound later
        return
    yield value
    yield from _attributes(value)


def _attributes(value: Any) -> Sequence[Any]:
    return () if isinstance(value, type | types.ModuleType) else tuple(getattr(value, "__dict__", {}).values())
