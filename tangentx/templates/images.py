"""Rules of convolutions, and of sums and maxima over windows of images."""

from __future__ import annotations

from typing import Any

from tangentx.arrays import (
    convolved,
    convolved_left,
    convolved_right,
    part_means,
    spread_maxima,
    spread_means,
    spread_windows,
    sums_at_maxima,
    window_counts,
    window_maxima,
    window_sums,
)
from tangentx.templates.registry import adjoint, bilinear, constant, linear

# Convolutions of images.


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


# Sums and maxima over windows of images, and means over parts of them.

constant(window_counts)


@linear(
    window_sums,
    domain=(
        "A(1,2,4,3), 2, (2,1)",
        "A(2,1,5,3), (3,2), (1,2), (1,1), (1,1)",
        "A(1,1,5,4), (2,1), (1,3), (0,0), (3,1), True",
        "C(1,1,3,3), 2, None, (1,0), 1, True",
    ),
)
def window_sums_(
    x: Any,
    kernel: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil: Any = False,
    *,
    ans_bar: Any,
    x_shape: Any,
) -> Any:
    """Sums over windows, which may overlap."""
    x_bar = spread_windows(ans_bar, x_shape, kernel, stride, padding, dilation, ceil)
    return x_bar


@linear(
    spread_windows,
    domain=("A(1,2,2,4), (1,2,4,3), 2, (2,1), (0,1)", "A(1,1,3,2), (1,1,5,4), (2,1), (2,3), (1,0), (1,1), True"),
)
def spread_windows_(
    t: Any, shape: Any, kernel: Any, stride: Any, padding: Any, dilation: Any = 1, ceil: Any = False, *, ans_bar: Any
) -> Any:
    """What each place of a window has, given to all of its elements."""
    t_bar = window_sums(ans_bar, kernel, stride, padding, dilation, ceil)
    return t_bar


@adjoint(
    window_maxima,
    domain=(
        "A(1,2,4,3), 2, (2,1)",
        "A(2,1,5,3), (3,2), (1,2), (1,1), (1,1)",
        "A(1,1,5,4), (2,1), (1,3), (0,0), (3,1), True",
    ),
)
def window_maxima_(
    x: Any,
    kernel: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil: Any = False,
    *,
    ans: Any,
    ans_bar: Any,
) -> Any:
    """Maxima over windows; equal ones share."""
    x_bar = spread_maxima(ans_bar, x, ans, kernel, stride, padding, dilation)
    return x_bar


@window_maxima_.tangent
def window_maxima_tangent(
    x: Any,
    kernel: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil: Any = False,
    *,
    ans: Any,
    x_dot: Any,
) -> Any:
    """Mean of the tangents of the elements that win."""
    ans_dot = sums_at_maxima(x_dot, x, ans, kernel, stride, padding, dilation)
    return ans_dot


@linear(spread_maxima, domain=("A(1,2,2,3), A(1,2,4,3), A(1,2,2,3), (2,2), (2,1), (0,1), (1,1)",))
def spread_maxima_(
    t: Any, x: Any, best: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, *, ans_bar: Any
) -> Any:
    """Cotangents of windows, given to their maxima."""
    t_bar = sums_at_maxima(ans_bar, x, best, kernel, stride, padding, dilation)
    return t_bar


@linear(sums_at_maxima, domain=("A(1,2,4,3), A(1,2,4,3), A(1,2,2,3), (2,2), (2,1), (0,1), (1,1)",))
def sums_at_maxima_(
    a: Any, x: Any, best: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, *, ans_bar: Any
) -> Any:
    """Tangents of windows, those of their maxima."""
    a_bar = spread_maxima(ans_bar, x, best, kernel, stride, padding, dilation)
    return a_bar


@linear(part_means, domain=("A(1,2,4,3), 1", "A(2,1,5,3), (2,3)", "C(1,1,3,4), (2,None)"))
def part_means_(x: Any, parts: Any, *, ans_bar: Any, x_shape: Any) -> Any:
    """Means over parts of images."""
    x_bar = spread_means(ans_bar, x_shape)
    return x_bar


@linear(spread_means, domain=("A(1,2,1,1), (1,2,3,2)", "A(2,1,2,3), (2,1,5,4)"))
def spread_means_(t: Any, shape: Any, *, ans_bar: Any, t_shape: Any) -> Any:
    """Equal shares for the elements of each part."""
    t_bar = part_means(ans_bar, t_shape[2:])
    return t_bar
