"""Rules of filters, tiling, padding and counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.arrays import det_sign, neighbour_products, neighbour_spread, neighbour_sums, unconvolve, unpad, untile
from tangentx.templates.registry import bilinear, constant, linear, methods

constant(det_sign)


@bilinear(
    np.convolve,
    domain=(
        "A(4), A(3)",
        "A(3), A(4), 'same'",
        "A(4), A(4), mode='same'",
        "A(4), A(2), 'valid'",
        "A(2), A(5), 'valid'",
    ),
)
def convolve(a: Any, v: Any, mode: Any = "full", *, ans_bar: Any, a_shape: Any, v_shape: Any) -> Any:
    """Sums of products over all shifts of one row against the other."""
    a_bar = unconvolve(ans_bar, v, a_shape, mode)
    v_bar = unconvolve(ans_bar, a, v_shape, mode)
    return a_bar, v_bar


@bilinear(unconvolve, domain=("A(6), A(3), (4,)", "A(4), A(3), (4,), 'same'", "A(2), A(4), (3,), 'valid'"))
def unconvolve_(t: Any, other: Any, shape: Any, mode: Any = "full", *, ans_bar: Any, other_shape: Any) -> Any:
    """Adjoint of convolving."""
    t_bar = np.convolve(ans_bar, other, mode)
    other_bar = unconvolve(t, ans_bar, other_shape, mode)
    return t_bar, other_bar


@bilinear(neighbour_sums, domain=("A(5), A(3), 0", "A(2,4), A(2), -1", "A(4,2), A(2), 0"))
def neighbour_sums_(wide: Any, w: Any, axis: Any, *, ans_bar: Any) -> Any:
    """Weighed sums of neighbours."""
    wide_bar = neighbour_spread(ans_bar, w, axis)
    w_bar = neighbour_products(wide, ans_bar, axis)
    return wide_bar, w_bar


@bilinear(neighbour_spread, domain=("A(3), A(3), 0", "A(2,3), A(2), -1"))
def neighbour_spread_(t: Any, w: Any, axis: Any, *, ans_bar: Any) -> Any:
    """Each number to its neighbours, weighed."""
    t_bar = neighbour_sums(ans_bar, w, axis)
    w_bar = neighbour_products(ans_bar, t, axis)
    return t_bar, w_bar


@bilinear(neighbour_products, domain=("A(5), A(3), 0", "A(2,4), A(2,3), -1"))
def neighbour_products_(wide: Any, t: Any, axis: Any, *, ans_bar: Any) -> Any:
    """Sums of products, for each distance of neighbours."""
    wide_bar = neighbour_spread(t, ans_bar, axis)
    t_bar = neighbour_sums(wide, ans_bar, axis)
    return wide_bar, t_bar


@linear(np.bincount, domain=("np.array([0, 2, 2]), A(3)", "np.array([1, 0]), A(2), 4"))
def bincount(x: Any, weights: Any = None, minlength: Any = 0, *, ans_bar: Any) -> Any:
    """Sums of the weights of equal whole numbers."""
    weights_bar = np.take(ans_bar, x)
    return weights_bar


@linear(np.tile, domain=("A(3), 2", "A(2,3), 2", "A(3), (2,2)", "A(2,3), (2,1)", "x, 3"))
def tile(A: Any, reps: Any, *, ans_bar: Any, A_shape: Any) -> Any:
    """Copies put beside and below each other."""
    A_bar = untile(ans_bar, A_shape, reps)
    return A_bar


@linear(untile, domain=("A(6), (3,), 2", "A(2,6), (3,), (2,2)", "A(4,3), (2,3), (2,1)"))
def untile_(t: Any, shape: Any, reps: Any, *, ans_bar: Any) -> Any:
    """Adjoint of tiling."""
    t_bar = np.tile(ans_bar, reps)
    return t_bar


@linear(np.pad, domain=("A(3), 1", "A(3), (1,2)", "A(2,3), ((1,0),(0,2))"))
def pad(array: Any, pad_width: Any, *, ans_bar: Any, array_shape: Any) -> Any:
    """A frame of zeros."""
    array_bar = unpad(ans_bar, array_shape, pad_width)
    return array_bar


@linear(unpad, domain=("A(5), (3,), 1", "A(3,5), (2,3), ((1,0),(0,2))"))
def unpad_(t: Any, shape: Any, pad_width: Any, *, ans_bar: Any) -> Any:
    """Adjoint of framing."""
    t_bar = np.pad(ans_bar, pad_width)
    return t_bar


@linear(np.ldexp, math.ldexp, domain=("x, 3", "-x, -2"))
def ldexp(x1: Any, x2: Any, *, ans_bar: Any) -> Any:
    """Times a power of two."""
    x1_bar = np.ldexp(ans_bar, x2)
    return x1_bar


@linear(*methods("view"), domain=("A(2,3)",))
def view(a: Any, *, ans_bar: Any) -> Any:
    """The same memory."""
    a_bar = ans_bar
    return a_bar
