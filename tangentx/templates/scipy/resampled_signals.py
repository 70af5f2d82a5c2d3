"""Signals at other rates, smoothed ones, and filters of them that go there and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import ndimage, signal, special

from tangentx.arrays import as_written, constant_option
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.scipy.precisions import in_precision_of


@composition(signal.upfirdn, domain=("P(3), A(5)", "P(4), A(5), 3, 2", "P(3), A(5,2), 2, 1, axis=0"))
def upfirdn(h: Any, x: Any, up: Any = 1, down: Any = 1, axis: Any = -1, mode: Any = "constant", cval: Any = 0) -> Any:
    """A signal with zeros put in, filtered, of which so many are left out."""
    if mode != "constant" or cval != 0:
        raise NotDifferentiable(
            "scipy.signal.upfirdn has a derivative with zeros around", hint="continue the signal by np.pad"
        )
    rows, weights = np.moveaxis(np.asarray(x) * 1.0, axis, -1), np.asarray(h) * 1.0
    length = np.shape(rows)[-1]
    first = np.zeros(up, rows.dtype)
    first[0] = 1.0
    sparse = np.reshape(rows[..., None] * first, (*np.shape(rows)[:-1], length * up))[..., : (length - 1) * up + 1]
    wide = np.concatenate([sparse, np.zeros((*np.shape(rows)[:-1], np.shape(weights)[0] - 1), rows.dtype)], axis=-1)
    return np.moveaxis(signal.lfilter(weights, np.ones(1, weights.dtype), wide)[..., ::down], -1, axis)


def low_pass(window: Any, up: Any, down: Any) -> Any:
    """The filter of `scipy.signal.resample_poly`."""
    rate = max(up, down)
    given = isinstance(window, (list, np.ndarray))
    return np.array(window if given else signal.firwin(20 * rate + 1, 1.0 / rate, window=window), float) * up


@composition(
    signal.resample_poly, domain=("A(6), 3, 2", "A(6), 2, 4", "A(6,2), 5, 3, window=np.array([0.2, 0.5, 0.2])")
)
def resample_poly(
    x: Any,
    up: Any,
    down: Any,
    axis: Any = 0,
    window: Any = ("kaiser", 5.0),
    padtype: Any = "constant",
    cval: Any = None,
) -> Any:
    """A signal at another rate, by a filter of finite length."""
    if padtype != "constant" or not (cval is None or cval == 0):
        raise NotDifferentiable(
            "scipy.signal.resample_poly has a derivative with zeros around", hint="take the mean away before"
        )
    common = math.gcd(up, down)
    more, less = up // common, down // common
    rows = np.moveaxis(np.asarray(x) * 1.0, axis, -1)
    if more == less:
        return np.moveaxis(rows * 1.0, -1, axis)
    h = as_written(low_pass, "float64[1]", constant_option(window, "`window`"), more, less)
    half = (np.shape(h)[0] - 1) // 2
    before = less - half % less
    start, count = (half + before) // less, -(-np.shape(rows)[-1] * more // less)
    needed = (start + count - 1) * less + 1 - ((np.shape(rows)[-1] - 1) * more + before + np.shape(h)[0])
    wide = np.concatenate([np.zeros(before), h, np.zeros(max(needed, 0))])
    found = signal.upfirdn(wide, rows, more, less)[..., start : start + count]
    return np.moveaxis(in_precision_of(rows, found), -1, axis)


@composition(signal.resample, domain=("A(6), 9", "A(6), 4", "A(5), 3", "A(2,8), 5, axis=1", "A(5), 8"))
def resample(x: Any, num: Any, t: Any = None, axis: Any = 0, window: Any = None, domain: Any = "time") -> Any:
    """A signal at another rate, by its transform; it is taken for periodic."""
    rows = np.moveaxis(np.asarray(x) * 1.0, axis, -1)
    if t is not None or window is not None or domain != "time" or np.iscomplexobj(rows):
        raise NotDifferentiable(
            "scipy.signal.resample has a derivative for real signals, without `t`, `window` and `domain`",
            hint="leave them out; the moments are `t[0] + (t[1] - t[0]) * len(t) / num * arange(num)`",
        )
    length = np.shape(rows)[-1]
    fewer = min(num, length)
    spectrum = np.fft.rfft(rows)[..., : fewer // 2 + 1]
    places = np.arange(fewer // 2 + 1)
    middle = 2.0 if num < length else 0.5 if num > length else 1.0
    weights = np.where(2 * places == fewer, middle, 1.0) * (num / length)
    return np.moveaxis(in_precision_of(rows, np.fft.irfft(spectrum * weights, num)), -1, axis)


def edge_fits(window_length: Any, polyorder: Any, deriv: Any, delta: Any) -> Any:
    """The matrix that fits a polynomial to so many elements."""
    return signal.savgol_filter(np.eye(window_length), window_length, polyorder, deriv, delta, 0)


@composition(
    signal.savgol_filter,
    domain=(
        "A(9), 5, 2",
        "A(9), 5, 3, 1, delta=0.5",
        "A(7,2), 3, 1, axis=0, mode='nearest'",
        "A(8), 4, 2, mode='wrap'",
    ),
)
def savgol_filter(
    x: Any,
    window_length: Any,
    polyorder: Any,
    deriv: Any = 0,
    delta: Any = 1.0,
    axis: Any = -1,
    mode: Any = "interp",
    cval: Any = 0.0,
) -> Any:
    """A signal smoothed by polynomials that are fitted to the neighbours of each element."""
    rows = np.moveaxis(np.asarray(x) * 1.0, axis, -1)
    width = constant_option(delta, "`delta`")
    weights = as_written(signal.savgol_coeffs, "float64[1]", window_length, polyorder, deriv, width)
    if mode != "interp":
        return np.moveaxis(ndimage.convolve1d(rows, weights, -1, None, mode, cval), -1, axis)
    found = ndimage.convolve1d(rows, weights, -1, None, "constant")
    fits = as_written(edge_fits, "float64[2]", window_length, polyorder, deriv, width)
    half = window_length // 2
    before = np.matmul(rows[..., :window_length], fits[:half].T)
    behind = np.matmul(rows[..., -window_length:], fits[window_length - half :].T)
    whole = np.concatenate([before, found[..., half : np.shape(rows)[-1] - half], behind], axis=-1)
    return np.moveaxis(in_precision_of(rows, whole), -1, axis)


@composition(signal.sosfiltfilt, domain=("np.array([[1, 2, 1, 1, 0, 0], [1, -2, 0, 1, 0, 0]]), A(24)",))
def sosfiltfilt(sos: Any, x: Any, axis: Any = -1, padtype: Any = "odd", padlen: Any = None) -> Any:
    """Recursive filters of second order there and back; they start as if the first element had always been there."""
    if padtype != "odd":
        raise NotDifferentiable(
            "scipy.signal.sosfiltfilt has a derivative with odd padding", hint="leave `padtype` out"
        )
    rows, sections = np.moveaxis(np.asarray(x) * 1.0, axis, -1), np.asarray(sos) * 1.0
    shorter = min(int(np.sum(sections[:, 2] == 0.0)), int(np.sum(sections[:, 5] == 0.0)))
    count = 3 * (2 * np.shape(sections)[0] + 1 - shorter) if padlen is None else padlen
    gain = np.prod(np.sum(sections[:, :3], axis=1) / np.sum(sections[:, 3:], axis=1))
    before = 2.0 * rows[..., :1] - np.flip(rows[..., 1 : count + 1], -1)
    behind = 2.0 * rows[..., -1:] - np.flip(rows[..., -count - 1 : -1], -1)
    found = np.concatenate([before, rows, behind], axis=-1)
    for _ in range(2):
        start = found[..., :1]
        found = np.flip(signal.sosfilt(sections, found - start) + gain * start, -1)
    return np.moveaxis(found[..., count : np.shape(found)[-1] - count], -1, axis)


@composition(
    signal.correlate2d,
    domain=("A(3,4), A(2,2)", "A(3,4), A(2,2), 'valid'", "A(3,4), A(2,3), 'same'", "A(2,2), A(3,4), 'same'"),
)
def correlate2d(in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> Any:
    """Convolution of two tables, of which one is turned round."""
    if mode != "same":
        return signal.convolve2d(in1, np.conj(np.flip(in2)), mode, boundary, fillvalue)
    full = signal.convolve2d(in1, np.conj(np.flip(in2)), "full", boundary, fillvalue)
    (rows, columns), (down, across) = np.shape(in1), np.shape(in2)
    return full[down // 2 : down // 2 + rows, across // 2 : across // 2 + columns]


@composition(signal.medfilt, domain=("A(6)", "A(4,5), 3", "A(4,5), (3, 1)"))
def medfilt(volume: Any, kernel_size: Any = None) -> Any:
    """The neighbour in the middle, with zeros around."""
    size = 3 if kernel_size is None else kernel_size
    return ndimage.median_filter(volume, size, None, None, "constant")


@composition(
    signal.chirp, double=True, domain=("P(4), x, 2.0, y", "P(4), 0.5, 2.0, 1.5, phi=30.0", "P(3), x, 1.0, y, 'log'")
)
def chirp(
    t: Any,
    f0: Any,
    t1: Any,
    f1: Any,
    method: Any = "linear",
    phi: Any = 0,
    vertex_zero: Any = True,
    *,
    complex: Any = False,
) -> Any:
    """A cosine whose frequency rises or falls."""
    times, start = np.asarray(t), 0.017453292519943295 * phi
    if complex:
        raise NotDifferentiable("scipy.signal.chirp has a derivative where it is real", hint="shift `phi` by 90")
    if method in ("linear", "lin", "li"):
        turns = f0 * times + 0.5 * (f1 - f0) / t1 * times * times
    elif method in ("logarithmic", "log", "lo"):
        if f0 * f1 <= 0.0:
            raise ValueError("For a logarithmic chirp, f0 and f1 must be nonzero and have the same sign.")
        if f0 == f1:  # the rate is 0, but not its derivative
            turns = f0 * times * special.exprel(np.log(f1 / f0) / t1 * times)
        else:
            scale = t1 / np.log(f1 / f0)
            return np.cos(6.283185307179586 * scale * f0 * (np.power(f1 / f0, times / t1) - 1.0) + start)
    else:
        raise NotDifferentiable(
            "scipy.signal.chirp has a derivative with method 'linear' or 'logarithmic'", hint="write the phase out"
        )
    return np.cos(6.283185307179586 * turns + start)
