"""Convolutions of rows and Fourier's transforms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tangentx import arrays
from tangentx.templates.batched.batch import Batch, every_axis, later, of_any, of_first, plainly
from tangentx.templates.batched.products import demand_one_batch

# Convolutions of rows.


@of_any(np.convolve)
def _convolve(a: Any, v: Any, mode: Any = "full") -> Batch:
    demand_one_batch(a, v)
    if type(v) is Batch:
        a, v = v, a
    size, width = a.shape[0], int(np.shape(v)[0])
    least = min(size, width) - 1
    most = max(size, width)
    start, length = {"full": (0, most + least), "same": (least // 2, most), "valid": (least, most - least)}[mode]
    padded = np.pad(a.whole, ((0, 0), (width - 1, width - 1)))
    return Batch(sliding_window_view(padded, width, 1)[:, start : start + length] @ v[::-1])


@of_any(arrays.unconvolve)
def _unconvolve(t: Any, other: Any, shape: Any, mode: Any = "full") -> Batch:
    """Each element is the sum of products with the stretch of `t` that begins there."""
    demand_one_batch(t, other)
    size, width = shape[0], _length(other)
    start = {"full": 0, "same": (min(size, width) - 1) // 2, "valid": min(size, width) - 1}[mode]
    frame = (start, size + width - 1 - start - _length(t))
    if type(t) is Batch:
        return Batch(sliding_window_view(np.pad(t.whole, ((0, 0), frame)), width, 1) @ other)
    return Batch(other.whole @ np.transpose(sliding_window_view(np.pad(t, frame), width)))


@of_first(arrays.neighbour_sums)
def _neighbour_sums(wide: Any, w: Any, axis: Any) -> Any:
    return plainly(arrays.neighbour_sums, wide, w, later(axis))


@of_first(arrays.neighbour_spread)
def _neighbour_spread(t: Any, w: Any, axis: Any) -> Any:
    return plainly(arrays.neighbour_spread, t, w, later(axis))


@of_any(arrays.neighbour_products)
def _neighbour_products(wide: Any, t: Any, axis: Any) -> Batch:
    each = axis % len(np.shape(t)) + 1
    a, b = (x.whole if type(x) is Batch else np.expand_dims(x, 0) for x in (wide, t))
    windows = sliding_window_view(a, np.shape(b)[each], each)  # the shifts along the axis, the places of `t` last
    both = windows * np.expand_dims(np.moveaxis(b, each, -1), each)
    return Batch(np.sum(np.moveaxis(both, each, 1), axis=tuple(range(2, np.ndim(both)))))


@of_any(arrays.decayed_sums)
def _decayed_sums(t: Any, y: Any, axis: Any = 0) -> Batch:
    return _decayed(arrays.decayed_sums, t, y, axis)


@of_any(arrays.decayed_rests)
def _decayed_rests(t: Any, y: Any, axis: Any = 0) -> Batch:
    return _decayed(arrays.decayed_rests, t, y, axis)


def _decayed(fn: Any, t: Any, y: Any, axis: Any) -> Batch:
    """Each row by the heights of its own, or by those of all."""
    a, b = (x.whole if type(x) is Batch else np.expand_dims(x, 0) for x in (t, y))
    return Batch(plainly(fn, a, b, later(0 if axis is None else axis)))


def _length(row: Any) -> int:
    return row.shape[0] if type(row) is Batch else int(np.shape(row)[0])


# Fourier's transforms.


def _transforms() -> None:
    whole_spectra: Any = (np.fft.fft2, (-2, -1)), (np.fft.ifft2, (-2, -1)), (np.fft.fftn, None), (np.fft.ifftn, None)
    for transform in (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft):
        _along_one(transform)
    for transform, axes in whole_spectra:
        _along_several(transform, axes)


def _along_one(transform: Any) -> None:
    @of_first(transform)
    def one(w: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        return transform(w, n, later(axis), norm)


def _along_several(transform: Any, all_axes: Any) -> None:
    @of_first(transform)
    def several(w: Any, s: Any = None, axes: Any = all_axes, norm: Any = None) -> Any:
        if axes is None:
            axes = range(w.ndim - 1)[-(w.ndim - 1 if s is None else len(s)) :]
        return transform(w, s, later(tuple(axes)), norm)


_transforms()


@of_first(np.fft.fftshift)
def _fftshift(w: Any, axes: Any = None) -> Any:
    return np.fft.fftshift(w, every_axis(w) if axes is None else later(axes))


@of_first(np.fft.ifftshift)
def _ifftshift(w: Any, axes: Any = None) -> Any:
    return np.fft.ifftshift(w, every_axis(w) if axes is None else later(axes))


@of_first(arrays.cropped)
def _cropped(w: Any, shape: Any, axes: Any = None) -> Any:
    return plainly(arrays.cropped, w, (len(w), *shape), None if axes is None else later(tuple(axes)))


@of_first(arrays.doubled)
def _doubled(w: Any, n: Any, axis: Any = -1) -> Any:
    return plainly(arrays.doubled, w, n, later(axis))


@of_first(arrays.halved)
def _halved(w: Any, n: Any, axis: Any = -1) -> Any:
    return plainly(arrays.halved, w, n, later(axis))
