"""Cotangents converted to the form of their primals."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.templates.batched.batch import Batch, NoRule, aligned, of_any, plainly, whole_of


@of_any(arrays.unbroadcast, arrays.spread)
def unbroadcast(t: Any, like: Any) -> Batch:
    """A cotangent in the shape, the domain and the dtype of what it belongs to."""
    if type(like) is Batch and type(t) is Batch:
        return Batch(refitted(t, like.shape, like.whole.dtype))
    if type(t) is Batch:
        return Batch(refitted(t, tuple(np.shape(like)), getattr(like, "dtype", None)))
    return Batch(refitted(Batch(whole_of(t, like.count)), like.shape, like.whole.dtype))


@of_any(arrays.of_rule)
def _of_rule(given: Any, like: Any, result: Any, rule: str, name: str) -> Any:
    """What a rule of the user's gives; for what does not fit it is told one by one."""
    if isinstance(like, list | tuple) and isinstance(given, list | tuple) and len(given) == len(like):
        return [
            _of_rule(g, x, None, rule, name) if type(g) is Batch else arrays.of_rule(g, x, None, rule, name)
            for g, x in zip(given, like, strict=True)
        ]
    if type(given) is not Batch or isinstance(like, list | tuple | dict) or not arrays.has_derivative(like):
        raise NoRule("what a rule gives")
    shape = tuple(np.shape(like))
    spread = not isinstance(result, list | tuple) and given.shape == tuple(np.shape(result))
    if given.shape != shape and not (spread and given.shape == np.broadcast_shapes(given.shape, shape)):
        raise NoRule("what a rule gives")
    return unbroadcast(given, like)


def refitted(t: Batch, shape: tuple[int, ...], dtype: Any) -> Any:
    """The whole of a batch with each member in the shape, the domain and the dtype of what it belongs to."""
    extra = t.ndim - len(shape)
    whole = np.sum(t.whole, axis=tuple(range(1, 1 + extra))) if extra > 0 else aligned(t, len(shape))
    if np.shape(whole)[1:] == shape and (dtype is None or whole.dtype == dtype):
        return whole
    like = np.broadcast_to(np.zeros((), whole.dtype if dtype is None else dtype), (t.count, *shape))
    return plainly(arrays.unbroadcast, whole, like)
