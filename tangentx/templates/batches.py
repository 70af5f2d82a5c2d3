"""Rules of the functions that batches are made with."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import each_fitted, each_length, each_shape, each_size, over, same_members, with_count
from tangentx.templates.registry import constant, linear

constant(each_length, each_shape, each_size, with_count)


@linear(same_members, domain=("A(3), A(3)", "A(2,3), A(2)"))
def same_members_(batch: Any, other: Any, *, ans_bar: Any) -> Any:
    """The identity."""
    batch_bar = ans_bar
    return batch_bar


@linear(over, domain=("A(3), 2", "x, 3", "A(2,3), 1"))
def over_(x: Any, count: Any, *, ans_bar: Any) -> Any:
    """One value many times."""
    x_bar = np.sum(ans_bar, axis=0)
    return x_bar


@linear(each_fitted, domain=("A(4,3), (2,3)", "A(4,2,3), (3,)", "A(4,2,3), (2,1)", "A(4), (2,)", "A(4,3), (3,)"))
def each_fitted_(batch: Any, lengths: Any, *, ans_bar: Any) -> Any:
    """Its own adjoint, as `unbroadcast` is."""
    batch_bar = each_fitted(ans_bar, each_shape(batch))
    return batch_bar
