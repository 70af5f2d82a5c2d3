"""Arrays that behave like those on a device: a double of CuPy's, for machines without one.

A program that runs on them asks for no transfer that it did not write, and mixes no memory: what CuPy refuses, they
refuse. Their data lies in the machine's memory, where only the double looks. The analysis tries operations on small
ones of them (`analysis/types/samples.py`), so that nothing runs on a device before the program does; programs without
a device are tested with them (`tangentx.testing.device_arrays`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from tangentx.arrays.libraries import Library, register

_SCALARS = (bool, int, float, complex, np.generic)
_ABSENT = frozenset((
    "apply_along_axis block bmat einsum_path frompyfunc geomspace histogram_bin_edges insert lexsort matvec"
    " nanpercentile nanquantile polyder polydiv polyint save savez spacing trim_zeros unstack vecdot vecmat vectorize"
    " matrix_norm multi_dot svdvals vector_norm"
).split())  # fmt: skip
"""Functions that NumPy has and CuPy has not (CuPy 14), of those that programs use."""
_UNKNOWN = frozenset(
    (name, keyword)
    for names, keywords in (
        ("all any", "where"),
        ("sum prod max min amax amin nansum nanprod nanmax nanmin", "initial where"),
        ("mean std var nanmean nanstd nanvar", "where"),
        ("std var nanstd nanvar", "mean correction"),
        ("argsort sort", "order stable"),
        ("percentile quantile", "weights"),
        ("count_nonzero", "keepdims"),
        ("take", "mode"),
        ("copy broadcast_to broadcast_arrays", "subok"),
        ("einsum", "optimize"),
        ("indices", "sparse"),
        ("arange array asarray ones zeros empty full linspace eye identity tri", "like device"),
        ("ones_like zeros_like empty_like full_like", "device"),
        ("ones_like zeros_like empty_like full_like", "subok"),
    )
    for name in names.split()
    for keyword in keywords.split()
)
"""Functions with arguments that NumPy's have and CuPy's have not."""
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
    "may_share_memory",
    "shares_memory",
)
"""Functions that ask for the form of an array alone, which is known without its data."""


_LACKS = frozenset("ctypes getfield resize setfield setflags to_device tobytes tofile tolist".split())
"""Attributes that NumPy's arrays have, and those of the double do not."""


class Transfers:
    """How often data came from the device (`down`) and went there (`up`) since `reset`."""

    down: int
    up: int

    def __init__(self) -> None:
        self.reset()

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """Nothing counts while it lasts."""
        before = self.down, self.up
        try:
            yield
        finally:
            self.down, self.up = before

    def reset(self) -> None:
        """Begins to count anew."""
        self.down = self.up = 0


transfers = Transfers()


class _Pointer(NamedTuple):
    """An address."""

    ptr: int


