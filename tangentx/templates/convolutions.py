"""Convolutions of images."""

from __future__ import annotations

from typing import Any

from tangentx.arrays import convolved, convolved_left, convolved_right
from tangentx.templates.registry import bilinear


@bilinear(
    convolved,
    domain=(
        "A(2,2,4,3), A(3,2,2,2)",
        "A(1,2,5,4), A(2,2,3,2), (2,1), (1,2), (1,2)",
        "A(1,4,3,3), A(2,2,2,2), (1,1), (0,0), (1,1), 2",
        "C(1,1,3,3), C(1,1,2,2)",
    ),
)
def convolved_(
    x: Any,
    weight: Any,
    stride: Any = (1, 1),
    padding: Any = (0, 0),
    dilation: Any = (1, 1),
    groups: Any = 1,
    *,
    ans_bar: Any,
    x_shape: Any,
    weight_shape: Any,
) -> Any:
    """Correlation of images with weights."""
    x_bar = convolved_left(ans_bar, weight, x_shape, stride, padding, dilation, groups)
    weight_bar = convolved_right(ans_bar, x, weight_shape, stride, padding, dilation, groups)
    return x_bar, weight_bar


@bilinear(convolved_left, domain=("A(1,2,3,3), A(2,1,3,2), (1,1,5,4), (2,1), (1,0), (1,1), 1",))
def convolved_left_(
    t: Any,
    weight: Any,
    shape: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
    *,
    ans_bar: Any,
    weight_shape: Any,
) -> Any:
    """Adjoint of a convolution in the images."""
    t_bar = convolved(ans_bar, weight, stride, padding, dilation, groups)
    weight_bar = convolved_right(t, ans_bar, weight_shape, stride, padding, dilation, groups)
    return t_bar, weight_bar


@bilinear(convolved_right, domain=("A(1,2,3,3), A(1,1,5,4), (2,1,3,2), (2,1), (1,0), (1,1), 1",))
def convolved_right_(
    t: Any, x: Any, shape: Any, stride: Any, padding: Any, dilation: Any, groups: Any, *, ans_bar: Any, x_shape: Any
) -> Any:
    """Adjoint of a convolution in the weights."""
    t_bar = convolved(x, ans_bar, stride, padding, dilation, groups)
    x_bar = convolved_left(t, ans_bar, x_shape, stride, padding, dilation, groups)
    return t_bar, x_bar
