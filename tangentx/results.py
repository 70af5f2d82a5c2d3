"""Results as the user gets them: in the form that is promised, sharing memory with nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentx.arrays import entry_copy, finish


def publish(bar: Any, primal: Any, taken: Sequence[Any]) -> Any:
    """A gradient as the user gets it: of the primal's type, dtype and shape, sharing memory with nothing in `taken`."""
    cls = type(primal)
    if cls is float:
        if type(bar) is float:
            return bar
        return float(bar if isinstance(bar, float) else np.real(bar))
    if cls is np.ndarray:
        return bar if _is_own(bar, primal, taken) else finish(bar, primal)
    return finish(bar, primal) if isinstance(primal, complex | np.generic) else bar


def _is_own(bar: Any, primal: Any, taken: Sequence[Any]) -> bool:
    """Whether a gradient is an array like the primal that nobody else has."""
    if type(bar) is not np.ndarray or bar.base is not None or bar.dtype != primal.dtype or bar.shape != primal.shape:
        return False
    for other in taken:
        if bar is other:
            return False
    flags = bar.flags
    return flags.forc and flags.writeable


def public_gradients(bars: Any, values: Sequence[Any], places: Sequence[int], many: bool) -> Any:
    """One gradient, or a tuple of `many`, in the form that is promised."""
    if not many:
        return publish(bars, values[places[0]], values)
    taken = list(values)
    for bar, place in zip(bars, places, strict=True):
        taken.append(publish(bar, values[place], taken))
    return tuple(taken[len(values) :])


def fresh(value: Any) -> Any:
    """A result of the user's function that shares memory with nothing."""
    return value if isinstance(value, float | np.generic) else entry_copy(value)
