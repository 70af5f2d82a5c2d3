"""Filters and convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from tangentx.arrays import advanced, delayed, lagged, stop_gradient, valued
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import adjoint
from tangentx.templates.scipy.precisions import in_precision_of


@adjoint(
    signal.lfilter,
    domain=("P(3), 1.0 + P(2), A(6)", "P(3), 2.0, A(6)", "P(2), 1.0 + P(3), A(2,5)", "P(2), 1.0 + P(3), A(5,2), 0"),
)
def lfilter(b: Any, a: Any, x: Any, axis: Any = -1, *, ans: Any, ans_bar: Any) -> Any:
    """Recursive filter, ``a * ans = b * x``; its adjoint runs back from the end."""
    back = np.flip(signal.lfilter(np.ones(1), a, np.flip(ans_bar, axis), axis), axis)
    x_bar = advanced(b, back, x, axis)
    b_bar = lagged(back, x, b, axis)
    a_bar = -lagged(back, ans, a, axis)
    return b_bar, a_bar, x_bar


@lfilter.tangent
def lfilter_tangent(b: Any, a: Any, x: Any, axis: Any = -1, *, ans: Any, b_dot: Any, a_dot: Any, x_dot: Any) -> Any:
    """The filter of what drives the tangents."""
    moved = delayed(b, x_dot, x, axis) + delayed(b_dot, x, x, axis) - delayed(a_dot, ans, x, axis)
    ans_dot = signal.lfilter(np.ones(1), a, moved, axis)
    return ans_dot


@composition(
    signal.lfilter,
    domain=(
        "P(3), 1.0 + P(2), A(6), zi=A(2)",
        "P(2), 2.0 + P(3), A(2,5), -1, A(2,2)",
        "P(3), 1.0 + P(2), A(5,2), 0, A(2,2)",
        "P(4), 1.0 + P(2), A(2), zi=A(3)",
    ),
)
def lfilter_onwards(b: Any, a: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    """Recursive filter that goes on from a state, and the state at the end.

    The state is what is still to be added to the next results, so that it acts as an input of its own.
    """
    rows = np.moveaxis(np.asarray(x), axis, -1)
    state = np.moveaxis(np.asarray(zi), axis, -1)
    ahead, back = np.atleast_1d(b) / np.atleast_1d(a)[0], np.atleast_1d(a) / np.atleast_1d(a)[0]
    count, order = np.shape(rows)[-1], max(len(ahead), len(back)) - 1
    behind = np.zeros((*np.shape(rows)[:-1], order), rows.dtype)
    driven = np.concatenate([state, np.zeros((*np.shape(state)[:-1], count), state.dtype)], axis=-1)
    driven = driven[..., : count + order]
    found = signal.lfilter(ahead, back, np.concatenate([rows, behind], axis=-1), -1)
    found = found + signal.lfilter(np.ones(1, back.dtype), back, driven, -1)
    rest = found[..., count:]
    ends = rest
    for k in range(1, min(len(back), order)):
        ends = ends + back[k] * np.concatenate([np.zeros_like(rest[..., :k]), rest[..., :-k]], axis=-1)
    return np.moveaxis(found[..., :count], -1, axis), np.moveaxis(ends, -1, axis)


def _middle(full: Any, first: Any, second: Any, mode: Any) -> Any:
    """The part of a full convolution that `mode` asks for."""
    if mode == "full":
        return full
    if mode not in ("same", "valid"):
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")
    found = _cut(full, first.shape[0], second.shape[0], mode, 0)
    return found if np.ndim(full) == 1 else _cut(found, first.shape[1], second.shape[1], mode, 1)


def _cut(full: Any, m: Any, n: Any, mode: Any, axis: Any) -> Any:
    start = (n - 1) // 2 if mode == "same" else min(m, n) - 1
    count = m if mode == "same" else max(m, n) - min(m, n) + 1
    return np.take(full, start + np.arange(count), axis)


_FEW = 256
"""Elements of the smaller table, up to which SciPy mostly adds up shifted tables, where a nan stays where it is."""


def _by_shifts(first: Any, second: Any) -> Any:
    """The full convolution of two tables, as a sum of the one, moved and multiplied by each element of the other."""
    if first.size < second.size:
        first, second = second, first
    m, n = first.shape
    p, q = second.shape
    found = np.zeros((m + p - 1, n + q - 1), np.result_type(first, second))
    for i in range(p):
        for j in range(q):
            found[i : i + m, j : j + n] += second[i, j] * first
    return found


def _by_transforms(first: Any, second: Any) -> Any:
    """The full convolution of two tables, as a product of transforms."""
    if np.ndim(first) > 2 or np.iscomplexobj(first) or np.iscomplexobj(second):
        raise NotDifferentiable(
            "scipy.signal.convolve has a derivative for rows, and for tables of real numbers",
            hint="multiply transforms: np.fft.ifftn(np.fft.fftn(a, s, axes) * np.fft.fftn(b, s, axes), s, axes)",
        )
    lengths = (first.shape[0] + second.shape[0] - 1, first.shape[1] + second.shape[1] - 1)
    product = np.fft.rfftn(first, lengths, (0, 1)) * np.fft.rfftn(second, lengths, (0, 1))
    return np.fft.irfftn(product, lengths, (0, 1))


@composition(
    signal.convolve,
    domain=("A(5), A(3)", "A(5), A(3), 'same'", "A(3), A(5), 'valid'", "A(3,4), A(2,2), 'same'"),
)
def convolve(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    """Convolution in one dimension or several."""
    first, second = np.asarray(in1), np.asarray(in2)
    if np.ndim(first) == 1:
        return _middle(np.convolve(first, second), first, second, mode)
    if np.ndim(first) == 2 and min(first.size, second.size) <= _FEW:
        return _middle(_by_shifts(first, second), first, second, mode)
    return _middle(_by_transforms(first, second), first, second, mode)


def _demand_elements(first: Any, second: Any) -> None:
    if np.size(first) == 0 or np.size(second) == 0:
        raise NotDifferentiable(
            "a convolution of scipy.signal has no derivative where an argument has no elements",
            hint="leave out what is empty",
        )


@composition(
    *(signal.fftconvolve, signal.oaconvolve),
    domain=("A(5), A(3), 'same'", "A(3,4), A(2,2)", "A(3,4), A(3,2), 'valid', 1", "A(3,2), A(3,4), 'same', (-1,)"),
)
def fftconvolve(in1: Any, in2: Any, mode: Any = "full", axes: Any = None) -> Any:
    """Convolution by transforms, along all axes or some of them."""
    _demand_elements(in1, in2)
    if axes is None:
        return signal.convolve(in1, in2, mode)
    return _along(np.asarray(in1), np.asarray(in2), mode, np.ravel(axes).tolist())


def _along(first: Any, second: Any, mode: Any, axes: Any) -> Any:
    if mode not in ("full", "same", "valid"):
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")
    lengths = [first.shape[axis] + second.shape[axis] - 1 for axis in axes]
    found: Any
    if np.iscomplexobj(first) or np.iscomplexobj(second):
        product = np.fft.fftn(first, lengths, axes) * np.fft.fftn(second, lengths, axes)
        found = np.fft.ifftn(product, lengths, axes)
    else:
        product = np.fft.rfftn(first, lengths, axes) * np.fft.rfftn(second, lengths, axes)
        found = np.fft.irfftn(product, lengths, axes)
    if mode != "full":
        for axis in axes:
            found = _cut(found, first.shape[axis], second.shape[axis], mode, axis)
    return found


@composition(signal.correlate, domain=("A(5), A(3)", "A(5), A(3), 'valid'"))
def correlate(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    """Convolution with what is turned round."""
    return signal.convolve(in1, np.conj(np.flip(in2)), mode)


@composition(signal.sosfilt, domain=("np.array([[1, 2, 1, 1, 0, 0], [1, -1, 0, 1, 0, 0]]), A(6)",))
def sosfilt(sos: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    """Recursive filters of second order, one after the other."""
    if zi is not None:
        raise NotDifferentiable(
            "scipy.signal.sosfilt has no derivative with `zi`", hint="put what came before in front of the signal"
        )
    sections, found = np.asarray(sos), np.asarray(x)
    for k in range(sections.shape[0]):
        found = signal.lfilter(sections[k, :3], sections[k, 3:], found, axis)
    return found


@composition(signal.filtfilt, domain=("np.array([0.2, 0.3]), np.array([1.0, -0.4]), A(12)",))
def filtfilt(
    b: Any,
    a: Any,
    x: Any,
    axis: Any = -1,
    padtype: Any = "odd",
    padlen: Any = None,
    method: Any = "pad",
    irlen: Any = None,
) -> Any:
    """A recursive filter there and back; it starts as if the first element had always been there."""
    if padtype != "odd" or method != "pad":
        raise NotDifferentiable(
            "scipy.signal.filtfilt has a derivative with odd padding", hint="leave `padtype` and `method` out"
        )
    rows = np.moveaxis(np.asarray(x) * 1.0, axis, -1)
    count = 3 * max(len(a), len(b)) if padlen is None else padlen
    gain = np.sum(b) / np.sum(a)
    before = 2.0 * rows[..., :1] - np.flip(rows[..., 1 : count + 1], -1)
    behind = 2.0 * rows[..., -1:] - np.flip(rows[..., -count - 1 : -1], -1)
    found = np.concatenate([before, rows, behind], axis=-1)
    for _ in range(2):
        start = found[..., :1]
        found = np.flip(signal.lfilter(b, a, found - start) + gain * start, -1)
    return np.moveaxis(found[..., count : np.shape(found)[-1] - count], -1, axis)


@composition(signal.hilbert, domain=("A(6)", "A(5)", "A(3,4), axis=0"))
def hilbert(x: Any, N: Any = None, axis: Any = -1) -> Any:
    """The analytic signal, of the frequencies that are not negative."""
    size = np.shape(x)[axis] if N is None else N
    places = np.arange(size)
    twice = (places > 0) & (places < (size + 1) // 2)
    weights = np.where(twice, 2.0, np.where((places == 0) | (2 * places == size), 1.0, 0.0))
    given = np.asarray(x)
    found = np.moveaxis(np.fft.fft(given, N, axis), axis, -1) * weights.astype(given.dtype)
    return np.moveaxis(np.fft.ifft(found), -1, axis)


@composition(signal.detrend, domain=("A(6)", "A(5,2), 0, 'constant'", "A(2,5)"))
def detrend(data: Any, axis: Any = -1, type: Any = "linear", bp: Any = 0, overwrite_data: Any = False) -> Any:
    """A signal without its mean, or without the line that is nearest."""
    if type == "constant" or type == "c":
        return data - np.mean(data, axis=axis, keepdims=True)
    if np.ndim(bp) or bp != 0:
        raise NotDifferentiable("scipy.signal.detrend has no derivative with `bp`", hint="treat the parts one by one")
    known = signal.detrend(stop_gradient(np.asarray(data)), axis, type)
    rows = np.moveaxis(np.asarray(data) * 1.0, axis, -1)
    apart = rows - np.mean(rows, axis=-1, keepdims=True)
    t = np.arange(np.shape(rows)[-1]) - 0.5 * (np.shape(rows)[-1] - 1.0)
    slope = np.sum(apart * t, axis=-1, keepdims=True) / np.maximum(np.sum(t * t), 0.5)  # 0 of one element alone
    return valued(known, in_precision_of(rows, np.moveaxis(apart - slope * t, -1, axis)))


@composition(
    signal.convolve2d,
    domain=(
        *(
            "A(3,4), A(2,2)",
            "A(3,4), A(2,2), 'valid'",
            "A(3,4), A(2,3), 'same', 'wrap'",
            "A(2,3), A(3,2), 'full', 'symm'",
        ),
        *("A(3,4), A(2,3), 'same', 'fill', 0.7", "A(2,2), A(3,3), 'valid', 'wrap'"),
    ),
)
def convolve2d(in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> Any:
    """Convolution of two tables, the first of them with a frame of what is around it."""
    _demand_elements(in1, in2)
    if mode == "valid" or (boundary == "fill" and fillvalue is None) or (boundary == "fill" and fillvalue == 0):
        return signal.convolve(in1, in2, mode)
    first, second = np.asarray(in1), np.asarray(in2)
    down, across = second.shape[0] - 1, second.shape[1] - 1
    widths = ((down, down), (across, across))
    if boundary == "fill":
        framed = np.pad(first, widths, "constant", constant_values=fillvalue)
    elif boundary == "wrap":
        framed = np.pad(first, widths, "wrap")
    else:
        framed = np.pad(first, widths, "symmetric")
    return _middle(signal.convolve(framed, second, "valid"), first, second, mode)