class _Device(NamedTuple):
    """A device."""

    id: int


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
    def data(self) -> Any:
        """Where the memory lies: ``x.data.ptr``, as CuPy has it."""
        return _Pointer(self._data.__array_interface__["data"][0])

    @property
    def device(self) -> Any:
        """Where it lies: a device has a number, ``id``."""
        return _Device(0)

    @property
    def base(self) -> Any:
        """The array of which it is a view; None where it owns its memory."""
        return None if self._data.base is None else on_device(self._data.base)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        raise NotImplementedError("a double has no memory on a device")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Use `.get()` instead.")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            return NotImplemented  # ``np.add.reduce`` and the like are not CuPy's, which has its own
        if any(hasattr(x, _ASKED) for x in inputs):
            return getattr(sys.modules[__name__], ufunc.__name__)(*inputs, **kwargs)
        if any(type(x) is not DeviceArray and not isinstance(x, (*_SCALARS, np.ndarray)) for x in inputs):
            return NotImplemented
        return computed(ufunc, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if any(not issubclass(kind, (DeviceArray, np.ndarray)) for kind in types):
            return NotImplemented
        return computed(func, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        where = _host(key)
        found = self._data[where]
        parts = where if type(where) is tuple else (where,)
        if isinstance(found, np.generic) and not any(isinstance(part, np.ndarray) for part in parts):
            found = self._data[(*parts, ...)]  # a view, as of any other part
        return _wrapped(found, (self,))

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "shape":
            self._data.shape = value
        else:
            object.__setattr__(self, name, value)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._data[_host(key)] = _host(value)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"DeviceArray({self._data!r})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in _LACKS:
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


def computed(fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What a function of NumPy's gives for arrays on the device. Raises TypeError where CuPy has none like it."""
    name = fn.__name__
    if name in _ABSENT:
        raise TypeError(f"no implementation found for '{name}' on DeviceArray")
    unknown = next((keyword for keyword in kwargs if (name, keyword) in _UNKNOWN), None)
    if unknown is not None:
        raise TypeError(f"{name}() got an unexpected keyword argument '{unknown}'")
    found = fn(*map(_host, args), **{keyword: _host(value) for keyword, value in kwargs.items()})
    if name == "diagonal":
        found.flags.writeable = True  # CuPy knows no other memory
    return found if name in _ON_HOST else _wrapped(found, args)


def on_device(data: Any) -> DeviceArray:
    """An array of NumPy's as one of the double's, of the same memory: no transfer."""
    made = object.__new__(DeviceArray)
    made._data = data
    return made


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
    return on_device(found if isinstance(found, np.ndarray) else np.array(found))


def _method(array: DeviceArray, name: str) -> Callable[..., Any]:
    def method(*args: Any, **kwargs: Any) -> Any:
        given = {key: _host(value) for key, value in kwargs.items()}
        return _wrapped(getattr(array._data, name)(*map(_host, args), **given), (array, *args))

    return method


_ASKED = "__cupy_override_elementwise_kernel__"
"""The method of objects that CuPy's ufuncs leave their work to."""
_PRIORITY = 100.0
"""What CuPy's arrays have for `__array_priority__`: operators are left to objects that have more."""


def _operator(name: str) -> Callable[..., Any]:
    def operate(self: DeviceArray, *others: Any) -> Any:
        if any(not isinstance(other, (DeviceArray, *_SCALARS)) for other in others):
            if getattr(type(others[0]), "__array_priority__", 0.0) > _PRIORITY:
                return NotImplemented
            if any(isinstance(other, np.ndarray) for other in others):
                raise TypeError(f"Unsupported type {type(others[0])}")
            if len(others) == 1 and getattr(others[0], "__array_ufunc__", None) is not None and name in _BY_NUMPY:
                return _BY_NUMPY[name](self, others[0])
            return NotImplemented
        return _wrapped(getattr(self._data, name)(*map(_host, others)), (self,))

    return operate


def _number(convert: Callable[[Any], Any]) -> Callable[[DeviceArray], Any]:
    def number(self: DeviceArray) -> Any:
        transfers.down += 1
        return convert(self._data)

    return number


_BY_NUMPY: dict[str, Any] = {
    "__add__": np.add, "__sub__": np.subtract, "__mul__": np.multiply, "__truediv__": np.true_divide,
    "__pow__": np.power, "__matmul__": np.matmul,
}  # fmt: skip
"""Operators that leave an object with `__array_ufunc__` to NumPy's function, as CuPy's do."""
_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
for _name in (*_BINARY, *(f"r{name}" for name in _BINARY), *(f"i{name}" for name in _BINARY)):
    setattr(DeviceArray, f"__{_name}__", _operator(f"__{_name}__"))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "divmod", "rdivmod"):
    setattr(DeviceArray, f"__{_name}__", _operator(f"__{_name}__"))
_CONVERTING: dict[str, Callable[[Any], Any]] = {
    "bool": bool, "int": int, "float": float, "complex": complex,
}  # fmt: skip
for _name, _convert in _CONVERTING.items():
    setattr(DeviceArray, f"__{_name}__", _number(_convert))


ndarray = DeviceArray


def _function(of: Any, module: str) -> Any:
    """A function of the double's for one of NumPy's; that for a ufunc has its methods, and asks objects that CuPy's
    ufuncs ask."""
    asks = isinstance(of, np.ufunc)

    def function(*args: Any, **kwargs: Any) -> Any:
        for arg in args if asks else ():
            if hasattr(arg, _ASKED):
                return getattr(arg, _ASKED)(function, *args, **kwargs)
        return computed(of, args, kwargs)

    function.__name__ = function.__qualname__ = of.__name__
    function.__module__ = module
    function.__doc__ = of.__doc__
    for name in _OF_UFUNCS if isinstance(of, np.ufunc) else ():
        setattr(function, name, _Method(function, getattr(of, name)))
    return function


_OF_UFUNCS = ("reduce", "accumulate", "outer", "at", "reduceat")


class _Method:
    """A method of a ufunc of the double's."""

    __slots__ = ("__name__", "__self__", "_of")

    def __init__(self, owner: Any, of: Any) -> None:
        self.__self__ = owner
        self.__name__ = of.__name__
        self._of = of

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return computed(self._of, args, kwargs)


def asarray(x: Any, dtype: Any = None) -> Any:
    """An array on the device: `x` itself where it is there, else a transfer.

    >>> type(asarray([1.0, 2.0])).__name__
    'DeviceArray'
    """
    if isinstance(x, DeviceArray):
        return x if dtype is None or x.dtype == dtype else x.astype(dtype)
    if not isinstance(x, np.ndarray | list | tuple) or not isinstance(x, np.ndarray) and _holds(x):
        return computed(np.asarray, (x,), {} if dtype is None else {"dtype": dtype})
    return DeviceArray(np.asarray(x, dtype))


def _holds(x: Any) -> bool:
    return isinstance(x, DeviceArray) or (isinstance(x, list | tuple) and any(map(_holds, x)))


def array(x: Any, dtype: Any = None, copy: bool = True) -> Any:
    """A new array on the device.

    >>> array([1.0, 2.0]).shape
    (2,)
    """
    found = asarray(x, dtype)
    return found.copy() if found is x and copy else found


def asnumpy(x: Any) -> Any:
    """A copy as an array of NumPy's, which is a transfer.

    >>> asnumpy(asarray([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    return x.get() if isinstance(x, DeviceArray) else np.asarray(x)


def get_array_module(*args: Any) -> ModuleType:
    """This module where an argument is an array of its own, else NumPy.

    >>> get_array_module(np.ones(2)).__name__
    'numpy'
    """
    return sys.modules[__name__] if any(isinstance(x, DeviceArray) for x in args) else np


def _functions(of: Any, module: str) -> dict[str, Any]:
    """The functions of the double's for a module of NumPy's, and its other names as they are."""
    found: dict[str, Any] = {}
    for name, value in list(vars(of).items()):  # not dir: NumPy imports numpy.testing and others when asked for them
        if not name.startswith("_") and not isinstance(value, ModuleType):
            plain = callable(value) and not isinstance(value, type) and hasattr(value, "__name__")
            found[name] = _function(value, module) if plain else value
    return found


def _module(below: str) -> ModuleType:
    made = ModuleType(f"{__name__}.{below}")
    if below == "lib":
        made.stride_tricks = ModuleType(f"{made.__name__}.stride_tricks")  # type: ignore[attr-defined]
        made.stride_tricks.__dict__.update(_functions(np.lib.stride_tricks, made.__name__))
    else:
        made.__dict__.update(_functions(getattr(np, below), made.__name__))
    sys.modules[made.__name__] = made
    return made


def _erf(x: DeviceArray) -> DeviceArray:
    each = np.frompyfunc(math.erf, 1, 1)
    return on_device(np.asarray(each(x._data), x.dtype if x.dtype.kind == "f" else float))


class Generator:
    """A generator of random numbers on the device, as ``cupy.random.Generator`` in part."""

    def __init__(self, seed: int) -> None:
        self._draws = np.random.default_rng(seed)

    def random(self, size: Any = None) -> DeviceArray:
        """Numbers from 0 to 1."""
        return on_device(np.asarray(self._draws.random(size)))


random = ModuleType(f"{__name__}.random")
random.__dict__.update(default_rng=Generator, Generator=Generator)
special = ModuleType(f"{__name__}.special")
special.__dict__.update(erf=_erf)
_NAMES: dict[str, Any] = _functions(np, __name__) | {below: _module(below) for below in ("linalg", "fft", "lib")}
"""What CuPy has under NumPy's names, given by `__getattr__`: some are names of Python's own functions."""


def __getattr__(name: str) -> Any:
    try:
        return _NAMES[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})


register(Library(__name__, "cp", "the double of CuPy"))
