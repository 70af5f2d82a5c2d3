"""Zeros with the structure of a value: the initial cotangents."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.copies import clone
from tangentx.arrays.libraries import is_array, is_elsewhere
from tangentx.arrays.memory import (
    Stretch,
    address,
    arrays_in,
    bounds_of,
    repeats,
    rows_for,
    shown_in,
    stretches,
    zeros_there,
)
from tangentx.arrays.structures import NUMBERS, PLAIN, fields
from tangentx.errors import SharedMemory

Blocks = list[tuple[Stretch, Any]]

_WHOLE = (int, np.integer, np.bool_)
"""They have no derivative, and may stand where real numbers do."""


def zero(x: Any, alike: bool = False) -> Any:
    """The zero cotangent of `x`.

    Numbers and arrays give a zero of their type, containers a list or dict of zeros (an object a dict by field): one
    for each place. Where it is to be `alike`, what is one object in `x` is one object, and arrays that share memory in
    `x` share it alike.
    A whole number, and None for a name that is not bound yet, give 0.0, for they may stand where reals do; all else
    that has no derivative gives None. Raises SharedMemory for an array that repeats its elements and shares them.
    """
    if type(x) is float:
        return 0.0
    if is_array(x):
        return zeros_as(x) if x.dtype.kind in "fc" else None
    if isinstance(x, NUMBERS):
        return type(x)(0)
    if x is None or isinstance(x, _WHOLE):
        return 0.0
    return _zero(x, {}, _shared_blocks(x) if alike else None)


def _shared_blocks(x: Any) -> Blocks:
    """Zeros for each stretch of memory that several arrays of the structure occupy together."""
    arrays = arrays_in(x)
    here = [a for a in arrays if not is_elsewhere(a)]
    found = [(s, np.zeros(s.end - s.first, np.uint8)) for s in stretches(here) if s.arrays > 1]
    return found if len(here) == len(arrays) else found + rows_for(arrays, 2)


def _zero(x: Any, met: dict[int, Any], blocks: Blocks | None) -> Any:
    """The zero of a part. `met` are those of all objects before, or, without `blocks`, of the containers around it: one
    may stand in itself."""
    if type(x) is float:
        return 0.0
    if id(x) in met and not isinstance(x, NUMBERS):
        return met[id(x)]
    if is_array(x):
        if blocks is None:
            return zero(x)
        met[id(x)] = _zero_array(x, blocks)
        return met[id(x)]
    inside = x if isinstance(x, list | tuple | dict) else None if _is_plain(x) else fields(x)
    if inside is None:
        return zero(x) if _is_plain(x) else None
    made: Any = [] if isinstance(inside, list | tuple) else {}
    met[id(x)] = made
    if isinstance(inside, dict):
        made.update((key, _zero(item, met, blocks)) for key, item in inside.items())
    else:
        made.extend(_zero(item, met, blocks) for item in inside)
    if blocks is None:
        del met[id(x)]
    return made


def _is_plain(x: Any) -> bool:
    return x is None or isinstance(x, (*NUMBERS, *_WHOLE))


def _zero_array(a: Any, blocks: Blocks) -> Any:
    if a.dtype.kind not in "fc":
        return None
    low = address(a) if a.size == 0 else bounds_of(a)[0]
    near = [(s, zeros) for s, zeros in blocks if is_elsewhere(zeros) == is_elsewhere(a)]
    memory = next(((s.first, zeros) for s, zeros in near if a.size and s.first <= low < s.end), None)
    if memory is None:
        return zeros_as(a)
    if repeats(a):
        raise SharedMemory(
            "the elements of an array overlap in memory, and with an array that the program writes",
            hint="pass a copy: np.array(x)",
        )
    if is_elsewhere(a):
        return shown_in(memory[1], memory[0], a)
    return np.ndarray(a.shape, a.dtype, buffer=memory[1].data, offset=address(a) - memory[0], strides=a.strides)


def real_zero(x: Any) -> Any:
    """As `zero`, for a variable of reals that may hold whole numbers for a while: these give real zeros too."""
    if is_array(x) and x.dtype.kind not in "fc":
        return np.zeros_like(x, dtype=float) if is_elsewhere(x) else np.zeros(x.shape)
    return zero(x)


def zeros_as(a: Any) -> Any:
    """Zeros of the shape, dtype and strides of `a`, so that a view of `a` and of them relate alike; writable.

    An array that shows an element at several places gives plain contiguous zeros; a number gives zero, None itself.
    """
    if not isinstance(a, np.ndarray):
        if is_elsewhere(a):
            return zeros_there(a)
        return None if a is None else type(a)(0)
    if a.flags.c_contiguous or 0 in a.shape or repeats(a):
        return np.zeros(a.shape, a.dtype)
    low, high = bounds_of(a)
    memory = np.zeros(high - low, np.uint8)
    return np.ndarray(a.shape, a.dtype, buffer=memory.data, offset=address(a) - low, strides=a.strides)


def tangent_as(dot: Any, primal: Any) -> Any:
    """A copy of a tangent structure whose arrays have the strides and dtypes of the primal's, and alias as they do.

    A part that stands at two places aliases itself only if it is given one tangent at both.
    """
    return _tangent_as(dot, primal, {})


def _tangent_as(dot: Any, primal: Any, memo: dict[tuple[int, int], Any]) -> Any:
    both = (id(primal), id(dot))
    if both in memo and not isinstance(primal, PLAIN):
        return memo[both]
    if is_array(primal):
        if primal.dtype.kind not in "fc":
            return None
        result = zeros_as(primal)
        if dot is not None:
            result[...] = dot
        memo[both] = result
        return result
    if isinstance(primal, NUMBERS):
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


def filled(dot: Any, primal: Any) -> Any:
    """A tangent structure with real zeros where it has None, in the layout of a shadow.

    None stays where the primal has it too, as a tangent has for what does not move: it tells nothing of a shape. Each
    part is memory of its own, though the tangent may hold one array twice: what cotangents of the parts give to those
    of the tangent is added up part by part.
    """
    if isinstance(primal, (list, tuple)):
        dots = [None] * len(primal) if dot is None else dot
        return [filled(d, p) for d, p in zip(dots, primal, strict=True)]
    if isinstance(primal, dict):
        return {key: filled(None if dot is None else dot[key], item) for key, item in primal.items()}
    return real_zero(primal) if dot is None and primal is not None else clone(dot)


def copied_tangent(dot: Any, primal: Any) -> Any:
    """The tangent `dot` of a structure in memory of its own, laid out and shared as in `primal`; zeros where it has
    None. Parts of the primal that share memory are given tangents that agree."""
    made = zero(primal, alike=True)
    return _filled_in(made, dot, set())


def _filled_in(made: Any, dot: Any, seen: set[int]) -> Any:
    """Zeros with the content of a tangent; what replaces them if they are a number."""
    if dot is None or made is None:
        return made
    if is_array(made):
        made[...] = dot
        return made
    if not isinstance(made, (list, dict)):
        return dot
    if id(made) not in seen:
        seen.add(id(made))
        for key in range(len(made)) if isinstance(made, list) else tuple(made):
            made[key] = _filled_in(made[key], dot[key], seen)
    return made
