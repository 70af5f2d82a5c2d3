"""Convolutions and windows of batches of images: members are more images, or, with weights of their own, groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.templates.batched.batch import RULES, Batch, plainly, whole_of


def _folded(w: Any) -> Any:
    """The images of all members as one row of images."""
    return np.reshape(w, (w.shape[0] * w.shape[1], *w.shape[2:]))


def _unfolded(w: Any, count: int) -> Batch:
    return Batch(np.reshape(w, (count, w.shape[0] // count, *w.shape[1:])))


def _side_by_side(w: Any) -> Any:
    """The images of all members with their channels beside each other."""
    moved = np.moveaxis(w, 0, 1)
    return np.reshape(moved, (moved.shape[0], moved.shape[1] * moved.shape[2], *moved.shape[3:]))


def _apart(w: Any, count: int) -> Batch:
    """The images of each member, whose channels lie beside each other."""
    return Batch(np.moveaxis(np.reshape(w, (w.shape[0], count, w.shape[1] // count, *w.shape[2:])), 1, 0))


def _count(a: Any, b: Any) -> int:
    count: int = (a if type(a) is Batch else b).count
    return count


def _convolved(
    x: Any, weight: Any, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1), groups: Any = 1
) -> Batch:
    count = _count(x, weight)
    if type(weight) is not Batch:
        found = plainly(arrays.convolved, _folded(x.whole), weight, stride, padding, dilation, groups)
        return _unfolded(found, count)
    images, rows = _side_by_side(whole_of(x, count)), _folded(weight.whole)
    return _apart(plainly(arrays.convolved, images, rows, stride, padding, dilation, count * groups), count)


def _convolved_left(t: Any, weight: Any, shape: Any, stride: Any, padding: Any, dilation: Any, groups: Any) -> Batch:
    count = _count(t, weight)
    number, channels, *size = shape
    if type(weight) is not Batch:
        whole = (count * number, channels, *size)
        found = plainly(arrays.convolved_left, _folded(t.whole), weight, whole, stride, padding, dilation, groups)
        return _unfolded(found, count)
    bars, rows, whole = _side_by_side(whole_of(t, count)), _folded(weight.whole), (number, count * channels, *size)
    found = plainly(arrays.convolved_left, bars, rows, whole, stride, padding, dilation, count * groups)
    return _apart(found, count)


def _convolved_right(t: Any, x: Any, shape: Any, stride: Any, padding: Any, dilation: Any, groups: Any) -> Batch:
    count = _count(t, x)
    bars, images = _side_by_side(whole_of(t, count)), _side_by_side(whole_of(x, count))
    whole = (count * shape[0], *shape[1:])
    found = plainly(arrays.convolved_right, bars, images, whole, stride, padding, dilation, count * groups)
    return _unfolded(found, count)


def _of_windows(function: Any) -> Any:
    """The rule of a function of images alone."""

    def rule(x: Batch, *windows: Any) -> Batch:
        return _unfolded(plainly(function, _folded(x.whole), *windows), x.count)

    return rule


def _of_spread(function: Any) -> Any:
    """The rule of a function that makes images of a shape."""

    def rule(t: Batch, shape: Any, *windows: Any) -> Batch:
        whole = (t.count * shape[0], *shape[1:])
        return _unfolded(plainly(function, _folded(t.whole), whole, *windows), t.count)

    return rule


def _of_maxima(function: Any) -> Any:
    """The rule of a function of values, images and their maxima."""

    def rule(values: Any, x: Any, best: Any, *windows: Any) -> Batch:
        count = next(a.count for a in (values, x, best) if type(a) is Batch)
        images = [_folded(whole_of(a, count)) for a in (values, x, best)]
        return _unfolded(plainly(function, *images, *windows), count)

    return rule


RULES.update(
    {
        arrays.convolved: _convolved,
        arrays.convolved_left: _convolved_left,
        arrays.convolved_right: _convolved_right,
        arrays.window_sums: _of_windows(arrays.window_sums),
        arrays.window_maxima: _of_windows(arrays.window_maxima),
        arrays.spread_windows: _of_spread(arrays.spread_windows),
        arrays.part_means: _of_windows(arrays.part_means),
        arrays.spread_means: _of_spread(arrays.spread_means),
        arrays.spread_maxima: _of_maxima(arrays.spread_maxima),
        arrays.sums_at_maxima: _of_maxima(arrays.sums_at_maxima),
    }
)
