"""Discrete Fourier transforms.

The matrix of a transform is symmetric, and cotangents are paired without conjugation: the adjoint of a transform is the
transform itself, undone where it cut its argument off or continued it with zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.arrays import cropped, doubled, halved, inverse_norm, length_along
from tangentx.templates.registry import constant, linear

constant(inverse_norm, length_along)

_REAL = ("A(4)", "A(3), 5", "A(3,2), axis=0", "A(4), norm='ortho'", "A(1)")
_ONE = (*_REAL, "C(5)", "C(6), 4", "C(2,3), 4, 0", "C(3), 2, -1, 'forward'")
_TWO = ("A(2,3)", "C(3,2)", "A(2,3), (3,2)", "C(2,3,2), axes=(0,1)", "A(2,2,3), (3,4), (-1,0), 'ortho'")
_MANY = ("A(4)", "A(2,3,2)", "C(2,3)", "A(2,3), (3,2), (1,0), 'forward'", "C(2,3,2), axes=(0,2)")


def _along_one(transform: Callable[..., Any]) -> None:
    """Declares a transform along one axis: its own adjoint."""

    @linear(transform, domain=_ONE)
    def fft(
        a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None, *, ans_bar: Any, a_shape: Any
    ) -> Any:
        """Transform along one axis, there or back."""
        a_bar = cropped(transform(ans_bar, n, axis, norm), a_shape)
        return a_bar


def _along_several(transform: Callable[..., Any], all_axes: Any, domain: tuple[str, ...]) -> None:
    """Declares a transform along `all_axes` where no others are named: its own adjoint."""

    @linear(transform, domain=domain)
    def fftn(
        a: Any, s: Any = None, axes: Any = all_axes, norm: Any = None, out: Any = None, *, ans_bar: Any, a_shape: Any
    ) -> Any:
        """Transform along several axes, there or back."""
        a_bar = cropped(transform(ans_bar, s, axes, norm), a_shape, axes)
        return a_bar


for one in (np.fft.fft, np.fft.ifft):
    _along_one(one)
for two in (np.fft.fft2, np.fft.ifft2):
    _along_several(two, (-2, -1), _TWO)
for many in (np.fft.fftn, np.fft.ifftn):
    _along_several(many, None, _MANY)


@linear(np.fft.rfft, domain=("A(4)", "A(5)", "A(3), 6", "A(6), 3", "A(3,2), axis=0", "A(2,4), 5, -1, 'ortho'", "A(1)"))
def rfft(
    a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None, *, ans_bar: Any, a_shape: Any
) -> Any:
    """Transform of real rows, of which the first half is kept: its adjoint counts no frequency twice."""
    length = length_along(a_shape, n, axis)
    half = halved(np.conj(ans_bar), length, axis)
    a_bar = cropped(np.fft.irfft(half, length, axis, inverse_norm(norm)), a_shape)
    return a_bar


@linear(
    np.fft.irfft,
    domain=("C(4)", "C(3), 5", "A(3)", "C(3), 8", "C(5), 4", "C(3,2), axis=0", "C(2,3), 5, -1, 'ortho'", "C(2), 1"),
)
def irfft(
    a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None, *, ans_bar: Any, a_shape: Any
) -> Any:
    """Real rows by the first half of their spectrum: all frequencies but the first and the last count twice."""
    length = length_along(np.shape(ans_bar), n, axis)
    half = np.conj(np.fft.rfft(ans_bar, length, axis, inverse_norm(norm)))
    a_bar = cropped(doubled(half, length, axis), a_shape)
    return a_bar


@linear(np.fft.fftshift, domain=("A(5)", "C(4)", "A(2,3)", "A(2,3), 1", "A(2,3,5), axes=(0,2)"))
def fftshift(x: Any, axes: Any = None, *, ans_bar: Any) -> Any:
    """Frequency 0 moved to the middle."""
    x_bar = np.fft.ifftshift(ans_bar, axes)
    return x_bar


@linear(np.fft.ifftshift, domain=("A(5)", "C(4)", "A(2,3)", "A(2,3), 1", "A(2,3,5), axes=(0,2)"))
def ifftshift(x: Any, axes: Any = None, *, ans_bar: Any) -> Any:
    """Frequency 0 moved to the front."""
    x_bar = np.fft.fftshift(ans_bar, axes)
    return x_bar


@linear(cropped, domain=("A(3), (5,)", "A(2,3), (3,2)", "C(4), (2,)", "A(2,3), (3,2), (0,-1)"))
def cropped_(t: Any, shape: Any, axes: Any = None, *, ans_bar: Any, t_shape: Any) -> Any:
    """Cut off or continued with zeros: its adjoint continues with zeros what was cut off."""
    t_bar = cropped(ans_bar, t_shape)
    return t_bar


@linear(doubled, domain=("C(3), 4", "C(3), 5", "C(3,2), 4, 0", "A(1), 1"))
def doubled_(t: Any, n: Any, axis: Any = -1, *, ans_bar: Any) -> Any:
    """Its own adjoint."""
    t_bar = doubled(ans_bar, n, axis)
    return t_bar


@linear(halved, domain=("C(3), 4", "C(3), 5", "C(3,2), 4, 0", "A(1), 1"))
def halved_(t: Any, n: Any, axis: Any = -1, *, ans_bar: Any) -> Any:
    """Its own adjoint."""
    t_bar = halved(ans_bar, n, axis)
    return t_bar
