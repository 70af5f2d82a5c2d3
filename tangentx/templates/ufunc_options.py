"""Options of NumPy's ufuncs that say in which type they calculate: ``dtype``, ``casting``, ``order``, ``subok``.

A call with ``dtype`` is the call of operands of that type. The others say what may be cast, how the result lies in
memory and of which class of arrays it is: nothing of its numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

OPTIONS = ("dtype", "casting", "order", "subok")


def type_of_loop(ufunc: Any, dtype: Any) -> np.dtype[Any] | None:
    """The type of all operands and results where ``dtype=`` is given; None where they are not all of one."""
    try:
        meant = np.dtype(dtype)
    except TypeError:
        return None
    loop = meant.char * ufunc.nin + "->" + meant.char * ufunc.nout
    return meant if meant.kind in "fc" and loop in ufunc.types else None
