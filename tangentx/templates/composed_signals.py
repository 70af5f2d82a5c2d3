"""Series of numbers: phases, windows, steps, transforms of real rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.arrays import binary_exponent, cycled, inverse_norm, last_axes, nonzero_ends, stop_gradient
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition
from tangentx.templates.registry import constant

constant(binary_exponent, last_axes, nonzero_ends)


@composition(np.unwrap, domain=("3.0 * A(5)", "4.0 * A(2,4), axis=0", "A(4), period=x", "4.0 * A(4), 3.5"))
def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 2.0 * math.pi) -> Any:
    """Phases without jumps: whole periods are added behind each one."""
    phases = np.asarray(p)
    steps, half = np.diff(stop_gradient(phases), axis=axis), period / 2.0
    turned = np.mod(steps + half, period) - half
    turned = np.where((turned == -half) & (steps > 0.0), turned + period, turned)
    added = np.where(np.abs(steps) < (half if discont is None else discont), 0.0, turned - steps)
    places = np.arange(np.shape(phases)[axis])
    others = np.take(phases, places[1:], axis) + np.cumsum(added, axis=axis)
    return np.concatenate([np.take(phases, places[:1], axis), others], axis)


@composition(np.ediff1d, domain=("A(4)", "A(2,3), A(2)", "A(3), x, y", "A(1), to_begin=x"))
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours in the row of all elements, with others before and behind."""
    found = np.diff(np.ravel(ary))
    if to_begin is not None:
        found = np.concatenate([np.ravel(np.asarray(to_begin, found.dtype)), found])
    return found if to_end is None else np.concatenate([found, np.ravel(np.asarray(to_end, found.dtype))])


@composition(
    np.geomspace, domain=("x, y, 4", "-x, -y, 3", "x, y, 3, False", "P(2), P(2), num=3", "P(2), P(2), 3, axis=1")
)
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None, axis: Any = 0) -> Any:
    """Numbers of even ratio, by logarithms; the ends are those that are given."""
    if np.any(np.equal(start, 0)) or np.any(np.equal(stop, 0)):
        raise ValueError("Geometric sequence cannot include zero")
    if np.iscomplexobj(start):
        sign = start / np.abs(start)
        found = _in_even_ratio(start / sign, np.asarray(stop / sign, np.complex128), num, endpoint) * sign
    else:
        sign = np.sign(start)
        found = _in_even_ratio(start / sign, stop / sign, num, endpoint) * sign
    if axis != 0:
        found = np.moveaxis(found, 0, axis)
    return found if dtype is None else found.astype(dtype)


def _in_even_ratio(start: Any, stop: Any, num: Any, endpoint: Any) -> Any:
    """Numbers of even ratio from a positive one, along the first axis, in double precision."""
    shape = np.broadcast_shapes(np.shape(start), np.shape(stop))
    first, last = np.broadcast_to(start * np.ones(1), (1, *shape)), np.broadcast_to(stop * np.ones(1), (1, *shape))
    inner = np.power(10.0, np.linspace(np.log10(first[0]), np.log10(last[0]), num, endpoint=endpoint))
    if num < 2 or not endpoint:
        return np.concatenate([first[:num], inner[1:]])
    return np.concatenate([first, inner[1:-1], last])


@composition(np.kaiser, domain=("5, x", "4, 8.0", "1, x"))
def kaiser(M: Any, beta: Any) -> Any:
    """Kaiser's window, by Bessel functions."""
    if M <= 1:
        return np.ones(max(M, 0))
    half = (M - 1) / 2.0
    return np.i0(beta * np.sqrt(1.0 - ((np.arange(M) - half) / half) ** 2)) / np.i0(beta)


@composition(np.trim_zeros, domain=("A(3)",))
def trim_zeros(filt: Any, trim: Any = "fb") -> Any:
    """Without the zeros at the ends."""
    if np.ndim(filt) != 1:
        raise NotDifferentiable("np.trim_zeros of a table has no derivative", hint="take a part of it by slices")
    first, last = nonzero_ends(filt, trim)
    return filt[first:last]


@composition(np.resize, domain=("A(3), 5", "A(2,3), (2,2)", "A(3), (2,4)", "x, 3"))
def resize(a: Any, new_shape: Any) -> Any:
    """The elements in a new shape, from the first again where they do not suffice."""
    count = int(np.prod(new_shape))
    if count < 0:
        raise ValueError("all elements of `new_shape` must be non-negative")
    if np.size(a) == 0:
        return np.zeros(new_shape, np.asarray(a).dtype)
    return np.reshape(cycled(np.ravel(a), count), new_shape)


def _one_along(a: Any, axis: Any) -> Any:
    """The shape of an array, with one element along an axis."""
    lengths = list(np.shape(a))
    lengths[axis] = 1
    return tuple(lengths)


if hasattr(np, "cumulative_sum"):  # since NumPy 2.1

    @composition(np.cumulative_sum, domain=("A(3)", "A(2,3), axis=1, include_initial=True"))
    def cumulative_sum(x: Any, *, axis: Any = None, dtype: Any = None, include_initial: Any = False) -> Any:
        """Running sums, from 0 if that is to be included."""
        along = 0 if axis is None else axis
        found = np.cumsum(x, axis=along, dtype=dtype)
        if not include_initial:
            return found
        return np.concatenate([np.zeros_like(found, shape=_one_along(found, along)), found], along)


