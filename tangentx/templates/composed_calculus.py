"""Interpolation, integrals and derivatives of tables, in terms of sums and products."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition


@composition(
    np.interp,
    domain=(
        "A(3), np.array([-3.0, 0.1, 2.5]), A(3)",
        "x, P(1) * np.arange(4), A(4), -1.0, y",
        "x, P(1), A(1)",
        "[0.3, x, 9.0], np.array([0.0, 0.5, 1.0]), A(3)",
        "A(3), P(4).cumsum(), A(4), period=y + 8.0",
    ),
)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Straight lines between the points of a table; what NumPy gives where these are in no order depends on how it
    looks for them, and on what it has looked for before."""
    xp, fp = np.asarray(xp), np.asarray(fp)
    if isinstance(x, (list, tuple)):
        x = np.asarray(x)
    if np.result_type(x) == np.float32:  # NumPy goes on in double precision
        x = x.astype(np.float64)
    if xp.dtype == np.float32:
        xp = xp.astype(np.float64)
    if fp.dtype == np.float32:
        fp = fp.astype(np.float64)
    if period is not None:
        span = np.abs(period)
        order = np.argsort(xp % span)
        xp, fp = (xp % span)[order], fp[order]
        xp = np.concatenate([xp[-1:] - span, xp, xp[:1] + span])
        return np.interp(x % span, xp, np.concatenate([fp[-1:], fp, fp[:1]]))
    if np.any(xp[1:] < xp[:-1]):
        raise NotDifferentiable(
            "np.interp of points `xp` that do not increase has no meaning",
            hint="sort them: `order = np.argsort(xp)`, then `np.interp(x, xp[order], fp[order])`",
        )
    low = fp[0] if left is None else left
    high = fp[-1] if right is None else right
    last = xp[-1]
    if len(xp) == 1:
        xp, fp = np.append(xp, xp + 1.0), np.append(fp, fp)
    i = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, len(xp) - 2)
    width = xp[i + 1] - xp[i]
    unbounded = (np.isinf(xp[i]) | np.isinf(fp[i])) & (x != xp[i])
    start = np.where((width == 0) | unbounded, i + 1, i)  # the end that NumPy counts from
    rise = (fp[i + 1] - fp[i]) / np.where(width == 0, 1.0, width) * (x - xp[start])
    level = np.isnan(rise) & ((x == xp[start]) | (fp[i] == fp[i + 1]))  # beside an infinity
    between = fp[start] + np.where(level, 0.0, rise)
    if np.ndim(x) > 0:
        return np.where(x < xp[0], low, np.where(x > last, high, between))
    if x < xp[0]:
        return low
    return high if x > last else between


@composition(
    np.trapezoid,
    domain=(
        "A(4)",
        "A(4), dx=x",
        "A(4), P(4)",
        "A(3,4), P(3), axis=0",
        "A(3,4), P(3,4)",
        "A(3,4), axis=0",
        "A(2,3), [0.0, 1.0, 2.5]",
    ),
)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """Integral of a table by the trapezium rule."""
    if np.ndim(y) > 1:
        y = np.moveaxis(y, axis, -1)
    places = None if x is None else np.asarray(x)
    if places is not None and np.ndim(places) > 1:
        places = np.moveaxis(places, axis, -1)
    width = dx if places is None else np.diff(places)
    return np.sum(width * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)


