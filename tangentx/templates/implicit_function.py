"""The implicit function theorem: rules of the operations by which solver results depend on parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import agreed, held_above, held_below, regular, settled, settled_row, valued, without_jumps
from tangentx.templates.registry import adjoint, constant

constant(held_above, held_below)


@adjoint(settled, domain=(), drawn=False)
def settled_(x: Any, residual: Any, slope: Any, *, ans_bar: Any) -> Any:
    """Where the residual stays zero, x moves by what it would move, over the slope."""
    residual_bar = -ans_bar / slope
    return residual_bar


@settled_.tangent
def settled_dot(x: Any, residual: Any, slope: Any, *, residual_dot: Any) -> Any:
    """Where the residual stays zero, x moves by what it would move, over the slope."""
    ans_dot = -residual_dot / slope
    return ans_dot


@adjoint(settled_row, domain=(), drawn=False)
def settled_row_(x: Any, residual: Any, slope: Any, *, ans_bar: Any) -> Any:
    """The same for a row, of which the slope is the Jacobian matrix."""
    residual_bar = -np.linalg.solve(np.transpose(slope), ans_bar)
    return residual_bar


@settled_row_.tangent
def settled_row_dot(x: Any, residual: Any, slope: Any, *, residual_dot: Any) -> Any:
    """The same for a row, of which the slope is the Jacobian matrix."""
    ans_dot = -np.linalg.solve(slope, residual_dot)
    return ans_dot


@adjoint(regular, domain=(), drawn=False)
def regular_(slope: Any, residual: Any, x: Any, *, ans_bar: Any) -> Any:
    """The identity."""
    slope_bar = ans_bar
    return slope_bar


@regular_.tangent
def regular_dot(slope: Any, residual: Any, x: Any, *, slope_dot: Any) -> Any:
    """The identity."""
    ans_dot = slope_dot
    return ans_dot


@adjoint(agreed, domain=(), drawn=False)
def agreed_(model: Any, value: Any, error: Any, what: Any, *, ans_bar: Any) -> Any:
    """The identity."""
    model_bar = ans_bar
    return model_bar


@agreed_.tangent
def agreed_dot(model: Any, value: Any, error: Any, what: Any, *, model_dot: Any) -> Any:
    """The identity."""
    ans_dot = model_dot
    return ans_dot


@adjoint(without_jumps, domain=(), drawn=False)
def without_jumps_(total: Any, values: Any, nodes: Any, ends: Any, *, ans_bar: Any) -> Any:
    """The identity."""
    total_bar = ans_bar
    return total_bar


@without_jumps_.tangent
def without_jumps_dot(total: Any, values: Any, nodes: Any, ends: Any, *, total_dot: Any) -> Any:
    """The identity."""
    ans_dot = total_dot
    return ans_dot


@adjoint(valued, domain=(), drawn=False)
def valued_(value: Any, model: Any, *, ans_bar: Any) -> Any:
    """That of the model."""
    model_bar = ans_bar
    return model_bar


@valued_.tangent
def valued_dot(value: Any, model: Any, *, model_dot: Any) -> Any:
    """That of the model."""
    ans_dot = model_dot
    return ans_dot
