"""Runs a plain function on Tensors in place of its arguments, for programs that cannot be compiled.

The arguments are copied first, once and jointly, so nothing of the caller's is touched. What has a derivative becomes
a Tensor, in structures too; numbers stay numbers. A value that would leave the record is refused (see `escaped`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.arrays.copies import fresh_copies
from tangentx.errors import SharedMemory
from tangentx.tensor.core.containers import holds_tensor, like_container, parts_of, with_parts
from tangentx.tensor.core.forms import fit, like_of
from tangentx.tensor.core.modes import STATE, during
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.fallback.conversion import Conversion, collect_leaves
from tangentx.tensor.fallback.escaped_values import honestly
from tangentx.tensor.fallback.structures import inside_of
from tangentx.tensor.graph.engine import Sweep
from tangentx.tensor.writes.overlaps import joined


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
