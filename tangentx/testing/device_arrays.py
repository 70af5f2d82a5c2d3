"""A double of CuPy for machines without a GPU: arrays, functions, and a count of transfers.

The module itself is used as ``cupy`` is: programs that are written with ``import cupy as cp`` run with this module
under that name.

>>> import numpy as np
>>> import tangentx as tx
>>> from tangentx.testing import device_arrays as cp
>>> def energy(x):
...     return cp.sum(cp.sin(x) ** 2)
>>> x = cp.asarray(np.array([0.0, 1.0]))
>>> cp.transfers.reset()
>>> slope = tx.grad(energy)(x)
>>> type(slope).__name__, cp.transfers.down, cp.transfers.up
('DeviceArray', 0, 0)
>>> slope.get().round(6).tolist()
[0.0, 0.909297]
"""

from __future__ import annotations

from typing import Any

from tangentx.arrays import device_double
from tangentx.arrays.device_double import (
    DeviceArray,
    array,
    asarray,
    asnumpy,
    get_array_module,
    ndarray,
    transfers,
)

__all__ = ["DeviceArray", "array", "asarray", "asnumpy", "get_array_module", "ndarray", "transfers"]


def __getattr__(name: str) -> Any:
    return getattr(device_double, name)


def __dir__() -> list[str]:
    return dir(device_double)
