"""Mixed precision on Tensors: casts the operands of an operation to the precision of the policy, recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.arrays.libraries import ARRAYS
from tangentx.common.options import low_precision
from tangentx.templates.compositions import in_double
from tangentx.templates.precision import cast
from tangentx.tensor.core.tensor import Tensor


def in_precision(fn: Any, values: Sequence[Any]) -> Sequence[Any]:
    """The operands of a function as the policy has them; as they are where there is none."""
    return values if low_precision() is None else [moved(fn, value) for value in values]


def moved(fn: Any, value: Any) -> Any:
    """An array or a Tensor of one in the precision in which `fn` takes it; anything else as it is."""
    low = low_precision()
    data = value._primal if type(value) is Tensor else value
    wanted = cast(fn, data.dtype, low) if low is not None and type(data) in ARRAYS else None
    return value if wanted is None else value.astype(wanted)


def doubled(body: Callable[..., Any], value: Any) -> Any:
    """The same in double precision, where a composition's `body` stands for a function that goes on in that."""
    data = value._primal if type(value) is Tensor else value
    if type(data) not in ARRAYS and not isinstance(data, np.inexact):
        return value
    wanted = in_double(body, data.dtype)
    return value if wanted is None else value.astype(wanted)
