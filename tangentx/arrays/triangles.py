"""Triangular parts of matrices, as solvers read them, and sums of products at a lag."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.safe_arithmetic import guarded
from tangentx.errors import NotDifferentiable

_OTHER = {0: 1, 1: 0, "N": "T", "T": "N"}


def other_side(trans: Any) -> Any:
    """How the transposed system is asked for. Raises NotDifferentiable for the conjugate one."""
    if trans not in _OTHER:
        raise NotDifferentiable(
            f"a system with trans={trans!r} has no derivative", hint="conjugate the matrix, and use trans=1"
        )
    return _OTHER[trans]


def triangle(m: Any, lower: Any = False, unit_diagonal: Any = False) -> Any:
    """The part of a matrix that a triangular solver reads."""
    return np.tril(m, -1 if unit_diagonal else 0) if lower else np.triu(m, 1 if unit_diagonal else 0)


def turned(m: Any, trans: Any) -> Any:
    """The matrix of a system, transposed where `trans` says so."""
    return m if trans in (0, "N") else np.swapaxes(m, -1, -2)


def _row(values: Any) -> Any:
    """A list of numbers as an array; what is an array stays."""
    return np.asarray(values) if isinstance(values, list | tuple) else values


def lagged(g: Any, x: Any, like: Any, axis: Any = -1) -> Any:
    """Sums of ``g[n] * x[n - k]`` for as many `k` as `like` is long; one number where that is a number."""
    g, x = np.moveaxis(g, axis, -1), np.moveaxis(_row(x), axis, -1)
    length = x.shape[-1]
    found = [np.sum(guarded(g[..., k:], x[..., : length - k])) if k < length else 0.0 for k in range(np.size(like))]
    return np.array(found, np.result_type(g, x)).reshape(np.shape(like))[()]


def delayed(c: Any, x: Any, like: Any, axis: Any = -1) -> Any:
    """Sums of ``c[k] * x[n - k]`` over `k`, in the form of `like`: the adjoint of `lagged` in its first argument."""
    x = _row(x)
    moved = np.moveaxis(x, axis, -1)
    if np.ndim(c) == 0:
        c = (c,)
    kind = np.result_type(_row(c), x)
    total = np.zeros(moved.shape, kind)
    for k in range(min(len(c), moved.shape[-1])):
        total[..., k:] += guarded(c[k], moved[..., : moved.shape[-1] - k])
    return np.moveaxis(total, -1, axis)


def advanced(c: Any, g: Any, like: Any, axis: Any = -1) -> Any:
    """Sums of ``c[k] * g[n + k]`` over `k`: the adjoint of `lagged` in its second argument."""
    return np.flip(delayed(c, np.flip(g, axis), like, axis), axis)
