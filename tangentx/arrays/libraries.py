"""Arrays of NumPy's and of libraries that follow its protocols, where support functions make new ones."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_array(x: Any) -> Any:
    """An array of any library as it is, what else there is as an array of NumPy's."""
    return x if hasattr(type(x), "__array_function__") else np.asarray(x)


def zeros_of(t: Any, shape: tuple[int, ...]) -> Any:
    """Zeros of this shape, in the dtype and the library of `t`."""
    return np.zeros_like(t, order="C", subok=False, shape=shape)