@composition(
    np.gradient,
    domain=(
        "A(5)",
        "A(5), x",
        "A(5), P(5).cumsum()",
        "A(3,4), axis=0",
        "A(3,4), x, y",
        "A(3,4)",
        "A(3,4), x",
        "A(3,4), axis=(1, 0)",
        "A(3,4), x, P(4).cumsum(), axis=(0, 1)",
        "A(2,3,4), axis=-2",
        "A(2,3,4), x, P(3).cumsum(), y",
        "A(2,3,4), P(4).cumsum(), x, axis=(-1, 0)",
        "A(3,3), 2, edge_order=2",
        "A(5), x, edge_order=2",
        "A(5), np.array([0.0, 1.0, 1.5, 2.5, 2.75]), edge_order=2",
    ),
)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """Slopes of a table."""
    first = varargs[0] if len(varargs) > 0 else 1.0
    second = varargs[1] if len(varargs) > 1 else first
    third = varargs[2] if len(varargs) > 2 else first
    if axis is not None and not isinstance(axis, tuple):
        return _along(f, first, axis, edge_order)
    axes = (0, 1, 2)[: np.ndim(f)] if axis is None else axis
    if len(axes) > 3 or (axis is None and np.ndim(f) > 3):
        raise NotDifferentiable("np.gradient of so many axes has no derivative", hint="give it three axes at a time")
    if len(axes) == 1:
        return _along(f, first, axes[0], edge_order)
    if len(axes) == 2:
        return _along(f, first, axes[0], edge_order), _along(f, second, axes[1], edge_order)
    down, across = _along(f, first, axes[0], edge_order), _along(f, second, axes[1], edge_order)
    return down, across, _along(f, third, axes[2], edge_order)


def _along(f: Any, spacing: Any, axis: Any, edge_order: Any) -> Any:
    """Slopes along one axis."""
    if np.shape(f)[axis] < edge_order + 1:
        message = "Shape of array too small to calculate a numerical gradient, "
        raise ValueError(message + "at least (edge_order + 1) elements are required.")
    return np.moveaxis(_slopes(np.moveaxis(f, axis, -1), spacing, edge_order), -1, axis)


def _slopes(f: Any, spacing: Any, edge_order: Any) -> Any:
    """Slopes along the last axis; `spacing` is one number, or the coordinates."""
    if np.ndim(spacing) > 0:
        return _uneven_slopes(f, np.diff(spacing), edge_order)
    middle = (f[..., 2:] - f[..., :-2]) / (2.0 * spacing)
    if edge_order == 1:
        first = (f[..., 1:2] - f[..., :1]) / spacing
        last = (f[..., -1:] - f[..., -2:-1]) / spacing
    else:
        first = -1.5 / spacing * f[..., :1] + 2.0 / spacing * f[..., 1:2] + -0.5 / spacing * f[..., 2:3]
        last = 0.5 / spacing * f[..., -3:-2] + -2.0 / spacing * f[..., -2:-1] + 1.5 / spacing * f[..., -1:]
    return np.concatenate([first, middle, last], axis=-1)


def _uneven_slopes(f: Any, h: Any, edge_order: Any) -> Any:
    """Slopes along the last axis, between points at the distances `h`; numbers are as precise as those of `f`."""
    a, b = h[:-1], h[1:]
    middle = -b / (a * (a + b)) * f[..., :-2] + (b - a) / (a * b) * f[..., 1:-1] + a / (b * (a + b)) * f[..., 2:]
    if edge_order == 1:
        first = (f[..., 1:2] - f[..., :1]) / h[:1]
        last = (f[..., -1:] - f[..., -2:-1]) / h[-1:]
    else:
        a, b = h[:1], h[1:2]
        first = -(2.0 * a + b) / (a * (a + b)) * f[..., :1] + (a + b) / (a * b) * f[..., 1:2]
        first = first - a / (b * (a + b)) * f[..., 2:3]
        a, b = h[-2:-1], h[-1:]
        last = b / (a * (a + b)) * f[..., -3:-2] - (a + b) / (a * b) * f[..., -2:-1]
        last = last + (2.0 * b + a) / (b * (a + b)) * f[..., -1:]
    found = np.concatenate([first, middle, last], axis=-1)
    return found.astype(f.dtype) if np.issubdtype(f.dtype, np.inexact) else found


@composition(np.fft.fftfreq, domain=("5, x", "6, x"))
def fftfreq(n: Any, d: Any = 1.0) -> Any:
    """The frequencies of a transform of `n` samples that are `d` apart."""
    return np.concatenate([np.arange((n + 1) // 2), np.arange(-(n // 2), 0)]) * (1.0 / (n * d))


@composition(np.fft.rfftfreq, domain=("5, x", "6, x"))
def rfftfreq(n: Any, d: Any = 1.0) -> Any:
    """The frequencies of a transform of `n` real samples that are `d` apart."""
    return np.arange(n // 2 + 1) * (1.0 / (n * d))
