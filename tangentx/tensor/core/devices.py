"""Devices: where a Tensor's data live, and moving them."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from tangentx.arrays.libraries import ELSEWHERE, NUMPY, Library, library_at, library_of
from tangentx.errors import NotDifferentiable, place, span_of


def device_of(data: Any) -> str:
    """The name of the device on which data lie: ``cpu``, or ``cuda:0`` and the like."""
    return f"cuda:{data.device.id}" if type(data) in ELSEWHERE else "cpu"


def wanted(device: Any) -> tuple[Library, Any]:
    """The library for a device, and what is to be entered while data are sent there. Raises NotDifferentiable."""
    library = library_at(device)
    number = device.partition(":")[2] if isinstance(device, str) else ""
    if library is NUMPY or not number:
        return library, nullcontext()
    return library, library.namespace.cuda.Device(int(number))


def data_on(array: Any, device: Any, dtype: Any) -> Any:
    """A copy of an array, or of what makes one, on a device; on that where it lies if `device` is None."""
    mine = library_of(array)
    library, around = (mine, nullcontext()) if device is None else wanted(device)
    if library is NUMPY:
        return np.array(array.get() if type(array) in ELSEWHERE else array, dtype=dtype)
    with around:
        made = library.namespace.array(array if type(array) in ELSEWHERE else np.asarray(array, dtype))
        return made if dtype is None or made.dtype == np.dtype(dtype) else made.astype(dtype)


def mixed(error: Exception, *data: Any) -> Exception:
    """The error of an operation: one that says so where an array here meets one on a device."""
    flat = [x for value in data for x in (value if isinstance(value, list | tuple) else (value,))]
    there = next((x for x in flat if type(x) in ELSEWHERE), None)
    if there is None or not any(isinstance(x, np.ndarray) for x in flat):
        return error
    name = device_of(there)
    message = f"an operation is given an array of {library_of(there).shown} on {name} and one of NumPy's"
    hint = f"bring both to one device: `x.to({name!r})` or `tx.tensor(a, device={name!r})`, or `x.cpu()`"
    return NotDifferentiable(message, span_of(place()), hint)
