"""Convolutions of images, their adjoints, and the patches of images, by strided windows and matrix products.

Images are (batch, channels, height, width). A convolution is linear in the images and in the weights; each of the three
functions is made of the other two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.arrays.libraries import is_elsewhere, library_of, zeros_of

Pair = tuple[int, int]


def convolved(
    x: Any, weight: Any, stride: Pair = (1, 1), padding: Pair = (0, 0), dilation: Pair = (1, 1), groups: int = 1
) -> Any:
    """The correlation of images with `weight` (channels out, channels in / groups, height, width), as PyTorch's.

    Raises ValueError where the shapes do not fit.
    """
    record = _recorder(x, weight)
    if record is not None:
        return record(convolved, (x, weight, stride, padding, dilation, groups))
    _demand_fitting(np.shape(x), np.shape(weight), groups)
    columns, size = _columns(x, np.shape(weight), stride, padding, dilation, groups)
    rows = np.reshape(weight, (groups, weight.shape[0] // groups, -1))
    return np.reshape(rows @ columns, (x.shape[0], weight.shape[0], *size))


def convolved_left(t: Any, weight: Any, shape: Any, stride: Pair, padding: Pair, dilation: Pair, groups: int) -> Any:
    """Cotangent of the images, of `shape`, in a convolution."""
    record = _recorder(t, weight)
    if record is not None:
        return record(convolved_left, (t, weight, shape, stride, padding, dilation, groups))
    count, channels, height, width = shape
    rows = np.reshape(weight, (groups, weight.shape[0] // groups, -1))
    columns = np.swapaxes(rows, 1, 2) @ np.reshape(t, (count, groups, weight.shape[0] // groups, -1))
    parts = np.reshape(columns, (count, channels, *weight.shape[2:], *t.shape[2:]))
    (top, left), kernel = padding, weight.shape[2:]
    whole = zeros_of(parts, (count, channels, height + 2 * top, width + 2 * left))
    for place, i, j in _places(whole, kernel, stride, dilation, t.shape[2:]):
        place += parts[:, :, i, j]
    return whole[:, :, top : top + height, left : left + width].copy()


def convolved_right(t: Any, x: Any, shape: Any, stride: Pair, padding: Pair, dilation: Pair, groups: int) -> Any:
    """Cotangent of the weights, of `shape`, in a convolution."""
    record = _recorder(t, x)
    if record is not None:
        return record(convolved_right, (t, x, shape, stride, padding, dilation, groups))
    columns, size = _columns(x, shape, stride, padding, dilation, groups)
    moved = np.reshape(t, (x.shape[0], groups, shape[0] // groups, size[0] * size[1]))
    return np.reshape(np.sum(moved @ np.swapaxes(columns, 2, 3), axis=0), shape)


def patches(x: Any, kernel: Pair, stride: Pair, dilation: Pair = (1, 1)) -> Any:
    """All patches of images: (batch, channels, places down, places across, height, width of a patch)."""
    record = _recorder(x)
    if record is not None:
        return record(patches, (x, kernel, stride, dilation))
    size = _size(x.shape[2:], kernel, stride, dilation)
    found = np.moveaxis(_windows(x, kernel, stride, dilation, size), (2, 3), (4, 5))
    return found.copy() if is_elsewhere(x) else np.ascontiguousarray(found)


def from_patches(t: Any, shape: Any, stride: Pair, dilation: Pair = (1, 1)) -> Any:
    """Adjoint of `patches`: images of `shape` to which each patch is added in its place."""
    record = _recorder(t)
    if record is not None:
        return record(from_patches, (t, shape, stride, dilation))
    whole = zeros_of(t, shape)
    for place, i, j in _places(whole, t.shape[4:], stride, dilation, t.shape[2:4]):
        place += t[..., i, j]
    return whole


def _recorder(*args: Any) -> Callable[..., Any] | None:
    """What records the call on Tensors, if one of the arguments is one."""
    return next((type(a).__tangentx_record__ for a in args if hasattr(type(a), "__tangentx_record__")), None)


def _demand_fitting(images: Any, weight: Any, groups: int) -> None:
    if len(images) != 4 or len(weight) != 4:
        raise ValueError(f"images and weights have four axes, not the shapes {images} and {weight}")
    if images[1] != weight[1] * groups or weight[0] % groups:
        raise ValueError(f"images of shape {images} do not fit weights of shape {weight} in {groups} groups")


def _size(image: Any, kernel: Any, stride: Pair, dilation: Pair) -> Pair:
    """At how many places a kernel lies in an image."""
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    if any(n < r for n, r in zip(image, reach, strict=True)):
        raise ValueError(f"a kernel that reaches over {tuple(reach)} does not fit an image of {tuple(image)}")
    down, across = ((n - r) // s + 1 for n, r, s in zip(image, reach, stride, strict=True))
    return down, across


def _windows(x: Any, kernel: Any, stride: Pair, dilation: Pair, size: Pair) -> Any:
    """A view of images as (batch, channels, kernel, places)."""
    *outer, down, across = x.strides
    steps = (*outer, down * dilation[0], across * dilation[1], down * stride[0], across * stride[1])
    if is_elsewhere(x):
        return library_of(x).namespace.lib.stride_tricks.as_strided(x, (*x.shape[:2], *kernel, *size), steps)
    return np.lib.stride_tricks.as_strided(x, (*x.shape[:2], *kernel, *size), steps, writeable=False)


def _columns(x: Any, shape: Any, stride: Pair, padding: Pair, dilation: Pair, groups: int) -> tuple[Any, Pair]:
    """The patches of padded images as (batch, groups, what a patch has, places), and how many places there are."""
    top, left = padding
    if top or left:
        x = np.pad(x, ((0, 0), (0, 0), (top, top), (left, left)))
    size = _size(x.shape[2:], shape[2:], stride, dilation)
    windows = _windows(x, shape[2:], stride, dilation, size)
    return np.reshape(windows, (x.shape[0], groups, shape[1] * shape[2] * shape[3], size[0] * size[1])), size


def _places(whole: Any, kernel: Any, stride: Pair, dilation: Pair, size: Any) -> Any:
    """For each place in a kernel: the view of the images that it sees, and the place."""
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            down = slice(i * dilation[0], i * dilation[0] + stride[0] * (size[0] - 1) + 1, stride[0])
            across = slice(j * dilation[1], j * dilation[1] + stride[1] * (size[1] - 1) + 1, stride[1])
            yield whole[:, :, down, across], i, j
