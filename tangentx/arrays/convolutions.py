"""Convolutions of images and their adjoints, by matrix products over sliding windows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx.arrays.libraries import is_elsewhere, zeros_of

# Sliding windows along one axis of images, for convolutions and pooling.


@dataclass(frozen=True)
class Axis:
    """Windows along one axis of an image: at how many `places`, and how many elements `before` the image they begin."""

    length: int
    kernel: int
    stride: int
    before: int
    dilation: int
    places: int

    def met(self, k: int) -> tuple[slice, slice] | None:
        """The places at which element `k` of a window lies in the image, and what it meets there; None for no place.

        >>> Axis(length=5, kernel=3, stride=2, before=1, dilation=1, places=3).met(0)
        (slice(1, 3, None), slice(1, 4, 2))
        """
        shift = k * self.dilation - self.before
        first = max(0, -(shift // self.stride))
        behind = min(self.places, (self.length - 1 - shift) // self.stride + 1)
        if first >= behind:
            return None
        start = first * self.stride + shift
        return slice(first, behind), slice(start, (behind - 1) * self.stride + shift + 1, self.stride)

    def steps(self) -> Iterator[tuple[slice, slice]]:
        """For each element of a window that lies in the image anywhere what `met` says."""
        for k in range(self.kernel):
            found = self.met(k)
            if found is not None:
                yield found

    def covers(self, steps: list[tuple[slice, slice]]) -> bool:
        """Whether the first element lies in the image at all places."""
        return bool(steps) and steps[0][0] == slice(0, self.places)


def source_places(length: int, count: int, factor: float | None, mode: str, aligned: bool) -> Any:
    """For each of `count` elements of a row made of `length` ones: the element it is taken from, the next one, and the
    weight of that. `factor` is how much longer the row was asked to be, None where its length was.

    >>> places, following, weights = source_places(2, 4, 2.0, "bilinear", False)
    >>> places, following, weights
    (array([0, 0, 0, 1]), array([1, 1, 1, 1]), array([0.  , 0.25, 0.75, 0.  ]))
    """
    if length == 0 or count <= 0:
        raise ValueError(f"a row of {length} elements cannot be made one of {count}")
    step = length / count if factor is None else 1.0 / factor
    if mode == "nearest":  # in single precision, as PyTorch does it
        at = np.floor(np.arange(count, dtype=np.float32) * np.float32(step))
        places = np.minimum(at.astype(np.int64), length - 1)
        return places, places, np.zeros(count)
    if aligned:
        position = np.arange(count) * ((length - 1) / (count - 1) if count > 1 else 0.0)
    else:
        position = np.maximum(step * (np.arange(count) + 0.5) - 0.5, 0.0)
    places = np.minimum(position.astype(np.int64), length - 1)
    following = np.minimum(places + 1, length - 1)
    return places, following, np.where(following > places, np.minimum(position - places, 1.0), 0.0)


# Convolutions of images and their adjoints, by matrix products.
#
# Images are (batch, channels, height, width). A convolution is linear in the images and in the weights; each of the
# three functions is made of the other two. What the kernel sees is laid out as a matrix for as many images at once as
# stay in a processor's cache: few large products keep all threads of a BLAS library busy, each of which waits for the
# others. Of an image that is too large for that, only what each column of the kernel sees is laid out, and each of
# its rows is a product: all patches would take the kernel's size times the memory.

Pair = tuple[int, int]
LAID_OUT = 1 << 24
"""Bytes of patches that are laid out at once."""
FEW = 16
"""Channels of a group whose products are small."""


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
    outer = [n + 2 * p for n, p in zip(x.shape[2:], padding, strict=True)]
    size = _size(outer, weight.shape[2:], stride, dilation)
    dtype = np.result_type(x.dtype, weight.dtype)
    seen = _seen(x.shape, weight.shape, stride, padding, dilation, size, groups)
    taps = _taps(weight, groups, _wide(dtype))
    found = np.empty_like(x, order="C", shape=(x.shape[0], weight.shape[0], *size), dtype=dtype)
    for part, laid in seen.parts(x, _wide(dtype)):
        terms = (_of_rows(taps, rows) @ seen.matrix(laid, rows) for rows in seen.blocks(laid))
        total = next(terms)
        for term in terms:
            total += term
        found[part] = _by_image(total, found[part].shape)
    return found


def convolved_left(t: Any, weight: Any, shape: Any, stride: Pair, padding: Pair, dilation: Pair, groups: int) -> Any:
    """Cotangent of the images, of `shape`, in a convolution."""
    record = recorder(t, weight)
    if record is not None:
        return record(convolved_left, (t, weight, shape, stride, padding, dilation, groups))
    down, across = (d * (k - 1) - p for d, k, p in zip(dilation, weight.shape[2:], padding, strict=True))
    few = weight.shape[0] <= 2 * shape[1]  # else there is less to lay out of the images than of `t`
    if few and stride == (1, 1) and down >= 0 and across >= 0:
        return convolved(t, _mirrored(weight, groups), stride, (down, across), dilation, groups)
    dtype = np.result_type(t.dtype, weight.dtype)
    seen = _seen(shape, weight.shape, stride, padding, dilation, t.shape[2:], groups)
    taps = _taps(weight, groups, _wide(dtype))
    found = zeros_of(t, shape).astype(_wide(dtype), copy=False)
    for part in seen.slices(found, found.dtype):
        bars = _by_channel(t[part], groups, _wide(dtype))
        laid = zeros_of(bars, seen.laid_shape(len(t[part])))
        for rows in seen.blocks(laid):
            products = np.swapaxes(_of_rows(taps, rows), 1, 2) @ bars
            each = products.shape[1] // (rows.stop - rows.start)
            for i in range(rows.start, rows.stop):
                row, first = seen.row(laid, i), (i - rows.start) * each
                row += np.reshape(products[:, first : first + each], row.shape)
        seen.give_back(laid, found[part])
    return found.astype(dtype, copy=False)


def convolved_right(t: Any, x: Any, shape: Any, stride: Pair, padding: Pair, dilation: Pair, groups: int) -> Any:
    """Cotangent of the weights, of `shape`, in a convolution."""
    record = recorder(t, x)
    if record is not None:
        return record(convolved_right, (t, x, shape, stride, padding, dilation, groups))
    dtype = np.result_type(t.dtype, x.dtype)
    wide = _wide(dtype)
    seen = _seen(x.shape, shape, stride, padding, dilation, t.shape[2:], groups)
    found = zeros_of(t, (groups, shape[0] // groups, shape[2], shape[1] * shape[3])).astype(wide, copy=False)
    for part, laid in seen.parts(x, wide):
        bars = _by_channel(t[part], groups, wide)
        for rows in seen.blocks(laid):
            products = bars @ np.swapaxes(seen.matrix(laid, rows), 1, 2)
            found[:, :, rows] += np.reshape(products, found[:, :, rows].shape)
    by_row = np.reshape(found, (shape[0], shape[2], shape[1], shape[3]))
    return np.swapaxes(by_row, 1, 2).astype(dtype, order="C")


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


def _wide(dtype: Any) -> Any:
    """The dtype in which products are summed: NumPy has no fast ones in float16."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def _taps(weight: Any, groups: int, dtype: Any) -> Any:
    """The weights as (groups, channels out / groups, rows of the kernel, channels in times its width)."""
    out, channels, height, width = weight.shape
    by_row = np.swapaxes(weight, 1, 2).astype(dtype, copy=False)
    return np.reshape(by_row, (groups, out // groups, height, channels * width))


def _of_rows(taps: Any, rows: slice) -> Any:
    """The weights of some rows of a kernel as matrices."""
    some = taps[:, :, rows]
    return np.reshape(some, (*some.shape[:2], some.shape[2] * some.shape[3]))


def _mirrored(weight: Any, groups: int) -> Any:
    """The weights of the convolution without strides that is the adjoint of one by `weight`."""
    out, channels, height, width = weight.shape
    parts = np.reshape(weight[:, :, ::-1, ::-1], (groups, out // groups, channels, height, width))
    return np.reshape(np.swapaxes(parts, 1, 2), (groups * channels, out // groups, height, width))


def _by_image(products: Any, shape: Any) -> Any:
    """What is (groups, channels / groups, places down, images and places across) by image."""
    count, channels, down, across = shape
    return np.transpose(np.reshape(products, (channels, down, count, across)), (2, 0, 1, 3))


def _by_channel(images: Any, groups: int, dtype: Any) -> Any:
    """The other way round."""
    count, channels, down, across = images.shape
    moved = np.transpose(images, (1, 2, 0, 3)).astype(dtype, order="C", copy=False)
    return np.reshape(moved, (groups, channels // groups, down * count * across))


@dataclass(frozen=True)
class _Seen:
    """What a kernel sees of images at its places, laid out for its columns.

    That is (channels, width of the kernel, stride, rows, images, places across): the rows of images that are a stride
    apart lie beside each other, so that what a row of the kernel sees is a view, and a matrix.
    """

    channels: int
    groups: int
    down: Axis
    across: Axis

    @property
    def phases(self) -> Axis:
        """How the rows of images lie: in phases that are rows one stride apart."""
        reach = self.down.dilation * (self.down.kernel - 1)
        count, rows = min(self.down.stride, reach + 1), self.down.places + reach // self.down.stride
        return Axis(self.down.length, count, self.down.stride, self.down.before, 1, rows)

    def laid_shape(self, count: int) -> tuple[int, ...]:
        """The shape for so many images."""
        phases = self.phases
        return self.channels, self.across.kernel, phases.kernel, phases.places, count, self.across.places

    def slices(self, images: Any, dtype: Any) -> Iterator[slice]:
        """Parts of a batch, as equal as can be, each laid out at once; the whole where it is elsewhere."""
        count = images.shape[0]
        size = self.down.kernel * dtype.itemsize * math.prod(self.laid_shape(count))
        parts = 1 if is_elsewhere(images) else max(1, min(-(-size // LAID_OUT), count))
        step = max(-(-count // parts), 1)
        for first in range(0, count, step):
            yield slice(first, min(first + step, count))

    def parts(self, images: Any, dtype: Any) -> Iterator[tuple[slice, Any]]:
        """Parts of a batch as they are laid out, one after the other in the same memory."""
        laid = zeros_of(images, (0,))
        for part in self.slices(images, dtype):
            some = images[part]
            shape = self.laid_shape(some.shape[0])
            if self._as_it_is(shape):
                yield part, np.reshape(some, shape).astype(dtype, copy=False)
                continue
            if laid.shape != shape:
                laid = np.zeros_like(images, order="C", shape=shape, dtype=dtype)
            for place, seen in self._places():
                laid[place] = np.transpose(some[seen], (1, 2, 0, 3))
            yield part, laid

    def _as_it_is(self, shape: tuple[int, ...]) -> bool:
        """Whether one image is what would be laid out of it."""
        return shape == (self.channels, 1, 1, self.down.length, 1, self.across.length)

    def give_back(self, laid: Any, images: Any) -> None:
        """Adds what is laid out to images: the adjoint of laying out."""
        for place, seen in self._places():
            images[seen] += np.transpose(laid[place], (2, 0, 1, 3))

    def _places(self) -> Iterator[tuple[Any, Any]]:
        """Where each part of images is laid out."""
        phases = self.phases
        for p in range(phases.kernel):
            for j in range(self.across.kernel):
                rows, columns = phases.met(p), self.across.met(j)
                if rows is not None and columns is not None:
                    yield (slice(None), j, p, rows[0], slice(None), columns[0]), (..., rows[1], columns[1])

    def row(self, laid: Any, i: int) -> Any:
        """What row `i` of a kernel sees: a view (channels, width of the kernel, places down, images, places across)."""
        first, phase = divmod(i * self.down.dilation, self.down.stride)
        return laid[:, :, phase, first : first + self.down.places]

    def blocks(self, laid: Any) -> Iterator[slice]:
        """The rows of a kernel that have one product: all of them, or each alone where their patches are too large, or
        where each group has few channels: to bring rows together takes longer than its products."""
        few = self.groups > 1 and self.channels // self.groups <= FEW
        whole = (self.down.kernel * laid.nbytes <= LAID_OUT and not few) or is_elsewhere(laid)
        step = self.down.kernel if whole else 1
        for first in range(0, self.down.kernel, step):
            yield slice(first, first + step)

    def matrix(self, laid: Any, rows: slice) -> Any:
        """What some rows of a kernel see: (groups, rows times channels times the kernel's width, places in all
        images); of one row a view."""
        shape = (self.groups, self.channels // self.groups * self.across.kernel, -1)
        parts = [np.reshape(self.row(laid, i), shape) for i in range(rows.start, rows.stop)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _seen(images: Any, weight: Any, stride: Pair, padding: Pair, dilation: Pair, size: Any, groups: int) -> _Seen:
    """What a kernel of weights of this shape sees at `size` places in images of this shape."""
    axes = zip(images[2:], weight[2:], stride, padding, dilation, size, strict=True)
    down, across = (Axis(*axis) for axis in axes)
    return _Seen(images[1], groups, down, across)
