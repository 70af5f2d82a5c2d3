"""States of random generators, restored when a function runs a second time."""

from __future__ import annotations

import functools
import random
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from tangentx.arrays import generator_states, set_generators

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
        moved = [not _same(a, b) for a, b in zip(self._states, now, strict=True)]
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


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return all(_same(a[name], b[name]) for name in a)
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
            yield from _held(cell)
        for name in _names(function.__code__):
            yield function.__globals__.get(name)
    else:
        yield from _attributes(function)


def _held(cell: Any) -> Iterator[Any]:
    try:
        value = cell.cell_contents
    except ValueError:  # it is bound later
        return
    yield value
    yield from _attributes(value)


def _attributes(value: Any) -> Sequence[Any]:
    return () if isinstance(value, type | types.ModuleType) else tuple(getattr(value, "__dict__", {}).values())


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)
