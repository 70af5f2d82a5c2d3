"""Discrete Fourier transforms by SciPy's names: NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import fft as transforms

from tangentx.templates.compositions import composition


@composition(transforms.fft, domain=("C(4)", "A(3,2), axis=0"))
def fft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """Transform along one axis."""
    return np.fft.fft(x, n, axis, norm)


@composition(transforms.ifft, domain=("C(4)",))
def ifft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """Transform along one axis."""
    return np.fft.ifft(x, n, axis, norm)


@composition(transforms.rfft, domain=("A(5)",))
def rfft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """Transform along one axis."""
    return np.fft.rfft(x, n, axis, norm)


@composition(transforms.irfft, domain=("C(3), 5",))
def irfft(
    x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along one axis."""
    return np.fft.irfft(x, n, axis, norm)


@composition(transforms.hfft, domain=("C(3), 5",))
def hfft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """Transform along one axis."""
    return np.fft.hfft(x, n, axis, norm)


@composition(transforms.ihfft, domain=("A(5)",))
def ihfft(
    x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along one axis."""
    return np.fft.ihfft(x, n, axis, norm)


@composition(transforms.fft2, domain=("C(2,3)",))
def fft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along two axes."""
    return np.fft.fft2(x, s, axes, norm)


@composition(transforms.ifft2, domain=("C(2,3)",))
def ifft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along two axes."""
    return np.fft.ifft2(x, s, axes, norm)


@composition(transforms.rfft2, domain=("A(2,3)",))
def rfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along two axes."""
    return np.fft.rfft2(x, s, axes, norm)


@composition(transforms.irfft2, domain=("C(2,3), (2,4)",))
def irfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along two axes."""
    return np.fft.irfft2(x, s, axes, norm)


@composition(transforms.fftn, domain=("C(2,3)",))
def fftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along several axes."""
    return np.fft.fftn(x, s, axes, norm)


@composition(transforms.ifftn, domain=("C(2,3)",))
def ifftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along several axes."""
    return np.fft.ifftn(x, s, axes, norm)


@composition(transforms.rfftn, domain=("A(2,3)",))
def rfftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along several axes."""
    return np.fft.rfftn(x, s, axes, norm)


@composition(transforms.irfftn, domain=("C(2,3), (2,4), (0,1)",))
def irfftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None
) -> Any:
    """Transform along several axes."""
    return np.fft.irfftn(x, s, axes, norm)


@composition(transforms.fftshift, domain=("C(4)", "A(3,4), 0", "A(3,4)"))
def fftshift(x: Any, axes: Any = None) -> Any:
    """Frequencies in order, the lowest first."""
    return np.fft.fftshift(x, axes)


@composition(transforms.ifftshift, domain=("C(5)", "A(3,4), (0,1)"))
def ifftshift(x: Any, axes: Any = None) -> Any:
    """Frequencies as transforms have them."""
    return np.fft.ifftshift(x, axes)
