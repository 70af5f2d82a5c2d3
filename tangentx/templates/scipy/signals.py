"""Filters and convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from tangentx.arrays import advanced, delayed, lagged
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import adjoint


@adjoint(signal.lfilter, domain=("P(3), 1.0 + P(2), A(6)", "P(2), 1.0 + P(3), A(2,5)", "P(2), 1.0 + P(3), A(5,2), 0"))
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
    return _middle(_by_transforms(first, second), first, second, mode)


@composition(signal.fftconvolve, domain=("A(5), A(3), 'same'", "A(3,4), A(2,2)"))
def fftconvolve(in1: Any, in2: Any, mode: Any = "full") -> Any:
    """Convolution by transforms."""
    return signal.convolve(in1, in2, mode)


@composition(signal.correlate, domain=("A(5), A(3)", "A(5), A(3), 'valid'"))
def correlate(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    """Convolution with what is turned round."""
    return signal.convolve(in1, np.conj(np.flip(in2)), mode)
