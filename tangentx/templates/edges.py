"""Rules of interpolation on images."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import edge_places, spline_weights, tap_places
from tangentx.templates.registry import adjoint, constant

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
