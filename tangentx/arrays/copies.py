"""Copies that keep aliasing."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from tangentx.arrays.libraries import is_array, is_elsewhere
from tangentx.arrays.library_objects import parts_of
from tangentx.arrays.memory import (
    address,
    arrays_in,
    bounds_of,
    is_recorder,
    is_writable,
    may_share,
    repeats,
    rows_for,
    shown_in,
    stretches,
    zeros_there,
)
from tangentx.arrays.structures import PLAIN, demand_no_end, fields, instance
from tangentx.common.naming import with_article
from tangentx.errors import NotDifferentiable, SharedMemory

_WORK: Any = 10_000
STOPPED: ContextVar[Callable[[Any], Any]] = ContextVar("stopped", default=lambda value: value)
"""What stands for the values that `stop_gradient` gives: by differences they are constant only if something does."""


def once(bar: Any) -> Any:
    """A cotangent in memory of its own, in which each number stands once: where it stands first in `bar`.

    What is one object there, or shares memory, is zero in all other places: so it is given back once.
    """
    if _has_history(bar):
        return _once_each(bar, set(), bar)
    return _once(fresh_copies(bar)[0], set())


def own_parts(t: Any, bar: Any) -> Any:
    """What `once` does to `bar` done to `t`, a tangent or cotangent of its parts: zero wherever `bar` shows what it has
    shown before, be it one object or memory. So it is the tangent of `once`, and its adjoint."""
    if _has_history(bar):
        return _once_each(t, set(), bar)
    first = fresh_copies(bar)[0]
    _fill(first, set())
    return _selected(t, _once(first, set()), set())


def _fill(x: Any, met: set[int]) -> None:
    """Sets every number to one, in arrays, lists and dicts."""
    if is_array(x):
        x[...] = 1
    elif isinstance(x, (list, dict)) and id(x) not in met:
        met.add(id(x))
        for key in range(len(x)) if isinstance(x, list) else tuple(x):
            if isinstance(x[key], (float, complex, np.inexact)):
                x[key] = type(x[key])(1)
            else:
                _fill(x[key], met)


def _selected(t: Any, chosen: Any, above: set[int]) -> Any:
    """The numbers of `t` where `chosen` has a one, zeros elsewhere."""
    if is_array(chosen) and is_array(t):
        left = t.copy(order="K")
        left[chosen == 0] = 0
        return left
    if isinstance(chosen, (float, complex, np.inexact)):
        return t if chosen or t is None else type(t)(0)
    if not isinstance(chosen, (list, dict)) or id(chosen) in above:
        return t
    inner = above | {id(chosen)}
    if isinstance(chosen, dict):
        return {key: _selected(t[key], part, inner) for key, part in chosen.items()}
    return [_selected(part, of, inner) for part, of in zip(t, chosen, strict=True)]


def _has_history(x: Any) -> bool:
    """Whether there is a Tensor, of which this module does not know: memory of which is its own."""
    if isinstance(x, (list, tuple, dict)):
        return any(map(_has_history, x.values() if isinstance(x, dict) else x))
    return getattr(x, "detach", None) is not None


def _once_each(x: Any, met: set[int], of: Any) -> Any:
    """The parts of `x`, zeros for those whose places in `of` show an object that stands before."""
    if isinstance(x, dict):
        return {key: _once_each(item, met, of[key]) for key, item in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(_once_each(item, met, part) for item, part in zip(x, of, strict=True))
    again = id(of) in met
    met.add(id(of))
    return x * 0.0 if again else x


def _once(x: Any, above: set[int]) -> Any:
    """What is left of a part; zeros are left in its place."""
    if is_array(x):
        taken = x.copy(order="K")
        x[...] = 0
        return taken
    if not isinstance(x, (list, dict)) or id(x) in above:
        return x
    found: Any = list(x) if isinstance(x, list) else dict(x)
    for key in range(len(x)) if isinstance(x, list) else tuple(x):
        found[key] = _once(x[key], above | {id(x)})
        if isinstance(x[key], (float, complex, np.inexact)):
            x[key] = type(x[key])(0)
    return found


def clone(x: Any) -> Any:
    """`x` such that later writes to it are not seen: an array is copied, anything else is returned as it is."""
    return x.copy(order="K") if is_array(x) else x


def stop_gradient(x: Any) -> Any:
    """The value of `x`, a number or an array of any shape and dtype, as a constant: its derivative is zero.

    Of an array it is a copy, which later writes to `x` do not change. A Tensor gives one of the same value without
    history. Raises TypeError for anything else: a container's parts are given one by one.

    >>> import tangentx as tx
    >>> tx.grad(lambda x: tx.stop_gradient(x) * x)(3.0)
    3.0
    """
    detached = getattr(x, "detach", None)
    if detached is not None:  # a Tensor, of which this module does not know, and which says that it is an array
        return detached().clone()
    if is_array(x):
        return STOPPED.get()(x.copy(order="K"))
    if isinstance(x, (int, float, complex, np.generic)):
        return STOPPED.get()(x)
    message = f"stop_gradient takes a number, an array or a Tensor, not {with_article(type(x).__name__)}"
    raise NotDifferentiable(message, hint="call it for each of the parts")


def writable(view: Any) -> Any:
    """A view of an array that may be written, itself made writable, as `np.diagonal` does not."""
    if isinstance(view, np.ndarray):  # those of other libraries always may
        view.flags.writeable = True
    return view


def shares(a: Any, b: Any) -> bool:
    """True if the arrays share memory; where that is too hard to decide, True if they may."""
    if not (is_array(a) and is_array(b)) or not may_share(a, b):
        return False
    if is_elsewhere(a):
        return True
    try:
        return bool(np.shares_memory(a, b, max_work=_WORK))
    except np.exceptions.TooHardError:
        return True


def entry_copy(x: Any) -> Any:
    """A deep copy of `x`: see `entry_copies`."""
    if type(x) is np.ndarray and x.flags.forc and is_writable(x) and x.dtype.kind != "O":
        return x.copy(order="K")
    return entry_copies(x)[0]


def entry_copies(*xs: Any) -> tuple[Any, ...]:
    """One joint deep copy of arrays and containers, but for arrays in memory that nobody can write: they stay.

    Keeps identities, strides, write flags and the overlaps between views, also across arguments. Numbers, strings,
    functions and other opaque objects are returned as they are. Objects are made without ``__init__``. Raises
    SharedMemory for a writable array that shows elements at several places.
    """
    found = arrays_in(xs)
    memo = {id(a): a for a in still_among(found)}
    blocks = _blocks([a for a in found if id(a) not in memo])
    return tuple(_copied(x, memo, blocks) for x in xs)


def fresh_copy(x: Any) -> Any:
    """A deep copy of `x`, whatever memory it lies in: see `fresh_copies`."""
    if type(x) is np.ndarray and x.flags.forc and is_writable(x) and x.dtype.kind != "O":
        return x.copy(order="K")
    return fresh_copies(x)[0]


def fresh_copies(*xs: Any) -> tuple[Any, ...]:
    """As `entry_copies`; every array is in new memory."""
    memo: dict[int, Any] = {}
    blocks = _blocks(arrays_in(xs))
    return tuple(_copied(x, memo, blocks) for x in xs)


def form_of(x: Any) -> Any:
    """The structure of `x`, with arrays of the same shape, dtype and strides of which nothing can be read."""
    memo: dict[int, Any] = {}
    for a in arrays_in(x):
        if is_elsewhere(a):
            memo[id(a)] = np.empty_like(a)
            continue
        memo[id(a)] = np.lib.stride_tricks.as_strided(np.zeros((), a.dtype), a.shape, a.strides, writeable=False)
    return _copied(x, memo, [])


def still_among(found: list[Any]) -> list[Any]:
    """Those of some arrays that lie in memory that nobody can write, as far as one can tell: they are read-only, and so
    is the array that owns it, or it is that of a bytes object; and no other one of them can be written there."""
    still = [a for a in found if _is_still(a)]
    if not still:
        return still
    others = [bounds_of(a) for a in found if not _is_still(a) and a.size and a.dtype.kind != "O"]
    bounds = [bounds_of(a) for a in still]
    return [
        a
        for a, (low, high) in zip(still, bounds, strict=True)
        if not any(low < end and first < high for first, end in others)
    ]


def _is_still(a: Any) -> bool:
    """Whether an array is read-only, and its memory that of a read-only array or of a bytes object."""
    while type(a) is np.ndarray and not is_writable(a) and a.dtype.kind != "O":
        if a.base is None:
            return bool(a.flags.owndata)
        a = a.base
    return type(a) is bytes


def _blocks(found: list[Any]) -> list[tuple[int, int, Any]]:
    """Copies of the stretches of memory that the arrays occupy: (first byte, end, copy)."""
    here = [a for a in found if not is_elsewhere(a)]
    blocks = [(s.first, s.end, np.empty(s.end - s.first, np.uint8)) for s in stretches(here)]
    return blocks + [(s.first, s.end, row) for s, row in rows_for(found, 2)]


def _copied_array(a: Any, blocks: list[tuple[int, int, Any]]) -> Any:
    """`a` as the same view of the copied memory."""
    if a.dtype.kind == "O":
        return a.copy(order="K")
    if not a.size:
        return np.empty_like(a)
    if is_elsewhere(a):
        return _copied_there(a, blocks)
    low = bounds_of(a)[0]
    first, memory = next((at, row) for at, end, row in blocks if at <= low < end and not is_elsewhere(row))
    offset = address(a) - first
    result: Any = np.ndarray(a.shape, a.dtype, buffer=memory.data, offset=offset, strides=a.strides)
    if is_writable(a) and repeats(a):
        raise SharedMemory(
            "an array whose elements overlap in memory would be written", hint="pass a copy: np.array(x)"
        )
    once = tuple(slice(1) if stride == 0 else slice(None) for stride in a.strides)
    result[once] = a[once]
    result.flags.writeable = is_writable(a)
    return result


def _copied_there(a: Any, blocks: list[tuple[int, int, Any]]) -> Any:
    """A copy of an array on a device, of the same strides, in the memory that it shares with others."""
    low = bounds_of(a)[0]
    shared = next(((first, row) for first, end, row in blocks if is_elsewhere(row) and first <= low < end), None)
    if shared is not None and not repeats(a):
        result = shown_in(shared[1], shared[0], a)
        result[...] = a
        return result
    if a.flags.c_contiguous or a.flags.f_contiguous:
        return a.copy(order="K")
    if repeats(a):
        message = "an array whose elements overlap in memory would be written"
        raise SharedMemory(message, hint="pass a copy: `x.copy()`")
    result = zeros_there(a)
    result[...] = a
    return result


def _copied(x: Any, memo: dict[int, Any], blocks: list[tuple[int, int, Any]]) -> Any:
    """`x` copied, each object once."""
    if isinstance(x, PLAIN):
        return x
    if id(x) in memo:
        return memo[id(x)]
    if is_array(x):
        result = memo[id(x)] = x if is_recorder(x) else _copied_array(x, blocks)
        return result
    if isinstance(x, list | dict | tuple):
        demand_no_end(type(x))
    if isinstance(x, list):
        result = memo[id(x)] = copy.copy(x)
        result[:] = [_copied(item, memo, blocks) for item in x]
    elif isinstance(x, dict):
        result = memo[id(x)] = copy.copy(x)
        for key, item in x.items():
            result[key] = _copied(item, memo, blocks)
    elif isinstance(x, tuple):
        items = [_copied(item, memo, blocks) for item in x]
        result = memo[id(x)] = type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    else:
        result = _copied_object(x, memo, blocks)
    return result


def _copied_object(x: Any, memo: dict[int, Any], blocks: list[tuple[int, int, Any]]) -> Any:
    """A plain object with its attributes copied; anything opaque as it is."""
    inside = fields(x)
    if inside is None:
        return x
    if parts_of(type(x)) is not None:
        result = memo[id(x)] = instance(type(x), {key: _copied(item, memo, blocks) for key, item in inside.items()})
        return result
    demand_no_end(type(x))
    result = memo[id(x)] = object.__new__(type(x))
    for key, item in inside.items():
        object.__setattr__(result, key, _copied(item, memo, blocks))
    return result
