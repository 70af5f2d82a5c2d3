"""Sums and differences along axes, triangles, repetitions and padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.templates.batched.batch import (
    Batch,
    NoRule,
    aligned,
    as_rows,
    every_axis,
    later,
    of_any,
    of_first,
    plainly,
    refuse_settings,
    volume,
)
from tangentx.templates.registry import methods


@of_first(np.sum, *methods("sum"))
def _sum(w: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    refuse_settings(dtype, out)
    return np.sum(w, axis=every_axis(w) if axis is None else later(axis), keepdims=bool(keepdims))


@of_first(np.cumsum)
def _cumsum(w: Any, axis: Any = None) -> Any:
    return np.cumsum(as_rows(w), axis=1) if axis is None else np.cumsum(w, axis=later(axis))


@of_first(arrays.unreduce)
def _unreduce(w: Any, shape: Any, axis: Any = None, keepdims: Any = False) -> Any:
    if not shape:
        return np.reshape(w, (len(w),))
    axes = tuple(range(1, 1 + len(shape))) if axis is None else later(axis)
    if axis is None and not keepdims:
        w = np.reshape(w, (len(w),))
    return plainly(arrays.unreduce, w, (len(w), *shape), axes, keepdims)


@of_first(arrays.merged)
def _merged(w: Any, axis: Any = None) -> Any:
    if w.ndim == 1:
        return np.reshape(w, (len(w), 1))
    return plainly(arrays.merged, w, every_axis(w) if axis is None else later(axis))


@of_first(arrays.unmerged)
def _unmerged(w: Any, shape: Any, axis: Any = None) -> Any:
    if not shape:
        return np.reshape(w, (len(w),))
    axes = tuple(range(1, 1 + len(shape))) if axis is None else later(axis)
    return plainly(arrays.unmerged, w, (len(w), *shape), axes)


@of_any(arrays.chain)
def _chain(t: Batch, a: Any) -> Batch:
    if type(t) is not Batch or type(a) is Batch:
        raise NoRule("chain")
    return Batch(plainly(arrays.chain, t.whole, np.broadcast_to(a, np.shape(t.whole))))


@of_first(np.tril)
def _tril(w: Any, k: Any = 0) -> Any:
    return _triangle(np.tril, w, k)


@of_first(np.triu)
def _triu(w: Any, k: Any = 0) -> Any:
    return _triangle(np.triu, w, k)


def _each_matrix() -> None:
    """Functions of matrices, and checks of what is beside them, that take stacks."""
    for fn in (arrays.mirrored, arrays.unmirrored):
        _stacked(fn)
    for check in (arrays.demand_apart, arrays.demand_basis, arrays.demand_exact, arrays.demand_full_rank):
        _stacked(check)
    _stacked(arrays.demand_rank)


def _stacked(fn: Any) -> None:
    @of_first(fn)
    def rule(w: Any, *rest: Any) -> Any:
        if w.ndim < 3:
            raise NoRule("a row for a matrix")
        return plainly(fn, w, *rest)


_each_matrix()


def _triangle(fn: Any, w: Any, k: Any) -> Any:
    if w.ndim < 3:
        raise NoRule("a triangle of a row")
    return fn(w, k)


@of_first(np.diff)
def _diff(w: Any, n: Any = 1, axis: Any = -1) -> Any:
    return np.diff(w, n, later(axis))


@of_first(arrays.undiff)
def _undiff(w: Any, n: Any = 1, axis: Any = -1) -> Any:
    return plainly(arrays.undiff, w, n, later(axis))


@of_first(np.repeat)
def _repeat(w: Any, repeats: Any, axis: Any = None) -> Any:
    return np.repeat(as_rows(w), repeats, axis=1) if axis is None else np.repeat(w, repeats, axis=later(axis))


@of_first(arrays.unrepeat)
def _unrepeat(w: Any, shape: Any, repeats: Any, axis: Any = None) -> Any:
    if axis is None:
        return np.reshape(plainly(arrays.unrepeat, w, (len(w), volume(shape)), repeats, 1), (len(w), *shape))
    return plainly(arrays.unrepeat, w, (len(w), *shape), repeats, later(axis))


@of_first(np.tile)
def _tile(w: Any, reps: Any) -> Any:
    counts = tuple(reps) if np.ndim(reps) else (int(reps),)
    rank = max(len(counts), w.ndim - 1)
    return np.tile(aligned(Batch(w), rank), (1, *(1,) * (rank - len(counts)), *counts))


@of_first(np.pad)
def _pad(w: Any, pad_width: Any) -> Any:
    return np.pad(w, ((0, 0), *_widths(pad_width, w.ndim - 1)))


@of_first(arrays.unpad)
def _unpad(w: Any, shape: Any, pad_width: Any) -> Any:
    return plainly(arrays.unpad, w, (len(w), *shape), ((0, 0), *_widths(pad_width, len(shape))))


def _widths(pad_width: Any, rank: int) -> tuple[tuple[int, int], ...]:
    return tuple((int(a), int(b)) for a, b in np.broadcast_to(pad_width, (rank, 2)))


@of_any(arrays.unarange)
def _unarange(t: Batch, args: Any) -> Any:
    if len(args) == 1:
        return (0.0,)
    return (Batch(np.sum(t.whole, axis=1)), 0.0, Batch(t.whole @ np.arange(t.shape[0])))[: len(args)]
