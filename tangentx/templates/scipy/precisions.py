"""Results in the precision of an argument, where SciPy calculates in double precision and gives single."""

from __future__ import annotations

from typing import Any


def in_precision_of(x: Any, found: Any) -> Any:
    """The array `found`, of the dtype of `x`."""
    return found if found.dtype == x.dtype else found.astype(x.dtype)
