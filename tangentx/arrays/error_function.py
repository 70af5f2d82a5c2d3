"""The error function of arrays, without SciPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tangentx.arrays.libraries import is_elsewhere, library_of

_each = np.frompyfunc(math.erf, 1, 1)


def erf(x: Any) -> Any:
    """``2 / sqrt(pi)`` times the integral of ``exp(-t²)`` from 0 to x: Python's, element by element."""
    record = getattr(type(x), "__tangentx_record__", None)
    if record is not None:  # a Tensor
        return record(erf, (x,))
    if is_elsewhere(x):
        return library_of(x).special.erf(x)
    if isinstance(x, np.ndarray):
        kind = x.dtype if x.dtype.kind == "f" else float
        return np.asarray(_each(x), kind)
    return type(x)(math.erf(x)) if isinstance(x, np.floating) else math.erf(x)
