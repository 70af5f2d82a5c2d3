"""Sums and maxima over windows of images, and their adjoints, one axis of the windows after the other.

Images are (batch, channels, height, width). What a window holds beyond an image does not count. First the rows of a
window are taken together, over whole rows of the images, then its columns: a window of k times k costs 2 k steps.
Images are taken in parts that stay in a processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tangentx.arrays.convolutions import Axis, recorder
from tangentx.arrays.libraries import is_elsewhere, zeros_of

CACHED = 1 << 19
"""Bytes of images that are taken at once."""


def _axes(
    size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool = False, places: Any = None
) -> tuple[Axis, Axis]:
    """Windows along both axes of images of this size: at so many `places`, or as many as there are."""
    made = []
    pairs = zip(size, *map(_pair, (kernel, kernel if stride is None else stride, padding, dilation)), strict=True)
    for i, (length, width, step, before, gap) in enumerate(pairs):
        reach = gap * (width - 1) + 1
        if min(width, step, gap) < 1 or not 0 <= 2 * before <= reach:
            raise ValueError(
                "windows have a kernel, stride and dilation of at least 1 and a padding of at most half of what they "
                f"reach over, not kernel {kernel}, stride {stride}, padding {padding}, dilation {dilation}"
            )
        count = _places(length + before, before - reach, step, ceil) if places is None else places[i]
        if count < 1:
            raise ValueError(f"a window that reaches over {reach} does not fit an image of {tuple(size)}")
        made.append(Axis(length, width, step, before, gap, count))
    return made[0], made[1]


def _pair(value: Any) -> tuple[int, int]:
    """One number for both axes, or one for each."""
    if not isinstance(value, tuple | list):
        return value, value
    if len(value) != 2:
        raise ValueError(f"windows have one number for both axes or a pair of them, not {value}")
    return value[0], value[1]


def _places(end: int, behind: int, stride: int, ceil: bool) -> int:
    """At how many places windows lie before `end`; with `ceil`, the last may reach beyond it, not begin there."""
    room = end + behind
    if not ceil:
        return room // stride + 1
    places = -(-room // stride) + 1
    return places - 1 if (places - 1) * stride >= end else places


def _planes(x: Any) -> Any:
    """Images without regard to batch and channel: (images, height, width)."""
    if np.ndim(x) != 4:
        raise ValueError(f"images have four axes, not the shape {np.shape(x)}")
    return np.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def _parts(planes: Any) -> Iterator[slice]:
    """Parts of images that stay in a processor's cache; all of them where they lie elsewhere."""
    count = planes.shape[0]
    step = count if is_elsewhere(planes) else CACHED * count // max(planes.nbytes, 1)
    for first in range(0, count, max(step, 1)):
        yield slice(first, first + max(step, 1))


def _new(like: Any, shape: tuple[int, ...], dtype: Any = None) -> Any:
    return np.empty_like(like, dtype, order="C", shape=shape)


# ---- both axes: the rows of the windows, then their columns, which the last axis has


def _at(axis: int, places: slice) -> tuple[slice, ...]:
    return (slice(None), places) if axis == 1 else (slice(None), slice(None), places)


def _reduced(x: Any, axis: int, windows: Axis, function: Any, start: Any, out: Any = None) -> Any:
    """Elements of windows along an axis of planes, taken together by a function; `start` where there are none."""
    steps = list(windows.steps())
    found = _new(x, (*x.shape[:axis], windows.places, *x.shape[axis + 1 :])) if out is None else out
    if windows.covers(steps):
        found[...] = x[_at(axis, steps.pop(0)[1])]
    else:
        found[...] = start
    for places, seen in steps:
        part = found[_at(axis, places)]
        function(part, x[_at(axis, seen)], out=part)
    return found


