"""Interpolation, integrals and derivatives of tables, and norms, in terms of sums and products."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import det_sign, log_det
from tangentx.errors import NotDifferentiable
from tangentx.templates.compositions import composition

_SIGN_AND_LOG: Any = type(np.linalg.slogdet(np.eye(1)))


@composition(
    np.interp,
    domain=("A(3), np.array([-3.0, 0.1, 2.5]), A(3)", "x, P(1) * np.arange(4), A(4), -1.0, y", "x, P(1), A(1)"),
)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    """Straight lines between the points of a table; what NumPy gives where these are in no order depends on how it
    looks for them, and on what it has looked for before."""
    xp, fp = np.asarray(xp), np.asarray(fp)
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
    start = np.where((width == 0) | np.isinf(xp[i]), i + 1, i)  # the end that NumPy counts from
    between = fp[start] + (fp[i + 1] - fp[i]) / np.where(width == 0, 1.0, width) * (x - xp[start])
    if np.ndim(x) > 0:
        return np.where(x < xp[0], low, np.where(x > last, high, between))
    if x < xp[0]:
        return low
    return high if x > last else between


@composition(
    np.trapezoid,
    domain=("A(4)", "A(4), dx=x", "A(4), P(4)", "A(3,4), P(3), axis=0", "A(3,4), P(3,4)", "A(3,4), axis=0"),
)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """Integral of a table by the trapezium rule."""
    if np.ndim(y) > 1:
        y = np.moveaxis(y, axis, -1)
    if x is not None and np.ndim(x) > 1:
        x = np.moveaxis(x, axis, -1)
    width = dx if x is None else np.diff(x)
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
    return np.moveaxis(_slopes(np.moveaxis(f, axis, -1), spacing, edge_order), -1, axis)


def _slopes(f: Any, spacing: Any, edge_order: Any) -> Any:
    """Slopes along the last axis; `spacing` is one number, or the coordinates."""
    h = np.diff(spacing) if np.ndim(spacing) > 0 else spacing * np.ones(f.shape[-1] - 1)
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
    return np.concatenate([first, middle, last], axis=-1)


@composition(
    np.linalg.norm,
    domain=("A(3), 2", "A(3), 1", "A(3), ord=np.inf", "A(3), ord=3", "A(2,3), 1, axis=1", "A(2,3), 'fro'", "A(2,3), 1"),
)
def norm(x: Any, ord: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """Norms of vectors by their order, and those norms of matrices that are sums or maxima."""
    if isinstance(axis, tuple) or (np.ndim(x) > 2 and axis is None):
        raise NotDifferentiable("this norm of matrices has no derivative", hint="take the norm of one matrix at a time")
    if ord is None or ord == "fro":
        return np.linalg.norm(x, axis=axis, keepdims=keepdims)
    if np.ndim(x) == 2 and axis is None:
        return _matrix_norm(np.abs(x), ord)
    if ord == 2:
        return np.linalg.norm(x, axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == np.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(np.abs(x).dtype), axis=axis, keepdims=keepdims)
    if ord < 0:
        return np.sum(np.abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)
    total = np.sum(_power_of_some(np.abs(x), ord), axis=axis, keepdims=keepdims)
    return _power_of_some(total, 1.0 / ord)[()]


@composition(
    np.linalg.vector_norm,
    domain=("A(3)", "A(3), ord=1", "A(2,3), axis=1, ord=3"),
)
def vector_norm(x: Any, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    """Norms of vectors; of all elements in a row where there is no axis."""
    if axis is None and not keepdims:
        return np.linalg.norm(np.ravel(x), ord)
    if isinstance(axis, tuple) or axis is None:
        raise NotDifferentiable("this norm of several axes has no derivative", hint="reshape to one axis first")
    return np.linalg.norm(x, ord, axis=axis, keepdims=keepdims)


@composition(np.linalg.matrix_norm, domain=("A(2,3)", "A(2,3), ord=1"))
def matrix_norm(x: Any, *, keepdims: Any = False, ord: Any = "fro") -> Any:
    """Norms of a matrix."""
    if np.ndim(x) != 2 or keepdims:
        raise NotDifferentiable("this norm of matrices has no derivative", hint="take the norm of one matrix at a time")
    return np.linalg.norm(x, ord)


def _power_of_some(sizes: Any, exponent: Any) -> Any:
    """A power of what is not 0, which has no slope there."""
    zero = sizes == 0.0
    return np.where(zero, 0.0, np.where(zero, 1.0, sizes) ** exponent)


def _matrix_norm(sizes: Any, ord: Any) -> Any:
    """The largest sum of a column or of a row."""
    if ord == 1:
        return np.max(np.sum(sizes, axis=0))
    if ord == np.inf:
        return np.max(np.sum(sizes, axis=1))
    if ord == -1:
        return np.min(np.sum(sizes, axis=0))
    if ord == -np.inf:
        return np.min(np.sum(sizes, axis=1))
    raise NotDifferentiable("this norm of a matrix has no derivative", hint="use 'fro', 1, -1 or an infinity")


@composition(np.fft.fftfreq, domain=("5, x", "6, x"))
def fftfreq(n: Any, d: Any = 1.0) -> Any:
    """The frequencies of a transform of `n` samples that are `d` apart."""
    return np.concatenate([np.arange((n + 1) // 2), np.arange(-(n // 2), 0)]) / (n * d)


@composition(np.fft.rfftfreq, domain=("5, x", "6, x"))
def rfftfreq(n: Any, d: Any = 1.0) -> Any:
    """The frequencies of a transform of `n` real samples that are `d` apart."""
    return np.arange(n // 2 + 1) / (n * d)


@composition(np.linalg.slogdet, domain=("A(2,2)", "A(3,2,2)"))
def slogdet(a: Any) -> Any:
    """Sign and logarithm of the determinant."""
    if np.iscomplexobj(a):
        raise NotDifferentiable("np.linalg.slogdet of a complex matrix has no derivative", hint="take real matrices")
    return _SIGN_AND_LOG(det_sign(a), log_det(a))


@composition(np.linalg.matrix_power, domain=("A(2,2), 3", "A(3,2,2), 0", "A(2,2) + 4.0 * np.eye(2), -2"))
def matrix_power(a: Any, n: Any) -> Any:
    """Repeated product of a matrix with itself; once is the matrix, no copy."""
    if n == 1:
        return a
    factor = np.linalg.inv(a) if n < 0 else a
    result = np.copy(np.broadcast_to(np.eye(a.shape[-1]), np.shape(a)))
    for _ in range(abs(n)):
        result = np.matmul(result, factor)
    return result
