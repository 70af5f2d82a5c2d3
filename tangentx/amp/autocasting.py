"""The context manager that turns a mixed-precision policy on: `tx.amp.autocast`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.common.options import LOW_PRECISION, OFF, with_precision
from tangentx.common.scoped_state import Lasting
from tangentx.errors import NotDifferentiable


class autocast(Lasting):
    """While it lasts, operations on Tensors and derivatives that are compiled run in mixed precision.

    Products (`@`, `np.dot`, `np.einsum`, convolutions) take arrays of float32 and float64 as float16; sums, means,
    powers, exponentials and logarithms, and with them the losses, take float16 as float32; other operations give what
    NumPy gives for the dtypes that they meet. Parameters stay as they are: they are the master weights, and their
    gradients have their dtype. `tangentx.templates.precision` has the lists. float64 is cast too, for it is what NumPy
    makes by default; PyTorch leaves it. NumPy itself, called with plain arrays outside of a derivative, knows no
    policy.

    For one derivative alone there is ``tx.grad(f, precision="float16")``. ``enabled=False`` ends an outer policy for a
    while. `device_type` is PyTorch's, and says nothing here: an array's library is where the array is. Raises
    NotDifferentiable for a `dtype` that NumPy does not have (bfloat16).

    >>> import numpy as np, tangentx as tx
    >>> w = tx.tensor(np.ones((2, 2), np.float32), requires_grad=True)
    >>> with tx.amp.autocast():
    ...     y = w @ w
    ...     total = y.sum()
    >>> y.dtype, total.dtype
    (dtype('float16'), dtype('float32'))
    >>> total.backward()
    >>> w.grad.dtype
    dtype('float32')
    """

    def __init__(self, device_type: str = "cpu", dtype: Any = np.float16, enabled: bool = True) -> None:
        if enabled and not _is_low(dtype):
            hint = "use np.float16" + (": NumPy has no bfloat16" if "bfloat16" in str(dtype) else "")
            raise NotDifferentiable(f"dtype={dtype!r} is no precision for products", hint=hint)
        if not isinstance(device_type, str):
            raise NotDifferentiable(f"device_type={device_type!r} is no name of a device", hint="write dtype=...")
        super().__init__(OFF, lambda off: with_precision(off, bool(enabled)))


def _is_low(dtype: Any) -> bool:
    try:
        return bool(np.dtype(dtype) == np.dtype(LOW_PRECISION))
    except TypeError:
        return False
