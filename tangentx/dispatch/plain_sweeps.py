"""Runs a gradient without guards, and once more with them where a result is not finite.

Which gradients may do without, `compile.gradients` says.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.arrays.structures import fields
from tangentx.common.float_events import under_events
from tangentx.dispatch.entries import Entry
from tangentx.dispatch.tracebacks import traced
from tangentx.errors import TangentxError

LIMIT_MISSES = 2
_MISSES = frozenset((ZeroDivisionError, FloatingPointError, OverflowError, ValueError, np.linalg.LinAlgError))
"""What Python and NumPy raise for numbers: the program's own, or for a product without its guard. A refusal may be one
of a cotangent that is only without its guard no number."""


class PlainSweep:
    """The entry of a gradient that has lost its guards; `guarded` finds the one that has them for the same values."""

    def __init__(self, plain: Callable[..., Any], loud: bool, guarded: Callable[[tuple[Any, ...]], Entry]) -> None:
        self.plain = plain
        self.guarded = guarded
        self.loud = loud
        self.misses = 0

    def __call__(self, *values: Any) -> Any:
        if self.misses < LIMIT_MISSES:
            try:
                found = self._strictly(values) if self.loud else self.plain(*values)
                if self.loud or finite(found):
                    return found
            except (ArithmeticError, ValueError, TangentxError) as error:
                if type(error) not in _MISSES and not isinstance(error, TangentxError):
                    raise
            self.misses += 1
        return traced(self.guarded(values), 0, *values)

    def _strictly(self, values: tuple[Any, ...]) -> Any:
        def run() -> Any:
            found = self.plain(*values)
            if not finite(found):
                raise FloatingPointError
            return found

        return under_events(run, divide="raise", over="raise", invalid="raise")


def finite(x: Any) -> bool:
    """Whether all numbers of a structure are finite; False, too, of one whose parts are not known."""
    kind = type(x)
    if kind is np.ndarray:
        return x.dtype.kind in "biu" or (x.dtype.kind in "fc" and bool(np.isfinite(np.add.reduce(x, axis=None))))
    if isinstance(x, float):
        return math.isfinite(x)
    if isinstance(x, (tuple, list)):
        return all(map(finite, x))
    if isinstance(x, dict):
        return all(map(finite, x.values()))
    if isinstance(x, complex):
        return cmath.isfinite(x)
    if isinstance(x, np.generic):
        return x.dtype.kind in "biu" or (x.dtype.kind in "fc" and bool(np.isfinite(x)))
    if x is None or kind is int or kind is bool:
        return True
    inside = None if isinstance(x, np.ndarray) else fields(x)
    return inside is not None and all(map(finite, inside.values()))
