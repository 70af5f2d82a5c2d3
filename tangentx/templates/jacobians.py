"""The functions that Jacobians are put together with."""

from __future__ import annotations

from typing import Any

from tangentx.arrays import columns, direction, directions, no_slope, rows, uncolumns, unrows
from tangentx.templates.registry import constant, linear

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
