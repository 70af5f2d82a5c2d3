"""Lists and tuples of arrays: joined, split, handed to rules."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.templates.batched.batch import Batch, NoRule, aligned, holds_batch, of_any, unbroadcast, volume, whole_of
from tangentx.templates.batched.shapes import reshaped


def _joined(fn: Any, parts: Any, axis: int, rank: int) -> Batch:
    count = next(p.count for p in parts if type(p) is Batch)
    return Batch(fn([whole_of(p, count) for p in parts], axis=axis if axis < 0 else axis + 1))


@of_any(np.concatenate)
def _concatenate(parts: Any, axis: Any = 0) -> Batch:
    if axis is None:
        raise NoRule("a flat row")
    return _joined(np.concatenate, parts, axis, 0)


@of_any(np.stack)
def _stack(parts: Any, axis: Any = 0) -> Batch:
    return _joined(np.stack, parts, axis, 1)


@of_any(arrays.split_like)
def _split_like(t: Any, like: Any, axis: Any = 0) -> Any:
    axis = 0 if axis is None else min(axis, t.ndim - 1) % t.ndim
    rest = volume(t.shape[:axis] + t.shape[axis + 1 :])
    pieces: list[Any] = []
    start = 0
    for a in like:
        shape = _form(a)
        width = volume(shape) // rest if rest else 0
        piece = t.whole[(slice(None),) * (axis + 1) + (slice(start, start + width),)]
        pieces.append(_nested(Batch(np.reshape(piece, (t.count, *shape))), a))
        start += width
    return _stack(pieces) if isinstance(like, np.ndarray) and pieces else pieces


def _form(a: Any) -> tuple[int, ...]:
    """The shape of a number, an array, or a list of them, that may be recorded."""
    if isinstance(a, list | tuple):
        return (len(a), *(_form(a[0]) if a else ()))
    return tuple(np.shape(a))


@of_any(arrays.join_like)
def _join_like(pieces: Any, like: Any, shape: Any, axis: Any = 0) -> Batch:
    axis = 0 if axis is None else min(axis, len(shape) - 1) % len(shape)
    rest = volume(shape[:axis] + shape[axis + 1 :])
    members = pieces if isinstance(pieces, list | tuple) else [pieces[i] for i in range(len(like))]
    parts: list[Any] = []
    for piece, a in zip(members, like, strict=True):
        width = volume(_form(a)) // rest if rest else 0
        wanted = (*shape[:axis], width, *shape[axis + 1 :])
        part = _unnested(piece, a)
        parts.append(Batch(reshaped(part.whole, wanted)) if type(part) is Batch else np.reshape(part, wanted))
    return _concatenate(parts, axis)


@of_any(arrays.nested)
def _nested(t: Batch, like: Any) -> Any:
    if isinstance(like, list | tuple):
        return [_nested(t[i], item) for i, item in enumerate(like)]
    return t if arrays.has_derivative(like) else None


@of_any(arrays.unnested)
def _unnested(bars: Any, like: Any) -> Any:
    if not isinstance(like, list | tuple):
        return np.zeros(_form(like)) if bars is None else bars
    parts = [_unnested(bar, item) for bar, item in zip(_parts(bars, len(like)), like, strict=True)]
    return _stack(parts) if holds_batch(parts) else np.array(parts)


def _parts(bars: Any, count: int) -> Any:
    return [bars[i] for i in range(count)] if type(bars) is Batch else bars


@of_any(arrays.to_rule)
def _to_rule(t: Any, given: Any) -> Any:
    if given is None or t is None:
        return None
    if isinstance(given, list | tuple):
        return [_to_rule(part, item) for part, item in zip(_parts(t, len(given)), given, strict=True)]
    if isinstance(given, dict):
        return {key: _to_rule(t[key], item) for key, item in given.items()}
    return unbroadcast(t, given) if holds_batch((t, given)) else arrays.unbroadcast(t, given)


@of_any(arrays.repeated)
def _repeated(t: Batch, items: Any) -> Any:
    if isinstance(items, np.ndarray):
        shape = np.shape(items)
        return Batch(np.broadcast_to(aligned(t, len(shape)), (t.count, *shape)))
    return [t if arrays.has_derivative(item) else None for item in items]


@of_any(arrays.total)
def _total(dots: Any, items: Any) -> Any:
    if type(dots) is Batch:
        return Batch(np.sum(dots.whole, axis=1))
    return builtins.sum((dot for dot in dots if dot is not None), start=0.0)


@of_any(arrays.once)
def _once(bars: Any) -> Any:
    """Cotangents that share no memory with each other stay as they are."""
    parts = bars if isinstance(bars, list | tuple) else [bars]
    if not all(type(part) is Batch for part in parts) or len({id(part.whole) for part in parts}) < len(parts):
        raise NoRule("a structure")
    return bars


@of_any(arrays.give_best)
def _give_best(t: Batch, best: Any, args: Any) -> Any:
    items = args[0] if len(args) == 1 else args
    mine = [bool(item == best) for item in items]
    share: Any = Batch(t.whole / builtins.sum(mine))
    nothing = Batch(np.zeros_like(t.whole))
    shares: list[Any] = [share if m else nothing for m in mine]
    if isinstance(items, np.ndarray):
        return (_stack(shares),)
    found = [s if arrays.has_derivative(item) else None for s, item in zip(shares, items, strict=True)]
    return tuple(found) if len(args) > 1 else (found,)


def _shared(t: Any, x: Any, bound: Any, inside: bool) -> Batch:
    if type(t) is not Batch or type(x) is Batch or type(bound) is Batch:
        raise NoRule("numbers that differ")
    if inside:
        return t
    return Batch(t.whole / 2) if x == bound else Batch(np.zeros_like(t.whole))


@of_any(arrays.if_above)
def _if_above(t: Any, x: Any, bound: Any) -> Batch:
    return _shared(t, x, bound, x > bound)


@of_any(arrays.if_below)
def _if_below(t: Any, x: Any, bound: Any) -> Batch:
    return _shared(t, x, bound, x < bound)