def _spread(t: Any, axis: int, windows: Axis, out: Any = None) -> Any:
    """Adjoint of the sums along an axis: what each window has goes to all of its elements."""
    found = _new(t, (*t.shape[:axis], windows.length, *t.shape[axis + 1 :])) if out is None else out
    steps = list(windows.steps())
    apart = windows.stride >= windows.dilation * (windows.kernel - 1) + 1
    if not apart or sum(len(range(*seen.indices(windows.length))) for _, seen in steps) < windows.length:
        found[...] = 0
    for places, seen in steps:
        part, given = found[_at(axis, seen)], t[_at(axis, places)]
        if apart:
            part[...] = given
        else:
            np.add(part, given, out=part)
    return found


# ---- sums


def window_sums(
    x: Any, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil: bool = False
) -> Any:
    """Sums over windows of images; with `ceil` the last windows may reach beyond an image, as PyTorch's.

    How windows lie is said by one number for both axes, or one for each; `stride` is `kernel` where it is None.
    Raises ValueError where a window does not fit.
    """
    record = recorder(x)
    if record is not None:
        return record(window_sums, (x, kernel, stride, padding, dilation, ceil))
    planes = _planes(x)
    down, across = _axes(x.shape[2:], kernel, stride, padding, dilation, ceil)
    dtype = np.sum(np.zeros(0, planes.dtype)).dtype
    found = _new(planes, (planes.shape[0], down.places, across.places), dtype)
    for part in _parts(planes):
        rows = _reduced(_wide(planes[part]), 1, down, np.add, 0)
        if rows.dtype == dtype:
            _reduced(rows, 2, across, np.add, 0, found[part])
        else:
            found[part] = _reduced(rows, 2, across, np.add, 0)
    return np.reshape(found, (*x.shape[:2], *found.shape[1:]))


def spread_windows(
    t: Any, shape: Any, kernel: Any, stride: Any, padding: Any, dilation: Any = 1, ceil: bool = False
) -> Any:
    """Adjoint of `window_sums`: images of `shape` to which each place of `t` is added over its window."""
    record = recorder(t)
    if record is not None:
        return record(spread_windows, (t, shape, kernel, stride, padding, dilation, ceil))
    planes = _planes(t)
    down, across = _axes(shape[2:], kernel, stride, padding, dilation, places=t.shape[2:])
    found = _new(planes, (planes.shape[0], *shape[2:]))
    for part in _parts(found):
        columns = _spread(_wide(planes[part]), 2, across)
        if columns.dtype == found.dtype:
            _spread(columns, 1, down, found[part])
        else:
            found[part] = _spread(columns, 1, down)
    return np.reshape(found, shape)


def window_counts(
    sums: Any, images: Any, kernel: Any, stride: Any, padding: Any, ceil: bool = False, padded: bool = True
) -> Any:
    """How many elements the windows have in images of the shape `images`, or, if `padded`, in them with their padding.

    Numbers of the kind of `sums`, where they lie, for one image: (1, 1, places down, places across).
    """
    down, across = _axes(images[2:], kernel, stride, padding, 1, ceil)
    rows, columns = _counts(sums, down, padded), _counts(sums, across, padded)
    return np.reshape(np.expand_dims(rows, 1) * columns, (1, 1, down.places, across.places))


def _counts(like: Any, windows: Axis, padded: bool) -> Any:
    """How many elements the windows along one axis have."""
    before = windows.before if padded else 0
    places = np.cumsum(np.ones_like(like, shape=(windows.places,), dtype=float)) - 1.0
    first = places * windows.stride - windows.before
    behind = np.minimum(first + windows.kernel, windows.length + before)
    return (behind - np.maximum(first, -before)).astype(like.dtype)


def _wide(planes: Any) -> Any:
    """Planes in a precision in which their sums lose no digits, as NumPy's sums."""
    if planes.dtype == np.float16:
        return planes.astype(np.float32)
    return planes.astype(np.sum(np.zeros(0, planes.dtype)).dtype) if planes.dtype.kind in "biu" else planes


# ---- means over parts


