"""Rules of elements that a mask selects, and of values taken round and round."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import along, cycled, flat_key, mask_like, positions, section_bounds, selected, unselected, untake
from tangentx.templates.registry import constant, linear

constant(along, flat_key, mask_like, positions, section_bounds)


@linear(
    selected,
    domain=("A(3), np.array([True, False, True])", "A(3), np.array([[True, False, True], [True] * 3])"),
    broadcasts=True,
)
def selected_(a: Any, mask: Any, *, ans_bar: Any) -> Any:
    """The elements where the mask holds."""
    a_bar = unselected(ans_bar, mask)
    return a_bar


@linear(unselected, domain=("A(2), np.array([True, False, True])",))
def unselected_(t: Any, mask: Any, *, ans_bar: Any) -> Any:
    """Zeros where the mask does not hold."""
    t_bar = ans_bar[mask]
    return t_bar


@linear(cycled, domain=("A(3), 3", "A(3), 2", "A(2,2), 7"))
def cycled_(values: Any, count: Any, *, ans_bar: Any, values_shape: Any) -> Any:
    """Values taken from the first again after the last."""
    values_bar = untake(ans_bar, values_shape, np.arange(np.size(ans_bar)), None, "wrap")
    return values_bar
