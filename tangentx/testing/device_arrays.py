"""Arrays that behave as those on a device do: a double of CuPy's, for machines without one.

A program that runs on them asks for no transfer that it did not write, and mixes no memory: what CuPy refuses, they
refuse. Their data lies in the machine's memory, where only the double looks.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

_SCALARS = (bool, int, float, complex, np.generic)
_ABSENT = ("apply_along_axis", "insert", "lexsort", "nanquantile", "save", "savez", "trim_zeros", "vectorize")
"""Functions that NumPy has and CuPy has not, of those that programs use."""
_ON_HOST = (
    "shape",
    "ndim",
    "result_type",
    "can_cast",
    "common_type",
    "iscomplexobj",
    "isrealobj",
    "size",
    "broadcast_shapes",
)
"""Functions that ask for the form of an array alone, which is known without its data."""


class Transfers:
    """How often data came from the device (`down`) and went there (`up`) since `reset`."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begins to count anew."""
        self.down = self.up = 0


transfers = Transfers()


class DeviceArray:
    """A double of ``cupy.ndarray``.

    NumPy's functions and ufuncs work on it by their protocols and give arrays of its kind, of no axes too: a sum stays
    where it is. It refuses to become a NumPy array by itself, and operands, indices and values that are NumPy arrays.
    ``get()`` brings its data here, ``DeviceArray(x)`` sends them there, and so do ``float``, ``bool``, ``item``:
    `transfers` counts.

    >>> import numpy as np
    >>> from tangentx.testing.device_arrays import DeviceArray, transfers
    >>> x = DeviceArray(np.array([1.0, 2.0]))
    >>> transfers.reset()
    >>> total = np.sum(np.exp(x) * 2.0)
    >>> total.shape, transfers.down
    ((), 0)
    >>> round(float(total), 6), transfers.down
    (20.214676, 1)
    >>> np.add(x, np.ones(2))
    Traceback (most recent call last):
        ...
    TypeError: Unsupported type <class 'numpy.ndarray'>
    """

    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, data: Any) -> None:
        transfers.up += 1
        self._data = np.array(data)

    def get(self) -> np.ndarray[Any, Any]:
        """A copy as an array of NumPy's."""
        transfers.down += 1
        return self._data.copy()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        raise NotImplementedError("a double has no memory on a device")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Use `.get()` instead.")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _wrapped(getattr(ufunc, method)(*map(_host, inputs), **{k: _host(v) for k, v in kwargs.items()}), inputs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func.__name__ in _ABSENT:
            raise TypeError(f"no implementation found for '{func.__name__}' on DeviceArray")
        found = func(*map(_host, args), **{name: _host(value) for name, value in kwargs.items()})
        return found if func.__name__ in _ON_HOST else _wrapped(found, args)

    def __getitem__(self, key: Any) -> Any:
        return _wrapped(self._data[_host(key)], (self,))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._data[_host(key)] = _host(value)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"DeviceArray({self._data!r})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("ctypes", "data", "tobytes", "tofile", "tolist", "view"):
            raise AttributeError(f"'DeviceArray' object has no attribute {name!r}")
        found = getattr(self._data, name)
        if callable(found):
            return _method(self, name)
        return _wrapped(found, (self,)) if isinstance(found, np.ndarray) else found

    def item(self, *args: Any) -> Any:
        """An element as a number of Python's, which is a transfer."""
        transfers.down += 1
        return self._data.item(*args)

    def tolist(self) -> Any:
        """Lists of numbers, which is a transfer."""
        return self.get().tolist()


def _host(value: Any) -> Any:
    """The data behind what is given. Raises TypeError for arrays that are not on the device."""
    if type(value) is DeviceArray:
        return value._data
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if type(value) in (list, tuple):
        return type(value)(map(_host, value))
    return value


def _wrapped(found: Any, given: Any) -> Any:
    """A result on the device; numbers are arrays of no axes there, and what is a view stays one."""
    if isinstance(found, list | tuple) and not hasattr(found, "_fields"):
        return type(found)(_wrapped(item, given) for item in found)
    if isinstance(found, tuple):
        return tuple.__new__(type(found), (_wrapped(item, given) for item in found))
    if not isinstance(found, np.ndarray | np.generic):
        return found
    whole = next((x for x in given if type(x) is DeviceArray and x._data is found), None)
    if whole is not None:
        return whole
    made = object.__new__(DeviceArray)
    made._data = found if isinstance(found, np.ndarray) else np.array(found)
    return made


def _method(array: DeviceArray, name: str) -> Callable[..., Any]:
    def method(*args: Any, **kwargs: Any) -> Any:
        given = {key: _host(value) for key, value in kwargs.items()}
        return _wrapped(getattr(array._data, name)(*map(_host, args), **given), (array, *args))

    return method


def _operator(name: str) -> Callable[..., Any]:
    def operate(self: DeviceArray, *others: Any) -> Any:
        if any(not isinstance(other, (DeviceArray, *_SCALARS)) for other in others):
            if any(isinstance(other, np.ndarray) for other in others):
                raise TypeError(f"Unsupported type {type(others[0])}")
            return NotImplemented
        return _wrapped(getattr(self._data, name)(*map(_host, others)), (self,))

    return operate


def _number(convert: Callable[[Any], Any]) -> Callable[[DeviceArray], Any]:
    def number(self: DeviceArray) -> Any:
        transfers.down += 1
        return convert(self._data)

    return number


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
for _name in (*_BINARY, *(f"r{name}" for name in _BINARY), *(f"i{name}" for name in _BINARY)):
    setattr(DeviceArray, f"__{_name}__", _operator(f"__{_name}__"))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "divmod", "rdivmod"):
    setattr(DeviceArray, f"__{_name}__", _operator(f"__{_name}__"))
_CONVERTING: dict[str, Callable[[Any], Any]] = {
    "bool": bool, "int": int, "float": float, "complex": complex, "index": operator.index,
}  # fmt: skip
for _name, _convert in _CONVERTING.items():
    setattr(DeviceArray, f"__{_name}__", _number(_convert))
