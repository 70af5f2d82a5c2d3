"""Functions that give the same elements another shape or order, blocks of Jacobians among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tangentx import arrays
from tangentx.templates.batched.batch import as_rows, every_axis, later, of_first, plainly
from tangentx.templates.batched.places import placed
from tangentx.templates.registry import methods

# Functions that give the same elements another shape or order.


@of_first(np.reshape)
def reshaped(w: Any, shape: Any) -> Any:
    """Each member in another shape."""
    return np.reshape(w, (len(w), *(shape if isinstance(shape, tuple | list) else (shape,))))


@of_first(*methods("reshape"))
def _reshape_method(w: Any, *shape: Any) -> Any:
    return reshaped(w, shape[0] if len(shape) == 1 else shape)


@of_first(np.ravel, *methods("ravel", "flatten"))
def _ravel(w: Any) -> Any:
    return as_rows(w)


@of_first(np.transpose)
def _transpose(w: Any, axes: Any = None) -> Any:
    rank = w.ndim - 1
    order = range(rank)[::-1] if axes is None else [i % rank for i in axes]
    return np.transpose(w, (0, *(i + 1 for i in order)))


@of_first(*methods("transpose"))
def _transpose_method(w: Any, *axes: Any) -> Any:
    return _transpose(w, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None)


@of_first(np.swapaxes, *methods("swapaxes"))
def _swapaxes(w: Any, axis1: Any, axis2: Any) -> Any:
    return np.swapaxes(w, later(axis1), later(axis2))


@of_first(np.moveaxis)
def _moveaxis(w: Any, source: Any, destination: Any) -> Any:
    return np.moveaxis(w, later(source), later(destination))


@of_first(np.expand_dims)
def _expand_dims(w: Any, axis: Any) -> Any:
    return np.expand_dims(w, later(axis))


@of_first(np.flip)
def _flip(w: Any, axis: Any = None) -> Any:
    return np.flip(w, every_axis(w) if axis is None else later(axis))


@of_first(np.flipud)
def _flipud(w: Any) -> Any:
    return np.flip(w, 1)


@of_first(np.fliplr)
def _fliplr(w: Any) -> Any:
    return np.flip(w, 2)


@of_first(np.roll)
def _roll(w: Any, shift: Any, axis: Any = None) -> Any:
    return np.reshape(np.roll(as_rows(w), shift, 1), w.shape) if axis is None else np.roll(w, shift, later(axis))


@of_first(sliding_window_view)
def _windows(w: Any, window_shape: Any, axis: Any = None) -> Any:
    return sliding_window_view(w, window_shape, every_axis(w) if axis is None else later(axis))


@of_first(arrays.add_windows)
def _add_windows(w: Any, shape: Any, window_shape: Any, axis: Any = None) -> Any:
    axes = tuple(range(1, 1 + len(shape))) if axis is None else later(axis)
    return plainly(arrays.add_windows, w, (len(w), *shape), window_shape, axes)


# Blocks of Jacobians: their rows and columns.


@of_first(arrays.columns)
def _columns(w: Any, y: Any, x: Any, before: int = 0) -> Any:
    block = np.moveaxis(w[:, before : before + np.size(x)], 1, -1)
    return np.reshape(block, (len(w), *np.shape(y), *np.shape(x)))


@of_first(arrays.rows)
def _rows_of(w: Any, y: Any, x: Any, before: int = 0) -> Any:
    return np.reshape(w[:, before : before + np.size(y)], (len(w), *np.shape(y), *np.shape(x)))


@of_first(arrays.uncolumns)
def _uncolumns(w: Any, dots: Any, y: Any, x: Any, before: int = 0) -> Any:
    block = np.moveaxis(np.reshape(w, (len(w), *np.shape(y), int(np.size(x)))), -1, 1)
    return placed(block, np.zeros(np.shape(dots)), slice(before, before + np.size(x)))


@of_first(arrays.unrows)
def _unrows(w: Any, bars: Any, y: Any, x: Any, before: int = 0) -> Any:
    block = np.reshape(w, (len(w), int(np.size(y)), *np.shape(x)))
    return placed(block, np.zeros(np.shape(bars)), slice(before, before + np.size(y)))


@of_first(arrays.each_fitted)
def _each_fitted(w: Any, lengths: Any) -> Any:
    flat = np.reshape(w, (w.shape[0] * w.shape[1], *w.shape[2:]))
    return np.reshape(plainly(arrays.each_fitted, flat, lengths), (*w.shape[:2], *lengths))