if hasattr(np, "cumulative_prod"):  # since NumPy 2.1

    @composition(np.cumulative_prod, domain=("A(3)", "A(2,3), axis=1, include_initial=True"))
    def cumulative_prod(x: Any, *, axis: Any = None, dtype: Any = None, include_initial: Any = False) -> Any:
        """Running products, from 1 if that is to be included."""
        along = 0 if axis is None else axis
        found = np.cumprod(x, axis=along, dtype=dtype)
        if not include_initial:
            return found
        return np.concatenate([np.ones_like(found, shape=_one_along(found, along)), found], along)


@composition(np.nancumsum, domain=("np.array([1.0, np.nan, 2.0])", "A(2,3), axis=0"))
def nancumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """Running sums, nan counting as 0."""
    return np.cumsum(np.where(np.isnan(a), 0.0, a), axis=axis, dtype=dtype)


@composition(np.nancumprod, domain=("np.array([1.0, np.nan, 2.0])", "A(2,3), axis=0"))
def nancumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """Running products, nan counting as 1."""
    return np.cumprod(np.where(np.isnan(a), 1.0, a), axis=axis, dtype=dtype)


@composition(np.sort_complex, domain=("A(3)", "C(3)"))
def sort_complex(a: Any) -> Any:
    """In order of the real parts, equal ones of the imaginary parts."""
    return np.sort(a) if np.iscomplexobj(a) else np.sort(a) + np.complex128(0.0)


@composition(np.angle, domain=("C(3), True", "C(2), deg=False"))
def angle(z: Any, deg: Any) -> Any:
    """Angles, in degrees where those are asked for."""
    return np.degrees(np.angle(z)) if deg else np.angle(z)


@composition(np.modf, domain=("x", "-y", "A(3)"))
def modf(x: Any) -> Any:
    """What stands behind the point and before it, both with the sign."""
    whole = np.trunc(x)
    return np.where(np.isinf(x), np.copysign(0.0, x), np.fmod(x, 1.0))[()], whole


@composition(math.modf, domain=("x", "-y"))
def modf_of_number(x: Any) -> Any:
    """As that of NumPy."""
    if math.isinf(x):
        return math.copysign(0.0, x), x
    rest = math.fmod(x, 1.0)
    return rest, x - rest


@composition(np.frexp, domain=("x", "A(3)"))
def frexp(x: Any) -> Any:
    """A number from a half to one, and the power of two that it is multiplied with."""
    exponent = binary_exponent(x)
    return np.ldexp(x, -exponent), exponent


@composition(math.frexp, domain=("x", "-y"))
def frexp_of_number(x: Any) -> Any:
    """As that of NumPy."""
    exponent = int(binary_exponent(x))
    return math.ldexp(x, -exponent), exponent


@composition(np.fft.hfft, domain=("C(3)", "C(3), 5", "C(2,3), axis=0, norm='ortho'", "C(3), norm='forward'"))
def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """Transform of a row that is the conjugate of itself backwards, by its first half."""
    return np.fft.irfft(np.conj(a), n, axis, inverse_norm(norm))


@composition(np.fft.ihfft, domain=("A(4)", "A(5), 4", "A(3,2), axis=0, norm='ortho'"))
def ihfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """Inverse of `hfft`."""
    return np.conj(np.fft.rfft(a, n, axis, inverse_norm(norm)))


@composition(np.fft.rfftn, domain=("A(4)", "A(2,3)", "A(2,3,2), axes=(0, 2)", "A(2,3), (3,4), (1,0), 'ortho'"))
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """Transform of a real table: along the last axis half of the frequencies."""
    along = last_axes(np.ndim(a) if s is None else len(s)) if axes is None else axes
    half = np.fft.rfft(a, None if s is None else s[-1], along[-1], norm)
    return half if len(along) == 1 else np.fft.fftn(half, None if s is None else s[:-1], along[:-1], norm)


@composition(np.fft.irfftn, domain=("C(3)", "C(2,3)", "C(2,3,2), axes=(0, 2)", "C(2,3), (3,4), (0,1), 'ortho'"))
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """Inverse of `rfftn`."""
    along = last_axes(np.ndim(a) if s is None else len(s)) if axes is None else axes
    whole = a if len(along) == 1 else np.fft.ifftn(a, None if s is None else s[:-1], along[:-1], norm)
    return np.fft.irfft(whole, None if s is None else s[-1], along[-1], norm)


@composition(np.fft.rfft2, domain=("A(2,3)", "A(2,3,4), (4,3)", "A(3,2), axes=(1,0)"))
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """Transform of real pictures."""
    return np.fft.rfftn(a, s, axes, norm)


@composition(np.fft.irfft2, domain=("C(2,3)", "C(2,3,4), (4,3)"))
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """Inverse of `rfft2`."""
    return np.fft.irfftn(a, s, axes, norm)