def part_means(x: Any, parts: Any) -> Any:
    """Means over parts of images of lengths as equal as can be: `parts` along both axes, or along each; None is one for
    each element."""
    record = recorder(x)
    if record is not None:
        return record(part_means, (x, parts))
    if np.ndim(x) != 4:
        raise ValueError(f"images have four axes, not the shape {np.shape(x)}")
    down, across = _pair(parts)
    if down == across == 1:
        return np.mean(x, axis=(2, 3), keepdims=True)
    left, right = _averages(x, x.shape[2], down), _averages(x, x.shape[3], across)
    found = left @ _wide(x) @ np.transpose(right)
    return found.astype(x.dtype) if x.dtype.kind in "fc" else found


def spread_means(t: Any, shape: Any) -> Any:
    """Adjoint of `part_means`: images of `shape` to the parts of which the elements of `t` go."""
    record = recorder(t)
    if record is not None:
        return record(spread_means, (t, shape))
    if tuple(t.shape[2:]) == (1, 1):
        return np.broadcast_to(t / (shape[2] * shape[3]), shape).copy()
    left, right = _averages(t, shape[2], t.shape[2]), _averages(t, shape[3], t.shape[3])
    return (np.transpose(left) @ _wide(t) @ right).astype(t.dtype)


def _averages(like: Any, length: int, parts: int | None) -> Any:
    """The matrix of means over parts, which go from ``floor(i * length / parts)`` to the ceiling of the next."""
    dtype = np.result_type(like.dtype, np.float32) if like.dtype.kind in "fc" else np.dtype(float)
    parts = length if parts is None else parts
    places = np.cumsum(np.ones_like(like, shape=(length,), dtype=np.int64)) - 1
    ends = np.expand_dims(np.cumsum(np.ones_like(like, shape=(parts,), dtype=np.int64)) - 1, 1) * length
    first, behind = ends // parts, (ends + (length + parts - 1)) // parts
    inside = (places >= first) & (places < behind)
    return (inside / (behind - first)).astype(dtype)


# ---- maxima


def window_maxima(
    x: Any, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil: bool = False
) -> Any:
    """Maxima over windows of images; see `window_sums`. A window without an element of the image has the least number.

    Raises ValueError where a window does not fit.
    """
    record = recorder(x)
    if record is not None:
        return record(window_maxima, (x, kernel, stride, padding, dilation, ceil))
    if x.dtype.kind not in "fiub":
        raise TypeError(f"images of {x.dtype} have no maxima")
    planes = _planes(x)
    down, across = _axes(x.shape[2:], kernel, stride, padding, dilation, ceil)
    found = _new(planes, (planes.shape[0], down.places, across.places))
    for part in _parts(planes):
        rows = _reduced(planes[part], 1, down, np.maximum, _least(x.dtype))
        _reduced(rows, 2, across, np.maximum, _least(x.dtype), found[part])
    return np.reshape(found, (*x.shape[:2], *found.shape[1:]))


def _least(dtype: Any) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else dtype.type(-np.inf) if dtype.kind == "f" else False


