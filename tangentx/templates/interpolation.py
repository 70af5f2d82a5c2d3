"""Rules of interpolation: piecewise polynomials, and images between their elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import (
    edge_places,
    interval_of,
    knot_span,
    power_rows,
    power_sum,
    spline_weights,
    tap_places,
    trailing_spread,
    trailing_sum,
)
from tangentx.templates.registry import adjoint, constant, linear

# Rules of interpolation on images.

constant(edge_places, tap_places)


@adjoint(spline_weights, domain=("0.5 * U(3) + 1.5, 3", "0.4 * U(3) + 1.0, 2, 1", "0.4 * U(3) + 0.5, 1"))
def spline_weights_(t: Any, order: Any, derivative: Any = 0, *, ans_bar: Any) -> Any:
    """The next derivative."""
    t_bar = np.sum(spline_weights(t, order, derivative + 1) * ans_bar, axis=0)
    return t_bar


@spline_weights_.tangent
def spline_weights_dot(t: Any, order: Any, derivative: Any = 0, *, t_dot: Any) -> Any:
    """The next derivative."""
    ans_dot = spline_weights(t, order, derivative + 1) * t_dot
    return ans_dot


# Rules of piecewise polynomials.

constant(interval_of, knot_span)


@linear(trailing_sum, domain=("A(3,2), A(3)", "A(3), A(3)"))
def trailing_sum_(a: Any, like: Any, *, ans_bar: Any) -> Any:
    """Repeated along the axes that were summed."""
    a_bar = trailing_spread(ans_bar, a)
    return a_bar


@linear(trailing_spread, domain=("A(3), A(3,2)", "A(3), A(3)"))
def trailing_spread_(g: Any, like: Any, *, ans_bar: Any) -> Any:
    """Summed along the axes behind."""
    g_bar = trailing_sum(ans_bar, g)
    return g_bar


@adjoint(power_sum, domain=("A(4,3), A(3)", "A(4,3,2), A(3), 1", "A(2,3), A(3), 2"))
def power_sum_(rows: Any, t: Any, order: Any = 0, *, ans_bar: Any) -> Any:
    """The powers, and the derivative of the next order."""
    rows_bar = power_rows(ans_bar, t, rows, order)
    t_bar = trailing_sum(power_sum(rows, t, order + 1) * ans_bar, t)
    return rows_bar, t_bar


@power_sum_.tangent
def power_sum_dot(rows: Any, t: Any, order: Any = 0, *, rows_dot: Any, t_dot: Any) -> Any:
    """The same sum of the tangents, and the derivative of the next order."""
    slope = power_sum(rows, t, order + 1)
    ans_dot = power_sum(rows_dot, t, order) + slope * trailing_spread(t_dot, slope)
    return ans_dot


@adjoint(power_rows, domain=("A(3), A(3), np.zeros((4, 1))", "A(3,2), A(3), np.zeros((4, 1)), 1"))
def power_rows_(g: Any, t: Any, like: Any, order: Any = 0, *, ans_bar: Any) -> Any:
    """The sum of powers with the cotangent, and its derivative."""
    g_bar = power_sum(ans_bar, t, order)
    t_bar = trailing_sum(power_sum(ans_bar, t, order + 1) * g, t)
    return g_bar, t_bar


@power_rows_.tangent
def power_rows_dot(g: Any, t: Any, like: Any, order: Any = 0, *, g_dot: Any, t_dot: Any) -> Any:
    """The powers of the tangents, and the derivatives of the powers."""
    moved = g * trailing_spread(t_dot, g)
    ans_dot = power_rows(g_dot, t, like, order) + power_rows(moved, t, like, order + 1)
    return ans_dot
