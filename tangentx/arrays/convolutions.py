"""Convolutions of images and their adjoints, by matrix products.

Images are (batch, channels, height, width). A convolution is linear in the images and in the weights; each of the three
functions is made of the other two. It is a sum over the rows of the kernel, each a matrix product: the patches of
images, all of which would take the kernel's size times the memory, are never laid out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tangentx.arrays.libraries import is_elsewhere, zeros_of

Pair = tuple[int, int]
CACHED = 1 << 20
"""Bytes of results that are computed at once."""


def convolved(
    x: Any, weight: Any, stride: Pair = (1, 1), padding: Pair = (0, 0), dilation: Pair = (1, 1), groups: int = 1
) -> Any:
    """The correlation of images with `weight` (channels out, channels in / groups, height, width), as PyTorch's.

    Raises ValueError where the shapes do not fit.
    """
    record = recorder(x, weight)
    if record is not None:
        return record(convolved, (x, weight, stride, padding, dilation, groups))
    _demand_fitting(np.shape(x), np.shape(weight), groups)
    taps = _taps(weight, groups)
    size = _size([n + 2 * p for n, p in zip(x.shape[2:], padding, strict=True)], weight.shape[2:], stride, dilation)
    shape = (x.shape[0], groups, weight.shape[0] // groups, size[0] * size[1])
    found = np.zeros_like(x, order="C", shape=shape, dtype=np.result_type(x.dtype, weight.dtype))
    for part in _parts(found):
        moved = _moved(x[part], weight.shape[3], size[1], stride, padding, dilation)
        found[part] = taps[0] @ _under(moved, 0, size, stride, dilation, groups)
        for i in range(1, len(taps)):
            found[part] += taps[i] @ _under(moved, i, size, stride, dilation, groups)
    return np.reshape(found, (x.shape[0], weight.shape[0], *size))


def convolved_left(t: Any, weight: Any, shape: Any, stride: Pair, padding: Pair, dilation: Pair, groups: int) -> Any:
    """Cotangent of the images, of `shape`, in a convolution."""
    record = recorder(t, weight)
    if record is not None:
        return record(convolved_left, (t, weight, shape, stride, padding, dilation, groups))
    down, across = (d * (k - 1) - p for d, k, p in zip(dilation, weight.shape[2:], padding, strict=True))
    if stride == (1, 1) and down >= 0 and across >= 0:
        return convolved(t, _mirrored(weight, groups), stride, (down, across), dilation, groups)
    (count, channels, height, width), (top, left), kernel, size = shape, padding, weight.shape[2:], t.shape[2:]
    moved = np.reshape(t, (count, groups, weight.shape[0] // groups, -1))
    dtype = np.result_type(t.dtype, weight.dtype)
    outer = (count, channels, height + 2 * top, width + 2 * left)
    whole = np.zeros_like(t, order="C", shape=outer, dtype=dtype)
    for part in _parts(whole):
        for i, tap in enumerate(_taps(weight, groups)):
            row = np.reshape(np.swapaxes(tap, 1, 2) @ moved[part], (-1, channels, kernel[1], *size))
            for j in range(kernel[1]):
                place = _place(whole[part], i, j, stride, dilation, size)
                place += row[:, :, j]
    return whole[:, :, top : top + height, left : left + width].copy()


def convolved_right(t: Any, x: Any, shape: Any, stride: Pair, padding: Pair, dilation: Pair, groups: int) -> Any:
    """Cotangent of the weights, of `shape`, in a convolution."""
    record = recorder(t, x)
    if record is not None:
        return record(convolved_right, (t, x, shape, stride, padding, dilation, groups))
    size = t.shape[2:]
    bars = np.reshape(t, (x.shape[0], groups, shape[0] // groups, size[0] * size[1]))
    dtype = np.result_type(t.dtype, x.dtype)
    found = np.zeros_like(t, order="C", shape=(groups, shape[0] // groups, *shape[1:]), dtype=dtype)
    for part in _parts(x):
        moved = _moved(x[part], shape[3], size[1], stride, padding, dilation)
        for i in range(shape[2]):
            columns = _under(moved, i, size, stride, dilation, groups)
            products = np.sum(bars[part] @ np.swapaxes(columns, 2, 3), axis=0)
            found[:, :, :, i] += np.reshape(products, (groups, shape[0] // groups, shape[1], shape[3]))
    return np.reshape(found, shape)


def recorder(*args: Any) -> Callable[..., Any] | None:
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


def _taps(weight: Any, groups: int) -> list[Any]:
    """For each row of a kernel its weights as (groups, channels out, channels in times the width of the kernel)."""
    out, channels, height, width = weight.shape
    parts = np.reshape(weight, (groups, out // groups, channels, height, width))
    return [np.reshape(parts[:, :, :, i], (groups, out // groups, channels * width)) for i in range(height)]


def _mirrored(weight: Any, groups: int) -> Any:
    """The weights of the convolution without strides that is the adjoint of one by `weight`."""
    out, channels, height, width = weight.shape
    parts = np.reshape(weight[:, :, ::-1, ::-1], (groups, out // groups, channels, height, width))
    return np.reshape(np.swapaxes(parts, 1, 2), (groups * channels, out // groups, height, width))


def _parts(images: Any) -> Iterator[slice]:
    """Parts of a batch that stay in a processor's cache, one image at least; the whole where it is elsewhere."""
    count = images.shape[0]
    step = count if is_elsewhere(images) else CACHED * count // max(images.nbytes, 1)
    for first in range(0, count, max(step, 1)):
        yield slice(first, first + max(step, 1))


def _moved(x: Any, width: int, across: int, stride: Pair, padding: Pair, dilation: Pair) -> Any:
    """What each column of a kernel of `width` sees of padded images: (batch, channels, width, rows, places across).

    This is `width` times the images, where all patches would be that many times its height.
    """
    (top, left), step = padding, stride[1]
    if width == 1 and top == left == 0 and step == 1:
        return np.expand_dims(x, 2)
    count, channels, height, length = x.shape
    moved = zeros_of(x, (count, channels, width, height + 2 * top, across))
    for j in range(width):
        shift = j * dilation[1] - left
        first, behind = max(0, -(shift // step)), min(across, (length - 1 - shift) // step + 1)
        if first < behind:
            seen = slice(first * step + shift, (behind - 1) * step + shift + 1, step)
            moved[:, :, j, top : top + height, first:behind] = x[..., seen]
    return moved


def _under(moved: Any, i: int, size: Any, stride: Pair, dilation: Pair, groups: int) -> Any:
    """What row `i` of a kernel sees: (batch, groups, channels times the kernel's width, places), without strides a
    view."""
    count, channels, width = moved.shape[:3]
    first = i * dilation[0]
    rows = moved[:, :, :, first : first + stride[0] * (size[0] - 1) + 1 : stride[0]]
    return np.reshape(rows, (count, groups, channels // groups * width, size[0] * size[1]))


def _place(whole: Any, i: int, j: int, stride: Pair, dilation: Pair, size: Any) -> Any:
    """The view of the images that the place (i, j) in a kernel sees."""
    down = slice(i * dilation[0], i * dilation[0] + stride[0] * (size[0] - 1) + 1, stride[0])
    across = slice(j * dilation[1], j * dilation[1] + stride[1] * (size[1] - 1) + 1, stride[1])
    return whole[:, :, down, across]