def spread_maxima(t: Any, x: Any, best: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """Cotangent of the images in `window_maxima`, which gave `best`: equal maxima of a window share."""
    record = recorder(t, x, best)
    if record is not None:
        return record(spread_maxima, (t, x, best, kernel, stride, padding, dilation))
    bars, images, tops = _planes(t), _planes(x), _planes(best)
    down, across = _axes(x.shape[2:], kernel, stride, padding, dilation, places=best.shape[2:])
    found = _new(bars, images.shape)
    for part in _parts(found):
        winners = _Winners(images[part], tops[part], down, across)
        shares = winners.shared(bars[part])
        rows = zeros_of(bars, winners.rows.shape)
        for (places, seen), mask in zip(across.steps(), winners.in_rows, strict=True):
            rows[:, :, seen] += _selected(mask, shares[:, :, places])
        found[part] = 0
        for (places, seen), mask in zip(down.steps(), winners.in_columns, strict=True):
            found[part][:, seen] += _selected(mask, rows[:, places])
    return np.reshape(found, x.shape)


def sums_at_maxima(a: Any, x: Any, best: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """Means of `a` over the elements of each window of `x` that are its maximum: the adjoint of `spread_maxima`."""
    record = recorder(a, x, best)
    if record is not None:
        return record(sums_at_maxima, (a, x, best, kernel, stride, padding, dilation))
    values, images, tops = _planes(a), _planes(x), _planes(best)
    down, across = _axes(x.shape[2:], kernel, stride, padding, dilation, places=best.shape[2:])
    found = _new(values, tops.shape)
    for part in _parts(images):
        winners = _Winners(images[part], tops[part], down, across)
        rows = zeros_of(values, winners.rows.shape)
        for (places, seen), mask in zip(down.steps(), winners.in_columns, strict=True):
            rows[:, places] += _selected(mask, values[part][:, seen])
        sums = zeros_of(values, tops[part].shape)
        for (places, seen), mask in zip(across.steps(), winners.in_rows, strict=True):
            sums[:, :, places] += _selected(mask, rows[:, :, seen])
        found[part] = winners.shared(sums)
    return np.reshape(found, best.shape)


class _Winners:
    """Which elements are the maxima of their windows.

    `rows` are the maxima over the rows of windows alone. `in_columns` says for each row of a window where an element
    is that maximum, `in_rows` for each column of a window where that maximum is the window's.
    """

    def __init__(self, images: Any, best: Any, down: Axis, across: Axis) -> None:
        self.elsewhere = is_elsewhere(images)
        with_nan = images.dtype.kind == "f" and (self.elsewhere or bool(np.any(best != best)))
        self.rows = _reduced(images, 1, down, np.maximum, _least(images.dtype))
        self.in_columns = [_equal(images[:, seen], self.rows[:, places], with_nan) for places, seen in down.steps()]
        self.in_rows = [_equal(self.rows[:, :, seen], best[:, :, places], with_nan) for places, seen in across.steps()]
        self.counts = self._counted(best, down, across)

    def _counted(self, best: Any, down: Axis, across: Axis) -> Any:
        """How many elements of each window are its maximum."""
        number = np.uint8 if down.kernel * across.kernel < 256 else np.int64
        columns = zeros_of(self.in_columns[0] if self.in_columns else best, self.rows.shape).astype(number)
        for (places, _), mask in zip(down.steps(), self.in_columns, strict=True):
            columns[:, places] += mask
        counts = zeros_of(best, best.shape).astype(number)
        for (places, seen), mask in zip(across.steps(), self.in_rows, strict=True):
            counts[:, :, places] += columns[:, :, seen] * mask
        return counts

    def shared(self, values: Any) -> Any:
        """Values of windows over the number of their maxima; as they are where each has one."""
        if not self.elsewhere and np.all(self.counts == 1):
            return values
        return values / np.maximum(self.counts, 1).astype(values.dtype)


def _equal(values: Any, best: Any, with_nan: bool) -> Any:
    """Where values are the best ones; not a number counts as such, as it does in maxima."""
    return (values == best) | (values != values) if with_nan else values == best


_WHOLE = {2: np.int16, 4: np.int32, 8: np.int64}


def _selected(mask: Any, values: Any) -> Any:
    """The values where `mask` is true, 0 elsewhere, whatever stands there.

    Of floating-point numbers by their bits: unlike `np.where`, that has no branch for each element.
    """
    if is_elsewhere(values) or values.dtype.kind != "f" or values.dtype.itemsize not in _WHOLE:
        return np.where(mask, values, values.dtype.type(0))
    whole = _WHOLE[values.dtype.itemsize]
    bits = np.negative(mask.view(np.int8)).astype(whole)
    return np.bitwise_and(bits, values.view(whole), out=bits).view(values.dtype)
