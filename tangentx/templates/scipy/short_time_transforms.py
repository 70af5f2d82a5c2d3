"""Power spectra by segments, short-time Fourier transforms and their inverse, and spectrograms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import signal

from tangentx.arrays import as_written, constant_option
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition

# Power spectra of signals, by Welch's means over segments, and the frequency response of filters.


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


# Short-time Fourier transforms of real signals, their inverse, and spectrograms.


def _demand(real: Any, onesided: Any) -> None:
    if np.iscomplexobj(real) or not onesided:
        raise NotDifferentiable(
            "short-time transforms of scipy.signal have a derivative for real signals, with one side",
            hint="take the real and the imaginary part one by one, and leave `return_onesided` out",
        )


def _extended(x: Any, half: Any, boundary: Any) -> Any:
    """The signal with half a segment more at each end."""
    width = ((0, 0),) * (np.ndim(x) - 1) + ((half, half),)
    if boundary is None:
        return x
    if boundary == "zeros":
        return np.pad(x, width)
    if boundary == "constant":
        return np.pad(x, width, mode="edge")
    if boundary == "even":
        return np.pad(x, width, mode="reflect")
    return np.pad(x, width, mode="reflect", reflect_type="odd")


def _in_place(found: Any, axis: Any) -> Any:
    """Frequencies where the signal lay, times behind all else."""
    return np.moveaxis(found, -1, axis - 1 if axis < 0 else axis)


@composition(signal.stft, domain=())
def stft(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: Any = 256,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = False,
    return_onesided: Any = True,
    boundary: Any = "zeros",
    padded: Any = True,
    axis: Any = -1,
    scaling: Any = "spectrum",
) -> Any:
    """Frequencies, times, and the transform of each segment of a signal."""
    _demand(x, return_onesided)
    given = np.moveaxis(np.asarray(x) * 1.0, axis, -1)
    count = segment_length(window, nperseg, np.shape(given)[-1], 256)
    step = count - (count // 2 if noverlap is None else noverlap)
    points = count if nfft is None else nfft
    weights = as_written(weights_of, "float64[1]", constant_option(window, "`window`"), count)
    longer = _extended(given, count // 2, boundary)
    length = np.shape(longer)[-1]
    if padded:
        more = (-(length - count) % step) % count
        longer = np.pad(longer, ((0, 0),) * (np.ndim(longer) - 1) + ((0, more),))
    found = transforms_of(longer, count, step, points, weights, detrend) * np.sqrt(power_scale(weights, fs, scaling))
    times = (np.arange(np.shape(found)[-2]) * step + (0.0 if boundary is not None else count / 2)) / fs
    return np.arange(points // 2 + 1) * (fs / points), times, _in_place(found, axis)


@composition(signal.istft, domain=())
def istft(
    Zxx: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    input_onesided: Any = True,
    boundary: Any = True,
    time_axis: Any = -1,
    freq_axis: Any = -2,
    scaling: Any = "spectrum",
) -> Any:
    """Times, and the signal of which these are the transforms of the segments."""
    _demand(0.0, input_onesided)
    given = np.moveaxis(np.asarray(Zxx), (freq_axis, time_axis), (-1, -2))
    segments, usual = np.shape(given)[-2], 2 * (np.shape(given)[-1] - 1)
    count = usual if nperseg is None else nperseg
    points = count if nfft is None else nfft
    step = count - (count // 2 if noverlap is None else noverlap)
    weights = as_written(weights_of, "float64[1]", constant_option(window, "`window`"), count)
    root = np.sum(weights) if scaling == "spectrum" else np.sqrt(fs * np.sum(weights * weights))
    rows = np.fft.irfft(given, points)[..., :count] * (weights * root)
    total = count + (segments - 1) * step
    found, norm = np.zeros((*np.shape(rows)[:-2], total)), np.zeros(total)
    for k in range(segments):
        found[..., k * step : k * step + count] += rows[..., k, :]
        norm[k * step : k * step + count] += weights * weights
    whole = found / np.where(norm > 1e-10, norm, 1.0)
    if boundary:
        whole = whole[..., count // 2 : total - count // 2]
    return np.arange(np.shape(whole)[0]) / fs, whole  # as SciPy has it: of rows these are no times


@composition(signal.spectrogram, domain=())
def spectrogram(
    x: Any,
    fs: Any = 1.0,
    window: Any = ("tukey", 0.25),
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: Any = True,
    scaling: Any = "density",
    axis: Any = -1,
    mode: Any = "psd",
) -> Any:
    """Frequencies, times, and the power of each segment of a signal."""
    _demand(x, return_onesided)
    if mode not in ("psd", "magnitude", "complex"):
        raise NotDifferentiable("spectrograms of angles have no derivative rule", hint="use np.angle of mode='complex'")
    given = np.moveaxis(np.asarray(x) * 1.0, axis, -1)
    count = segment_length(window, nperseg, np.shape(given)[-1], 256)
    step = count - (count // 8 if noverlap is None else noverlap)
    points = count if nfft is None else nfft
    weights = as_written(weights_of, "float64[1]", constant_option(window, "`window`"), count)
    found = transforms_of(given, count, step, points, weights, detrend)
    size = power_scale(weights, fs, scaling)
    places = np.arange(points // 2 + 1)
    times = (np.arange(np.shape(found)[-2]) * step + count / 2) / fs
    if mode == "complex":
        return places * (fs / points), times, _in_place(found * np.sqrt(size), axis)
    if mode == "magnitude":
        return places * (fs / points), times, _in_place(np.abs(found) * np.sqrt(size), axis)
    twice = np.where((places > 0) & (2 * places < points), 2.0, 1.0)
    return places * (fs / points), times, _in_place(np.real(np.conj(found) * found) * (twice * size), axis)
