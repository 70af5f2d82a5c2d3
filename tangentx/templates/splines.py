"""Rules of piecewise polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import interval_of, knot_span, power_rows, power_sum, trailing_sum
from tangentx.templates.registry import adjoint, constant, linear

constant(interval_of, knot_span)


@linear(trailing_sum, domain=("A(3,2), A(3)", "A(3), A(3)"))
def trailing_sum_(a: Any, like: Any, *, ans_bar: Any, a_shape: Any) -> Any:
    """Repeated along the axes that were summed."""
    a_bar = np.broadcast_to(np.expand_dims(ans_bar, tuple(range(np.ndim(ans_bar), len(a_shape)))), a_shape)
    return a_bar


@adjoint(power_sum, domain=("A(4,3), A(3)", "A(4,3,2), A(3), 1", "A(2,3), A(3), 2"))
def power_sum_(rows: Any, t: Any, order: Any = 0, *, ans_bar: Any) -> Any:
    """The powers, and the derivative of the next order."""
    rows_bar = power_rows(ans_bar, t, rows, order)
    t_bar = trailing_sum(power_sum(rows, t, order + 1) * ans_bar, t)
    return rows_bar, t_bar


@power_sum_.tangent
def power_sum_dot(rows: Any, t: Any, order: Any = 0, *, rows_dot: Any, t_dot: Any, rows_shape: Any) -> Any:
    """The same sum of the tangents, and the derivative of the next order."""
    slope = power_sum(rows, t, order + 1)
    along = np.expand_dims(t_dot, tuple(range(np.ndim(t_dot), len(rows_shape) - 1)))
    ans_dot = power_sum(rows_dot, t, order) + slope * along
    return ans_dot


@adjoint(power_rows, domain=("A(3), A(3), np.zeros((4, 1))", "A(3,2), A(3), np.zeros((4, 1)), 1"))
def power_rows_(g: Any, t: Any, like: Any, order: Any = 0, *, ans_bar: Any) -> Any:
    """The sum of powers with the cotangent, and its derivative."""
    g_bar = power_sum(ans_bar, t, order)
    t_bar = trailing_sum(power_sum(ans_bar, t, order + 1) * g, t)
    return g_bar, t_bar


@power_rows_.tangent
def power_rows_dot(g: Any, t: Any, like: Any, order: Any = 0, *, g_dot: Any, t_dot: Any, g_shape: Any) -> Any:
    """The powers of the tangents, and the derivatives of the powers."""
    along = np.expand_dims(t_dot, tuple(range(np.ndim(t_dot), len(g_shape))))
    ans_dot = power_rows(g_dot, t, like, order) + power_rows(g * along, t, like, order + 1)
    return ans_dot
