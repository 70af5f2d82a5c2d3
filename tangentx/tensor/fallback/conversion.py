"""Converts arguments to Tensors: leaves where they are differentiated, in structures of the user's."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tangentx.arrays import zeros_as
from tangentx.errors import SharedMemory
from tangentx.tensor.calls.apply import call
from tangentx.tensor.calls.operation import attach
from tangentx.tensor.core.forms import inexact
from tangentx.tensor.core.modes import during
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.fallback.structures import inside_of, rebuilt
from tangentx.tensor.writes.writing import write

_NUMBERS = (float, complex, np.inexact)


class Conversion:
    """Makes Tensors of what has a derivative; `known` are those that have been made, by what they were made of.

    `active`: what is differentiated by has a leaf at each place. What stands at two is read alone: an array is made
    read-only, and a container is refused.
    """

    def __init__(self, active: bool, known: dict[int, Any]) -> None:
        self.active, self.known = active, known
        self.around: set[int] = set()

    def of(self, value: Any) -> tuple[Any, Any]:
        """The value with Tensors for what has a derivative, and its structure with the leaves alone."""
        if type(value) is Tensor or (type(value) is np.ndarray and inexact(value)):
            return self._tensor(value)
        if isinstance(value, _NUMBERS):
            return _leaf(value, True) if self.active else (value, None)
        inside = None if type(value) is np.ndarray else inside_of(value)
        if inside is None:
            return value, None
        if id(value) in self.known:
            return self._container_again(value)
        return self._container(value, inside)

    def _tensor(self, value: Any) -> tuple[Any, Any]:
        make = _again if type(value) is Tensor else _leaf
        if id(value) not in self.known:
            self.known[id(value)] = (*make(value, self.active), value)
        elif self.active:
            first = self.known[id(value)][0]
            found = make(value, True)
            for t in (first, found[0]):
                if type(t._primal) is np.ndarray:
                    t._primal.flags.writeable = False
            return found
        found, leaf, _ = self.known[id(value)]
        return found, leaf

    def _container(self, value: Any, inside: dict[Any, Any]) -> tuple[Any, Any]:
        skeleton: Any = [None] * len(inside) if isinstance(value, list | tuple) else {}
        if not isinstance(value, tuple):
            self.known[id(value)] = (value, skeleton, value)
        self.around.add(id(value))
        made: dict[Any, Any] = {}
        for key, item in list(inside.items()):
            made[key], skeleton[key] = self.of(item)
        self.around.discard(id(value))
        return rebuilt(value, made), skeleton

    def _container_again(self, value: Any) -> tuple[Any, Any]:
        found, skeleton, _ = self.known[id(value)]
        leaves: dict[int, Tensor] = {}
        collect_leaves(skeleton, leaves, set())
        if self.active and id(value) not in self.around and leaves:
            raise SharedMemory(
                "a container is at two places of an argument, and may be written", hint="pass a copy of it at one"
            )
        return found, skeleton


def _leaf(array: Any, active: bool) -> tuple[Tensor, Tensor | None]:
    """A Tensor that may be written, hashed and asked as the value itself, and the leaf behind it."""
    if not active:
        return wrap(array), None
    leaf = wrap(array)
    leaf._needs = True
    return wrap(array, leaf), leaf


def _again(t: Tensor, active: bool) -> tuple[Tensor, Tensor | None]:
    """A Tensor of the caller's as another one with a history from there on, so that it is not written."""
    found = during(lambda: _copied(t), grad=True)
    if not (active and inexact(found._primal)):
        return found, None
    if not found._needs:
        return _leaf(found._primal, True)
    # What is differentiated by is the value as it comes in: the function may write into the other.
    return found, attach(found._primal, found.edge)


def _copied(t: Tensor) -> Tensor:
    """A copy laid out as the other is, recorded."""
    copied = np.copy if type(t.current) is np.ndarray else operator.pos
    found: Tensor = call(copied, (t,), {})
    if copied is np.copy and found._primal.strides != t._primal.strides:
        straight, found = found, wrap(zeros_as(t._primal))
        write(found, Ellipsis, straight)
    return found


def collect_leaves(skeleton: Any, found: dict[int, Tensor], seen: set[int]) -> None:
    """Enters the leaves of a structure in `found`."""
    if type(skeleton) is Tensor:
        found[id(skeleton)] = skeleton
    elif isinstance(skeleton, list | dict) and id(skeleton) not in seen:
        seen.add(id(skeleton))
        for item in skeleton.values() if isinstance(skeleton, dict) else skeleton:
            collect_leaves(item, found, seen)
