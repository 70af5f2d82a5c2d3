"""Integrals of tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from tangentx.arrays import ratio_or_zero
from tangentx.templates.compositions import composition


@composition(integrate.trapezoid, domain=("A(4)", "A(2,4), np.array([0.0, 1.0, 1.5, 3.0])", "A(4,2), dx=0.5, axis=0"))
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """Integral by trapezoids."""
    return np.trapezoid(y, x, dx, axis)


@composition(
    integrate.cumulative_trapezoid,
    domain=("A(4)", "A(2,4), np.array([0.0, 1.0, 1.5, 3.0])", "A(4,2), dx=0.5, axis=0, initial=0"),
)
def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1, initial: Any = None) -> Any:
    """Integrals up to each point, by trapezoids."""
    rows = np.moveaxis(np.asarray(y), axis, -1)
    widths = dx if x is None else np.diff(x) if np.ndim(x) == 1 else np.moveaxis(np.diff(x, axis=axis), axis, -1)
    found = np.cumsum(0.5 * widths * (rows[..., 1:] + rows[..., :-1]), axis=-1)
    if initial is not None:
        found = np.concatenate([np.zeros_like(rows[..., :1]) + initial, found], axis=-1)
    return np.moveaxis(found, -1, axis)


def _widths(x: Any, dx: Any, axis: Any, count: Any) -> Any:
    """The widths of the intervals between points, along the last axis."""
    if x is None:
        step = np.asarray(dx)
        whole = np.moveaxis(step, axis, -1) if np.ndim(step) > 0 else np.reshape(step, (1,))
        return np.repeat(whole, count - 1, axis=-1)
    found = np.diff(x) if np.ndim(x) == 1 else np.moveaxis(np.diff(x, axis=axis), axis, -1)
    if np.any(found <= 0):
        raise ValueError("Input x must be strictly increasing.")
    return found


def _first_of_two(rows: Any, widths: Any, equal: Any) -> Any:
    """Integrals of the parabolas through three points each, over the first of the two intervals."""
    if equal:
        return widths[..., :-1] / 3.0 * (1.25 * rows[..., :-2] + 2.0 * rows[..., 1:-1] - 0.25 * rows[..., 2:])
    first, second = widths[..., :-1], widths[..., 1:]
    share = first / (first + second)
    bend = share * first / second
    heights = (3.0 - share) * rows[..., :-2] + (3.0 + bend + share) * rows[..., 1:-1] - bend * rows[..., 2:]
    return first / 6.0 * heights


@composition(
    integrate.cumulative_simpson,
    domain=(
        *("A(5)", "A(2,4), x=np.array([0.0, 1.0, 1.5, 3.0])", "A(4,2), dx=0.5, axis=0, initial=0", "A(2)"),
        *("A(2,5), x=np.cumsum(P(2,5), axis=-1), initial=A(2,1)", "A(2,6), dx=P(2,1)"),
    ),
)
def cumulative_simpson(y: Any, *, x: Any = None, dx: Any = 1.0, axis: Any = -1, initial: Any = None) -> Any:
    """Integrals up to each point, by parabolas through three points each: every interval lies in two of them, but for
    the first and the last, and is the first of two where its number is even."""
    rows = np.moveaxis(np.asarray(y), axis, -1)
    count = rows.shape[-1]
    if count < 3:
        found = np.moveaxis(integrate.cumulative_trapezoid(y, x, dx, axis), axis, -1)
    else:
        widths = _widths(x, dx, axis, count)
        places = np.arange(count - 1)
        before = _first_of_two(rows, widths, x is None)
        behind = np.flip(_first_of_two(np.flip(rows, -1), np.flip(widths, -1), x is None), -1)
        early = (places % 2 == 0) & (places < count - 2)
        each = np.where(early, before[..., np.minimum(places, count - 3)], behind[..., np.maximum(places - 1, 0)])
        found = np.cumsum(each, axis=-1)
    if initial is not None:
        given = np.asarray(initial) * 1.0
        start = np.moveaxis(given, axis, -1) if np.ndim(given) > 0 else given
        found = np.concatenate([np.zeros_like(rows[..., :1]) + start, found + start], axis=-1)
    return np.moveaxis(found, -1, axis)


@composition(
    integrate.simpson, domain=("A(5)", "A(4), dx=0.5", "A(2,5), np.array([0.0, 1.0, 1.5, 3.0, 3.7])", "A(6,2), axis=0")
)
def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: Any = -1) -> Any:
    """Integral by parabolas through three points each; of an even number of points the last interval has a parabola
    of its own (Cartwright 2017)."""
    rows = np.moveaxis(np.asarray(y), axis, -1)
    count = rows.shape[-1]
    widths = x
    if x is not None and np.ndim(x) == 1:
        widths = np.diff(x)
    elif x is not None:
        widths = np.moveaxis(np.diff(x, axis=axis), axis, -1)
    if count == 2:
        return 0.5 * (dx if x is None else widths[..., 0]) * (rows[..., 1] + rows[..., 0])
    if count % 2:
        return _of_pairs(rows, widths, dx, count - 2)
    total = _of_pairs(rows, widths, dx, count - 3)
    if x is None:  # without quotients of widths, so that `dx` may be 0
        total += np.float64(dx) * (5.0 * rows[..., -1] + 8.0 * rows[..., -2] - rows[..., -3]) / 12.0
        return total
    a, b = np.float64(widths[..., -2]), np.float64(widths[..., -1])
    last = ratio_or_zero(2 * b**2 + 3 * a * b, 6 * (b + a)) * rows[..., -1]
    last = last + ratio_or_zero(b**2 + 3.0 * a * b, 6 * a) * rows[..., -2]
    total += last - ratio_or_zero(b**3, 6 * a * (a + b)) * rows[..., -3]
    return total


def _of_pairs(rows: Any, widths: Any, dx: Any, last: int) -> Any:
    """Sum over the pairs of intervals before `last`, of widths in double precision or all of `dx`."""
    left, middle, right = rows[..., 0:last:2], rows[..., 1 : last + 1 : 2], rows[..., 2 : last + 2 : 2]
    if widths is None:
        total = np.sum(left + 4.0 * middle + right, axis=-1)
        total *= dx / 3.0
        return total
    a, b = np.float64(widths[..., 0:last:2]), np.float64(widths[..., 1 : last + 1 : 2])
    both = a + b
    parts = left * (2.0 - ratio_or_zero(b, a)) + middle * (both * ratio_or_zero(both, a * b))
    return np.sum(both / 6.0 * (parts + right * (2.0 - ratio_or_zero(a, b))), axis=-1)


@composition(integrate.romb, domain=("A(5)", "A(9), 0.5", "A(3,5), 0.5", "A(5,2), axis=0"))
def romb(y: Any, dx: Any = 1.0, axis: Any = -1, show: Any = False) -> Any:
    """Integral by trapezoids of halved widths, extrapolated."""
    rows = np.moveaxis(np.asarray(y), axis, -1)
    step = np.shape(rows)[-1] - 1
    width = step * np.float64(dx)
    found = [(rows[..., 0] + rows[..., -1]) / 2.0 * width]
    while step > 1:
        step = step // 2
        line = [0.5 * (found[0] + width * np.sum(rows[..., step :: 2 * step], axis=-1))]
        width = width / 2.0
        factor = 1.0
        for known in found:
            factor = 4.0 * factor
            line.append(line[-1] + (line[-1] - known) / (factor - 1.0))
        found = line
    return found[-1]
