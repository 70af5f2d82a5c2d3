"""Fourier's transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.templates.batched.batch import every_axis, later, of_first, plainly


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
