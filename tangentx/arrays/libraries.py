"""Array libraries that follow NumPy's interface: names, random numbers, and transfers between memories."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable, place, span_of

# Array libraries that follow NumPy's interface: their own name for each NumPy function, and where arrays live.
#
# CuPy is known by its name and imported by nobody here. `register` adds another one.

_NAMESPACES = ("", "linalg", "fft", "lib.stride_tricks")
"""The modules below NumPy's own whose functions other libraries have under the same names."""


@dataclass(frozen=True)
class Library:
    """A library of arrays: the module that programs import, its usual `alias` there, what people call it."""

    module: str
    alias: str
    shown: str

    @property
    def namespace(self) -> ModuleType:
        """The module, which a program that has such arrays has imported."""
        return sys.modules[self.module]

    @property
    def special(self) -> ModuleType:
        """The module of its special functions."""
        return importlib.import_module("cupyx.scipy.special") if self.module == "cupy" else self.namespace.special

    @property
    def array(self) -> Any:
        """The class of its arrays."""
        return self.namespace.ndarray


NUMPY = Library("numpy", "np", "NumPy")
_KNOWN: dict[str, Library] = {"numpy": NUMPY, "cupy": Library("cupy", "cp", "CuPy")}
_BY_ARRAY: dict[type, Library | None] = {np.ndarray: NUMPY}
ARRAYS: set[type] = {np.ndarray}
"""The classes of arrays that have been met: NumPy's, and those of other libraries."""
ELSEWHERE: set[type] = set()
"""Those of other libraries."""
_PLAIN: frozenset[type] = frozenset((float, int, bool, np.float64, type(None), list, tuple, dict))
"""Most of what is asked about and is no array."""
_FROM_NUMPY: dict[str, dict[int, tuple[Any, Any]]] = {}


def register(library: Library) -> None:
    """Makes the arrays of a library arguments of derivatives."""
    _KNOWN[library.module] = library
    _BY_ARRAY.clear()
    _BY_ARRAY[np.ndarray] = NUMPY


def library_called(module: str) -> Library:
    """The library that is imported as `module`."""
    return _KNOWN[module]


def library_of_class(cls: type) -> Library | None:
    """The library whose arrays are of exactly this class; None for any other class.

    >>> library_of_class(np.ndarray).shown, library_of_class(float)
    ('NumPy', None)
    """
    if cls not in _BY_ARRAY:
        if not hasattr(cls, "__array_function__"):
            return None
        _BY_ARRAY[cls] = found = next((each for each in _KNOWN.values() if _is_array_of(each, cls)), None)
        if found is not None:
            ARRAYS.add(cls)
            ELSEWHERE.add(cls)
    return _BY_ARRAY[cls]


def _is_array_of(library: Library, cls: type) -> bool:
    return library.module in sys.modules and getattr(library.namespace, "ndarray", None) is cls


def is_array(x: Any) -> bool:
    """Whether `x` is an array of NumPy's, of a subclass too, or of another library that is known."""
    if type(x) in _PLAIN:
        return False
    return isinstance(x, np.ndarray) or library_of_class(type(x)) is not None


def is_elsewhere(x: Any) -> bool:
    """Whether `x` is an array of another library than NumPy."""
    return not isinstance(x, np.ndarray) and library_of_class(type(x)) is not None


def _pairs(library: Library) -> Iterator[tuple[Any, Any]]:
    """Functions of the library's, each with that of NumPy's."""
    for below in _NAMESPACES:
        ours, theirs = (_below(m, below) for m in (np, library.namespace))
        # Not dir: NumPy imports numpy.testing and others when asked for them, and a fork would find their locks taken.
        for name, mine in list(vars(ours).items()) if theirs is not None else ():
            its = getattr(theirs, name, None)
            if callable(mine) and callable(its) and not name.startswith("_") and mine is not its:
                yield its, mine


def _below(module: ModuleType, path: str) -> Any:
    """A module by its path below another; None where there is none."""
    found: Any = module
    for name in filter(None, path.split(".")):
        found = getattr(found, name, None)
    return found


def numpy_function(fn: Any) -> tuple[Any, Library] | None:
    """The function of NumPy's that `fn` of another library stands for, with that library; None for other objects."""
    for library in _KNOWN.values():
        if library is NUMPY or library.module not in sys.modules:
            continue
        if library.module not in _FROM_NUMPY:
            _FROM_NUMPY[library.module] = {id(its): (its, mine) for its, mine in _pairs(library)}
        found = _FROM_NUMPY[library.module].get(id(fn))
        if found is not None:
            return found[1], library
        owner = getattr(fn, "__self__", None)
        whole = _FROM_NUMPY[library.module].get(id(owner))
        if whole is not None and isinstance(whole[1], np.ufunc):
            return getattr(whole[1], fn.__name__), library  # cp.add.reduce
    return None


