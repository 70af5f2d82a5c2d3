"""Runs a plain function on Tensors in place of its arguments, and gives plain values back."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.arrays import tangent_as, zeros_as
from tangentx.arrays.copies import fresh_copies
from tangentx.errors import SharedMemory
from tangentx.tensor.calls.apply import call
from tangentx.tensor.calls.operation import attach
from tangentx.tensor.core.containers import holds_tensor, like_container, parts_of, with_parts
from tangentx.tensor.core.forms import fit, inexact, like_of, ones
from tangentx.tensor.core.modes import STATE, during
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.fallback.escaped_values import honestly
from tangentx.tensor.fallback.reachable import inside_of, outputs_in, plain, rebuilt
from tangentx.tensor.graph.engine import Sweep
from tangentx.tensor.writes.storage import joined
from tangentx.tensor.writes.writing import write

# Converts arguments to Tensors: leaves where they are differentiated, in structures of the user's.

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


# Runs a plain function on Tensors in place of its arguments, for programs that cannot be compiled.
#
# The arguments are copied first, once and jointly, so nothing of the caller's is touched. What has a derivative
# becomes a Tensor, in structures too; numbers stay numbers. A value that would leave the record is refused (see
# `escaped`).


class Trace:
    """One run: `result` as the function gave it, and for each place differentiated by the `leaves` in its structure."""

    def __init__(self, function: Callable[..., Any], values: Sequence[Any], wrt: Sequence[int]) -> None:
        given = self._given(values, wrt)

        program: Any = None

        def run() -> Any:
            nonlocal program
            leaves: dict[int, Tensor] = {}
            for skeleton in self.skeletons:
                collect_leaves(skeleton, leaves, set())
            program = STATE.program
            program.leaves = True
            for leaf in leaves.values():
                leaf._program = program
            return function(given)

        self.result = during(lambda: honestly(run), grad=True)
        self.hidden: list[Any] = program.hidden

    def _given(self, values: Sequence[Any], wrt: Sequence[int]) -> list[Any]:
        """The arguments as Tensors; `skeletons` are the leaves of those that are differentiated by."""
        if holds_tensor(values):
            values = [_holding(value) for value in values]
            copies: Sequence[Any] = [_released(copy) for copy in fresh_copies(*values)]
        else:
            copies = fresh_copies(*values)
        # What is in two arguments is two Tensors if one of them is differentiated by: each has a gradient of its own.
        _apart(copies, wrt)
        active = [a for i in wrt for a in _arrays(copies[i])]
        rest: dict[int, Any] = {id(a): (t, None, a) for a, t in joined(_arrays(copies), active)}
        given: dict[int, Any] = {}
        skeletons: dict[int, Any] = {}
        arrays = zip(_arrays(list(values)), _arrays(list(copies)), strict=False)
        owners = {id(copied) for own, copied in arrays if own.base is None}
        for i, value in enumerate(copies):
            known = {} if i in wrt else rest
            given[i], skeletons[i] = Conversion(i in wrt, known).of(value)
            for t, _, copied in known.values():
                if id(copied) in owners and type(t) is Tensor:
                    t._owner = True
        self.skeletons = [skeletons[i] for i in wrt]
        return [given[i] for i in range(len(values))]

    def gradients(self, outputs: Sequence[Tensor], seeds: Sequence[Any], retain: bool, create: bool = False) -> Any:
        """See `gradients`, for each place."""
        return gradients(self.skeletons, outputs, seeds, retain, create)


def gradients(
    skeletons: Sequence[Any], outputs: Sequence[Tensor], seeds: Sequence[Any], retain: bool, create: bool = False
) -> list[Any]:
    """For each structure of leaves their cotangents in that structure, None where nothing depends on a leaf."""
    active = [(t, seed) for t, seed in zip(outputs, seeds, strict=True) if t.requires_grad and seed is not None]
    leaves: dict[int, Tensor] = {}
    for skeleton in skeletons:
        collect_leaves(skeleton, leaves, set())
    edges = [leaf.edge for leaf in leaves.values()]
    bars: dict[Any, Any] = {}
    if active:
        bars = Sweep(create, retain, edges).run([(*t.edge, _formed(seed, t, create)) for t, seed in active])
    by_leaf = {key: bars.get(edge) for key, edge in zip(leaves, edges, strict=True)}
    return [_filled(skeleton, by_leaf, {}) for skeleton in skeletons]


def _formed(seed: Any, t: Tensor, create: bool) -> Any:
    if create:
        return seed
    like = like_of(t.current)
    return fit(np.asarray(seed) if type(like) is tuple else np.asarray(seed)[()], like)


class _Holder:
    """A Tensor among arguments to be copied, which is not copied itself."""

    def __new__(cls, *args: Any) -> _Holder:
        # A class with a way of its own to make instances is opaque to copies.
        return object.__new__(cls)

    def __init__(self, t: Tensor) -> None:
        self.t = t


def _holding(value: Any) -> Any:
    """The value with holders for Tensors in it; itself where there are none."""
    if not holds_tensor(value):
        return value
    if type(value) is Tensor:
        return _Holder(value)
    return with_parts(value, {key: _holding(item) for key, item in (parts_of(value) or {}).items()})


def _released(value: Any) -> Any:
    if type(value) is _Holder:
        return value.t
    if isinstance(value, list):
        value[:] = [_released(item) for item in value]
        return value
    if isinstance(value, tuple):
        return like_container(value, [_released(item) for item in value])
    if isinstance(value, dict):
        value.update((key, _released(item)) for key, item in value.items())
    elif (parts := parts_of(value)) is not None:
        for name, item in parts.items():
            object.__setattr__(value, name, _released(item))
    return value


def _apart(copies: Sequence[Any], wrt: Sequence[int]) -> None:
    """Freezes arrays that are in two arguments; a container there may be written, and is refused."""
    owners: dict[int, int] = {}
    for i, value in enumerate(copies):
        found: list[Any] = []
        _storages(value, found, set())
        for x in found:
            other = owners.setdefault(id(x), i)
            if other == i or not (i in wrt or other in wrt):
                continue
            if type(x) is not np.ndarray:
                raise SharedMemory("a container is in two arguments, and may be written", hint="pass a copy")
            x.flags.writeable = False


def _arrays(value: Any) -> list[Any]:
    found: list[Any] = []
    _storages(value, found, set())
    return [a for a in found if type(a) is np.ndarray]


def _storages(value: Any, found: list[Any], seen: set[int]) -> None:
    """The arrays and the containers that can be written, each once."""
    inside = None if type(value) is np.ndarray else inside_of(value)
    if id(value) in seen or (inside is None and type(value) is not np.ndarray):
        return
    seen.add(id(value))
    if not isinstance(value, tuple):
        found.append(value)
    for item in (inside or {}).values():
        _storages(item, found, seen)


def _filled(skeleton: Any, bars: dict[int, Any], known: dict[int, Any]) -> Any:
    if type(skeleton) is Tensor:
        return bars[id(skeleton)]
    if skeleton is None or id(skeleton) in known:
        return known.get(id(skeleton))
    result: Any = [None] * len(skeleton) if isinstance(skeleton, list) else {}
    known[id(skeleton)] = result
    for key, item in enumerate(skeleton) if isinstance(skeleton, list) else skeleton.items():
        result[key] = _filled(item, bars, known)
    return result


# Results of a run on Tensors, as plain values, with cotangents or tangents.


def tangent(trace: Trace, dots: Sequence[Any]) -> Any:
    """The tangent of a trace's result for tangents of its places: the pullback is linear in its seed, and that map
    is pulled back by the tangents."""
    found: list[tuple[Tensor, Any]] = []
    outputs_in(trace.result, tangent_as(None, plain(trace.result)), found)
    active = [t for t, _ in found if t.requires_grad]
    seeds = [wrap(ones(like_of(t.current))) for t in active]
    for seed in seeds:
        seed._needs = True

    def moved() -> dict[int, Any]:
        bars = trace.gradients(active, seeds, True, True) if active else []
        total: Any = None
        for bar, dot in zip(bars, dots if active else [], strict=True):
            total = paired(bar, dot, total)
        if not (type(total) is Tensor and total.requires_grad):
            return {}
        edges = [seed.edge for seed in seeds]
        sweep = Sweep(False, False, edges).run([(*total.edge, ones(like_of(total.current)))])
        return {id(t): sweep.get(edge) for t, edge in zip(active, edges, strict=True)}

    return _dots(trace.result, during(moved, grad=True))


def paired(bar: Any, dot: Any, total: Any) -> Any:
    """`total` and the real part of the sum of all products of cotangents and tangents, recorded."""
    if isinstance(bar, list | dict):
        for key, item in enumerate(bar) if isinstance(bar, list) else bar.items():
            total = paired(item, None if dot is None else dot[key], total)
        return total
    if bar is None or dot is None:
        return total
    product = call(np.real, (call(np.sum, (call(np.multiply, (bar, dot), {}),), {}),), {})
    return product if total is None else call(np.add, (total, product), {})


def _dots(value: Any, found: dict[int, Any]) -> Any:
    if type(value) is Tensor:
        return found.get(id(value))
    inside = None if type(value) is np.ndarray else inside_of(value)
    if inside is None:
        return None
    parts = {key: _dots(item, found) for key, item in inside.items()}
    return list(parts.values()) if isinstance(value, list | tuple) else parts
