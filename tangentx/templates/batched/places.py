"""Functions that read and write elements at places."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.templates.batched.batch import (
    Batch,
    aligned,
    as_rows,
    later,
    of_first,
    plainly,
    refuse_settings,
    size_of,
    volume,
)


def _places(key: Any, shape: Any) -> Any:
    """The numbers of the elements that an index selects, counted by rows."""
    return np.arange(volume(shape)).reshape(shape)[key]


def _is_basic(key: Any) -> bool:
    """Whether an index selects by numbers and slices alone."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(p is None or p is Ellipsis or isinstance(p, slice | int | np.integer) for p in parts) and not any(
        isinstance(p, bool) for p in parts
    )


def _behind_all(key: Any) -> tuple[Any, ...]:
    return (slice(None), *(key if isinstance(key, tuple) else (key,)))


@of_first(operator.getitem)
def _getitem(w: Any, key: Any) -> Any:
    if _is_basic(key):
        return w[_behind_all(key)]
    places = _places(key, w.shape[1:])
    return np.reshape(as_rows(w)[:, np.ravel(places)], (len(w), *np.shape(places)))


@of_first(arrays.scatter)
def _scatter(w: Any, like: Any, key: Any) -> Any:
    return _put(arrays.scatter, w, like, key)


@of_first(arrays.placed)
def placed(w: Any, like: Any, key: Any) -> Any:
    """Each member at a place of zeros like an array."""
    return _put(arrays.placed, w, like, key)


def _put(fn: Any, w: Any, like: Any, key: Any) -> Any:
    shape, dtype = np.shape(like), w.dtype
    if _is_basic(key):
        return plainly(fn, w, np.zeros((len(w), *shape), dtype), _behind_all(key))
    places = _places(key, shape)
    whole = np.broadcast_to(aligned(Batch(w), np.ndim(places)), (len(w), *np.shape(places)))
    rows = np.zeros((len(w), volume(shape)), dtype)
    found = plainly(fn, np.reshape(whole, (len(w), np.size(places))), rows, (slice(None), np.ravel(places)))
    return np.reshape(found, (len(w), *shape))


@of_first(arrays.winners)
def _winners(w: Any, key: Any) -> Any:
    if _is_basic(key):
        return np.copy(w[_behind_all(key)])
    places = _places(key, w.shape[1:])
    return np.reshape(chosen(w, np.ravel(places)), (len(w), *np.shape(places)))


def chosen(w: Any, places: Any) -> Any:
    """Of each member the elements at these places, zeros at all but the last occurrence of each."""
    last = np.zeros(size_of(w), int)
    last[places] = np.arange(len(places))
    wins = last[places] == np.arange(len(places))
    taken = as_rows(w)[:, places]
    return taken if wins.all() else np.where(wins, taken, 0.0)


def cleared(w: Any, places: Any) -> Any:
    """Each member with exactly 0 at these places."""
    stays = np.ones(size_of(w), bool)
    stays[places] = False
    return np.where(np.reshape(stays, w.shape[1:]), w, 0.0)


@of_first(np.take)
def _take(w: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
    refuse_settings(out)
    return np.take(as_rows(w) if axis is None else w, indices, axis=1 if axis is None else later(axis), mode=mode)


@of_first(arrays.untake)
def _untake(w: Any, shape: Any, indices: Any, axis: Any = None, mode: Any = "raise") -> Any:
    if axis is None:
        flat = plainly(arrays.untake, w, (len(w), volume(shape)), indices, 1, mode)
        return np.reshape(flat, (len(w), *shape))
    return plainly(arrays.untake, w, (len(w), *shape), indices, later(axis), mode)


@of_first(np.take_along_axis)
def _take_along_axis(w: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        return np.take(as_rows(w), indices, axis=1)
    return np.take_along_axis(w, _each(indices, len(w)), later(axis))


@of_first(arrays.put_along)
def _put_along(w: Any, shape: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        flat = plainly(arrays.put_along, w, (len(w), volume(shape)), _each(indices, len(w)), 1)
        return np.reshape(flat, (len(w), *shape))
    return plainly(arrays.put_along, w, (len(w), *shape), _each(indices, len(w)), later(axis))


@of_first(arrays.running_as)
def _running_as(w: Any, a: Any, best: Any, axis: Any = 0) -> Any:
    return plainly(arrays.running_as, w, _each(a, len(w)), _each(best, len(w)), later(axis))


@of_first(arrays.unrun)
def _unrun(w: Any, a: Any, best: Any, axis: Any = 0) -> Any:
    return plainly(arrays.unrun, w, _each(a, len(w)), _each(best, len(w)), later(axis))


@of_first(arrays.sorted_as)
def _sorted_as(w: Any, a: Any, axis: Any = -1) -> Any:
    if axis is None:
        return plainly(arrays.sorted_as, as_rows(w), _each(np.ravel(a), len(w)), -1)
    return plainly(arrays.sorted_as, w, _each(a, len(w)), later(axis))


@of_first(arrays.unsort)
def _unsort(w: Any, a: Any, axis: Any = -1) -> Any:
    if axis is None:
        return np.reshape(plainly(arrays.unsort, w, _each(np.ravel(a), len(w)), -1), (len(w), *np.shape(a)))
    return plainly(arrays.unsort, w, _each(a, len(w)), later(axis))


def _each(indices: Any, count: int) -> Any:
    return np.broadcast_to(indices, (count, *np.shape(indices)))


@of_first(np.diagonal)
def _diagonal(w: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    return np.diagonal(w, offset, later(axis1), later(axis2))


@of_first(arrays.undiagonal)
def _undiagonal(w: Any, shape: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    whole = aligned(Batch(w), len(shape) - 1)
    return plainly(arrays.undiagonal, whole, (len(w), *shape), offset, later(axis1), later(axis2))


@of_first(arrays.undiag)
def _undiag(w: Any, shape: Any, k: Any = 0) -> Any:
    return np.copy(np.diagonal(w, k, 1, 2)) if len(shape) == 1 else _undiagonal(w, shape, k)


@of_first(np.diag)
def _diag(w: Any, k: Any = 0) -> Any:
    if w.ndim == 3:
        return np.copy(np.diagonal(w, k, 1, 2))
    side = w.shape[1] + abs(int(k))
    return _undiagonal(w, (side, side), k)


@of_first(arrays.unselected)
def _unselected(w: Any, mask: Any) -> Any:
    return _put(arrays.placed, w, np.zeros(np.shape(mask)), mask)


@of_first(arrays.selected)
def _selected(w: Any, mask: Any) -> Any:
    return _getitem(np.broadcast_to(aligned(Batch(w), mask.ndim), (len(w), *mask.shape)), mask)


@of_first(arrays.cycled)
def _cycled(w: Any, count: Any) -> Any:
    return as_rows(w)[:, np.arange(count) % max(size_of(w), 1)]


@of_first(arrays.window)
def _window(w: Any, shape: Any, steps: Any, start: Any) -> Any:
    places = arrays.window(np.arange(size_of(w)), shape, steps, start)
    return np.reshape(w[:, np.ravel(places)], (len(w), *shape))


@of_first(arrays.unwindow)
def _unwindow(w: Any, shape: Any, steps: Any, start: Any) -> Any:
    places = np.ravel(arrays.window(np.arange(volume(shape)), w.shape[1:], steps, start))
    return plainly(arrays.placed, as_rows(w), np.zeros((len(w), volume(shape)), w.dtype), (slice(None), places))
