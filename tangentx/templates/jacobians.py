"""Rules of the functions that batches and Jacobians are put together with."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import (
    columns,
    direction,
    directions,
    each_fitted,
    each_length,
    each_shape,
    each_size,
    no_slope,
    over,
    rows,
    same_members,
    uncolumns,
    unrows,
    with_count,
)
from tangentx.templates.registry import constant, linear

# The functions that Jacobians are put together with.

constant(direction, directions, no_slope)


@linear(columns, domain=("A(3,2), A(2), A(3)", "A(5,2), A(2), A(3), 2", "A(3), x, A(3)", "A(1), x, y"))
def columns_(dots: Any, y: Any, x: Any, before: Any = 0, *, ans_bar: Any) -> Any:
    """Tangents put beside each other."""
    dots_bar = uncolumns(ans_bar, dots, y, x, before)
    return dots_bar


@linear(rows, domain=("A(2,3), A(2), A(3)", "A(4,3), A(2), A(3), 1", "A(1,3), x, A(3)", "A(1), x, y"))
def rows_(bars: Any, y: Any, x: Any, before: Any = 0, *, ans_bar: Any) -> Any:
    """Cotangents put below each other."""
    bars_bar = unrows(ans_bar, bars, y, x, before)
    return bars_bar


@linear(uncolumns, domain=("A(2,3), A(3,2), A(2), A(3)", "A(2,3), A(5,2), A(2), A(3), 2"))
def uncolumns_(bar: Any, dots: Any, y: Any, x: Any, before: Any = 0, *, ans_bar: Any) -> Any:
    """Adjoint of `columns`."""
    bar_bar = columns(ans_bar, y, x, before)
    return bar_bar


@linear(unrows, domain=("A(2,3), A(2,3), A(2), A(3)", "A(2,3), A(4,3), A(2), A(3), 1"))
def unrows_(bar: Any, bars: Any, y: Any, x: Any, before: Any = 0, *, ans_bar: Any) -> Any:
    """Adjoint of `rows`."""
    bar_bar = rows(ans_bar, y, x, before)
    return bar_bar


# Rules of the functions that batches are made with.

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
