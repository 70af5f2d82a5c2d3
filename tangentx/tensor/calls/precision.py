"""Tensors under a policy of mixed precision: operands are cast, recorded, to what an operation runs in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tangentx.arrays.libraries import ARRAYS
from tangentx.common.options import low_precision
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
