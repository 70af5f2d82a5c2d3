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


@composition(
    integrate.simpson, domain=("A(5)", "A(4), dx=0.5", "A(2,5), np.array([0.0, 1.0, 1.5, 3.0, 3.7])", "A(6,2), axis=0")
)
def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: Any = -1) -> Any:
    """Integral by parabolas through three points each; of an even number of points the last interval has a parabola
    of its own (Cartwright 2017)."""
    rows = np.moveaxis(np.asarray(y), axis, -1)
    count = rows.shape[-1]
    if x is None:
        widths = dx * np.ones(count - 1)
    else:
        widths = np.diff(x) if np.ndim(x) == 1 else np.moveaxis(np.diff(x, axis=axis), axis, -1)
    if count == 2:
        return 0.5 * widths[..., 0] * (rows[..., 0] + rows[..., 1])
    last = count - 2 if count % 2 else count - 3
    left, right = widths[..., 0:last:2], widths[..., 1 : last + 1 : 2]
    both = left + right
    first = rows[..., 0:last:2] * (2.0 - ratio_or_zero(right, left))
    middle = rows[..., 1 : last + 1 : 2] * both * ratio_or_zero(both, left * right)
    end = rows[..., 2 : last + 2 : 2] * (2.0 - ratio_or_zero(left, right))
    total = np.sum(both / 6.0 * (first + middle + end), axis=-1)
    if count % 2:
        return total
    b, a = widths[..., -1], widths[..., -2]
    total = total + rows[..., -1] * ratio_or_zero(2.0 * b * b + 3.0 * a * b, 6.0 * (b + a))
    total = total + rows[..., -2] * ratio_or_zero(b * b + 3.0 * a * b, 6.0 * a)
    return total - rows[..., -3] * ratio_or_zero(b * b * b, 6.0 * a * (a + b))


@composition(integrate.romb, domain=("A(5)", "A(9), 0.5", "A(3,5), 0.5", "A(5,2), axis=0"))
def romb(y: Any, dx: Any = 1.0, axis: Any = -1, show: Any = False) -> Any:
    """Integral by trapezoids of halved widths, extrapolated."""
    rows = np.moveaxis(np.asarray(y), axis, -1)
    step = np.shape(rows)[-1] - 1
    found = [0.5 * dx * step * (rows[..., 0] + rows[..., -1])]
    while step > 1:
        step = step // 2
        line = [0.5 * found[0] + dx * step * np.sum(rows[..., step :: 2 * step], axis=-1)]
        factor = 1.0
        for known in found:
            factor = 4.0 * factor
            line.append(line[-1] + (line[-1] - known) / (factor - 1.0))
        found = line
    return found[-1]
