"""Batches: arrays with an extra leading axis, beside values that have none."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable


def same_members(batch: Any, other: Any) -> Any:
    """`batch` itself, which must have as many members as `other`. Raises NotDifferentiable, naming both numbers."""
    if len(batch) != len(other):
        raise NotDifferentiable(
            f"one batch has {len(other)} members, but another one has {len(batch)}",
            hint="give batches of equal length, or None in in_axes for what is not a batch",
        )
    return batch


def over(x: Any, count: int) -> Any:
    """`x`, a number or array, `count` times along a new first axis; writable."""
    return np.repeat(np.asarray(x)[np.newaxis], count, axis=0)


def each_shape(batch: Any) -> tuple[int, ...]:
    """The shape of each value of a batch."""
    return tuple(int(n) for n in np.shape(batch)[1:])


def each_length(batch: Any) -> int:
    """The length of each value of a batch."""
    return int(np.shape(batch)[1])


def each_size(batch: Any) -> int:
    """The number of elements in each value of a batch."""
    return int(np.prod(np.shape(batch)[1:], dtype=int))


def with_count(count: int, lengths: Any) -> tuple[int, ...]:
    """The shape of a batch of `count` values of a shape."""
    return (count, *lengths) if isinstance(lengths, (tuple, list)) else (count, lengths)


def each_fitted(batch: Any, lengths: Any) -> Any:
    """Each value of a batch in another shape: summed where it was repeated, repeated where it is smaller."""
    extra = np.ndim(batch) - 1 - len(lengths)
    result = np.sum(batch, axis=tuple(range(1, 1 + extra))) if extra > 0 else batch
    if extra < 0:
        result = np.reshape(result, (len(result), *(1,) * -extra, *np.shape(result)[1:]))
    axes = tuple(i + 1 for i, n in enumerate(lengths) if n == 1 and np.shape(result)[i + 1] != 1)
    if axes:
        result = np.sum(result, axis=axes, keepdims=True)
    whole = (len(result), *lengths)
    return result if np.shape(result) == whole else np.array(np.broadcast_to(result, whole))
