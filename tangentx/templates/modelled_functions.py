"""Functions without a rule that the compiler models itself, for the table of operations.

Their models are in `analysis/library` and `tensor/fallback`; here is the line that the table of operations shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_MODELLED: dict[str, tuple[Callable[..., Any], ...]] = {
    "a write into an array, by index": (
        np.copyto,
        np.put,
        np.place,
        np.putmask,
        np.put_along_axis,
        np.fill_diagonal,
    ),
    "a container": (list, tuple, dict),
    "a loop over the items": (map, filter, zip, enumerate, reversed, np.ndenumerate),
    "an attribute": (getattr, setattr),
    "a part of an array or list": (slice,),
    "shown once, with plain values": (print,),
    "views of the parts of an array": (np.hsplit, np.vsplit, np.dsplit),
    "a loop over the places of an array": (np.ndindex,),
    "a function of each element, its results put into an array": (np.vectorize,),
    "a `with` around the statements of both sweeps": (np.errstate,),
}


def modelled() -> list[tuple[tuple[Callable[..., Any], ...], str]]:
    """The functions, by what the compiler makes of them."""
    return [(primals, says) for says, primals in _MODELLED.items()]
