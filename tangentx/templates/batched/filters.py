"""Convolutions of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tangentx import arrays
from tangentx.templates.batched.batch import Batch, of_any
from tangentx.templates.batched.products import demand_one_batch


@of_any(np.convolve)
def _convolve(a: Any, v: Any, mode: Any = "full") -> Batch:
    demand_one_batch(a, v)
    if type(v) is Batch:
        a, v = v, a
    size, width = a.shape[0], int(np.shape(v)[0])
    least = min(size, width) - 1
    most = max(size, width)
    start, length = {"full": (0, most + least), "same": (least // 2, most), "valid": (least, most - least)}[mode]
    padded = np.pad(a.whole, ((0, 0), (width - 1, width - 1)))
    return Batch(sliding_window_view(padded, width, 1)[:, start : start + length] @ v[::-1])


@of_any(arrays.unconvolve)
def _unconvolve(t: Any, other: Any, shape: Any, mode: Any = "full") -> Batch:
    """Each element is the sum of products with the stretch of `t` that begins there."""
    demand_one_batch(t, other)
    size, width = shape[0], _length(other)
    start = {"full": 0, "same": (min(size, width) - 1) // 2, "valid": min(size, width) - 1}[mode]
    frame = (start, size + width - 1 - start - _length(t))
    if type(t) is Batch:
        return Batch(sliding_window_view(np.pad(t.whole, ((0, 0), frame)), width, 1) @ other)
    return Batch(other.whole @ np.transpose(sliding_window_view(np.pad(t, frame), width)))


def _length(row: Any) -> int:
    return row.shape[0] if type(row) is Batch else int(np.shape(row)[0])
