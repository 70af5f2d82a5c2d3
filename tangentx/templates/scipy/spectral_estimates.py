"""Power spectra of signals, by Welch's means over segments, and the frequency response of filters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import signal

from tangentx.arrays import as_written, constant_option
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition


def weights_of(window: Any, count: Any) -> Any:
    """The weights of a segment."""
    given = isinstance(window, (list, np.ndarray))
    return np.asarray(window, float) if given else signal.get_window(window, count)


def segment_length(window: Any, nperseg: Any, length: Any, usual: Any = 256) -> Any:
    """How long a segment of a signal of a length is."""
    if isinstance(window, (list, np.ndarray)):
        return len(window)
    return min(usual if nperseg is None else nperseg, length)


def transforms_of(x: Any, count: Any, step: Any, points: Any, weights: Any, detrend: Any) -> Any:
    """The transforms of the segments of a signal, in rows, each without its mean or its line, and weighed."""
    rows = sliding_window_view(x, count, -1)[..., ::step, :]
    even = rows if detrend is False else signal.detrend(rows, -1, detrend)
    return np.fft.rfft(even * weights, points)


def power_scale(weights: Any, fs: Any, scaling: Any) -> Any:
    """The power of a segment's transform by that of the signal."""
    if scaling == "spectrum":
        return 1.0 / np.sum(weights) ** 2
    return 1.0 / (fs * np.sum(weights * weights))


def _cross(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: Any = True,
    scaling: Any = "density",
    axis: Any = -1,
    average: Any = "mean",
) -> Any:
    """Frequencies, and the mean of products of the transforms of the segments of two signals."""
    if not return_onesided or average != "mean":
        raise NotDifferentiable(
            "power spectra of scipy.signal have a derivative with one side, and as means",
            hint="leave `return_onesided` and `average` out",
        )
    first, second = np.moveaxis(np.asarray(x) * 1.0, axis, -1), np.moveaxis(np.asarray(y) * 1.0, axis, -1)
    if np.iscomplexobj(first) or np.iscomplexobj(second):
        raise NotDifferentiable(
            "power spectra of scipy.signal have a derivative for real signals", hint="take the parts one by one"
        )
    count = segment_length(window, nperseg, np.shape(first)[-1])
    step = count - (count // 2 if noverlap is None else noverlap)
    points = count if nfft is None else nfft
    weights = as_written(weights_of, "float64[1]", constant_option(window, "`window`"), count)
    ahead = transforms_of(first, count, step, points, weights, detrend)
    behind = transforms_of(second, count, step, points, weights, detrend)
    places = np.arange(points // 2 + 1)
    twice = np.where((places > 0) & (2 * places < points), 2.0, 1.0)
    found = np.conj(ahead) * behind * (twice * power_scale(weights, fs, scaling))
    return places * (fs / points), np.moveaxis(np.mean(found, axis=-2), -1, axis)


@composition(signal.welch, domain=())
def welch(x: Any, *given: Any, **options: Any) -> Any:
    """Power spectrum of a signal."""
    at, found = _cross(x, x, *given, **options)
    return at, np.real(found)


@composition(signal.csd, domain=())
def csd(x: Any, y: Any, *given: Any, **options: Any) -> Any:
    """Cross spectrum of two signals."""
    return _cross(x, y, *given, **options)


@composition(signal.coherence, domain=())
def coherence(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    axis: Any = -1,
) -> Any:
    """How far two signals go together, by frequency."""
    given = (fs, window, nperseg, noverlap, nfft, detrend)
    at, both = _cross(x, y, *given, axis=axis)
    first, second = _cross(x, x, *given, axis=axis)[1], _cross(y, y, *given, axis=axis)[1]
    return at, np.real(both * np.conj(both)) / np.real(first) / np.real(second)


@composition(signal.periodogram, domain=())
def periodogram(
    x: Any,
    fs: Any = 1.0,
    window: Any = "boxcar",
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: Any = True,
    scaling: Any = "density",
    axis: Any = -1,
) -> Any:
    """Power spectrum of a signal in one segment."""
    length = np.shape(x)[axis]
    if nfft is not None and nfft < length:
        raise NotDifferentiable(
            "scipy.signal.periodogram has no derivative with a shorter `nfft`", hint="cut the signal before"
        )
    at, found = _cross(x, x, fs, window, length, 0, nfft, detrend, return_onesided, scaling, axis)
    return at, np.real(found)


@composition(signal.freqz, domain=())
def freqz(
    b: Any,
    a: Any = 1,
    worN: Any = 512,
    whole: Any = False,
    plot: Any = None,
    fs: Any = 6.283185307179586,
    include_nyquist: Any = False,
) -> Any:
    """Frequency response of a filter."""
    above, below = np.atleast_1d(b), np.atleast_1d(a)
    if np.ndim(above) > 1 or np.ndim(below) > 1 or plot is not None:
        raise NotDifferentiable(
            "scipy.signal.freqz has a derivative for rows of coefficients, without `plot`", hint="take them one by one"
        )
    if np.ndim(worN) == 0:
        end = worN - 1 if include_nyquist and not whole else worN
        turns = np.arange(worN) * ((6.283185307179586 if whole else 3.141592653589793) / end)
    else:
        turns = np.asarray(worN) * (6.283185307179586 / fs)
    z = np.exp(-1j * turns)
    return turns * (fs / 6.283185307179586), np.polyval(np.flip(above), z) / np.polyval(np.flip(below), z)