def spelled_in(fn: Any, library: Library) -> Any:
    """The library's own function for `fn` of NumPy's; None where it has none, or `fn` is not NumPy's."""
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, np.ufunc):
        whole = spelled_in(owner, library)
        return None if whole is None else getattr(whole, fn.__name__, None)
    name = getattr(fn, "__name__", "")
    for below in _NAMESPACES:
        ours, theirs = (_below(m, below) for m in (np, library.namespace))
        if name and getattr(ours, name, None) is fn:
            return getattr(theirs, name, None)
    return None


def path_of(value: Any) -> tuple[Library, tuple[str, ...]] | None:
    """A library other than NumPy and the attributes of its module that lead to `value`, a function of it or the module
    itself; None for other objects."""
    if isinstance(value, ModuleType):
        library = _KNOWN.get(value.__name__)
        return None if library in (None, NUMPY) else (library, ())
    found = numpy_function(value)
    if found is None:
        return None
    fn, library = found
    if isinstance(getattr(fn, "__self__", None), np.ufunc):
        whole = path_of(value.__self__)
        return None if whole is None else (library, (*whole[1], fn.__name__))
    for below in _NAMESPACES:
        theirs = _below(library.namespace, below)
        if getattr(theirs, fn.__name__, None) is value:
            return library, (*filter(None, below.split(".")), fn.__name__)
    return None


def is_library(module: str) -> bool:
    """Whether a library of arrays is imported by this name."""
    return module in _KNOWN


def as_array(x: Any) -> Any:
    """An array of any library as it is, what else there is as an array of NumPy's."""
    return x if hasattr(type(x), "__array_function__") else np.asarray(x)


def zeros_of(t: Any, shape: tuple[int, ...]) -> Any:
    """Zeros of this shape, in the dtype and the library of `t`."""
    return np.zeros_like(t, order="C", shape=shape)


def counted(n: int, *like: Any) -> Any:
    """``np.arange(n)`` in the library of the first array of `like`: where the elements of an axis stand."""
    return library_of(*like).namespace.arange(n)


def array_of(items: Any) -> Any:
    """``np.array(items)`` of numbers or arrays in lists, in the library of the arrays among them."""
    library = library_of(*_flat(items))
    return np.array(items) if library is NUMPY else library.namespace.array(items)


def _flat(items: Any) -> Iterator[Any]:
    if isinstance(items, list | tuple):
        for item in items:
            yield from _flat(item)
    else:
        yield items


def added_at(a: Any, key: Any, v: Any) -> None:
    """``np.add.at(a, key, v)`` in the library of `a`."""
    library_of(a).namespace.add.at(a, key, v)


def library_of(*values: Any) -> Library:
    """The library of the first array among some values; NumPy where there is none."""
    found = (library_of_class(type(value)) for value in values)
    return next((each for each in found if each is not None), NUMPY)


# Random numbers on arrays of other libraries than NumPy.


def uniform_like(x: Any, seed: int) -> Any:
    """Numbers from 0 to 1, drawn from `seed` alone, one for each element of an array, in the memory where that lies."""
    generator = library_of(x).namespace.random.default_rng(seed)
    return generator.random(tuple(x.shape))


# Explicit transfers between NumPy's memory and a device.


def library_at(device: Any) -> Library:
    """The library whose arrays lie on a device: of "cpu", of "cuda" or "cuda:1", or of the library's module itself.

    Raises NotDifferentiable for what is no device, and where CuPy is not installed.
    """
    name = device.partition(":")[0] if isinstance(device, str) else ""
    if name == "cpu":
        return NUMPY
    if name in ("cuda", "gpu"):
        device = _cupy(device)
    found = library_of_class(getattr(device, "ndarray", object)) if isinstance(device, ModuleType) else None
    if found is None:
        hint = 'say "cpu", "cuda" or cupy; a dtype is given where a layer is made: `nn.Linear(2, 3, dtype=np.float32)`'
        raise NotDifferentiable(f"{device!r} is no device", span_of(place()), hint)
    return found


def _cupy(device: str) -> ModuleType:
    try:
        return importlib.import_module("cupy")
    except ImportError:
        message = f"there is no device {device!r} here: CuPy is not installed"
        hint = "pip install 'tangentx[cuda13]', or stay on \"cpu\""
        raise NotDifferentiable(message, span_of(place()), hint) from None


def to_host(x: Any) -> Any:
    """A copy of an array of another library as one of NumPy's: ``x.get()``, as CuPy has it; else `x` itself."""
    return x.get() if is_elsewhere(x) else as_array(x)


def to_library(x: Any, module: str) -> Any:
    """An array of NumPy's as one of the library that is imported as `module`: ``cp.asarray(x)``."""
    return library_called(module).namespace.asarray(x)


def brought(t: Any, like: Any) -> Any:
    """`t` in the memory in which `like` lies: the adjoint of a transfer from there."""
    if is_elsewhere(like) == is_elsewhere(t):
        return t
    return library_of(like).namespace.asarray(t) if is_elsewhere(like) else to_host(t)
