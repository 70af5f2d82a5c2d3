"""Outside calls: Python functions that a compiled program may call because they are pure."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.loops.loop_ir import Array, Bail, Bailout, OutsideCall, Owner, Scalar, dtype_of

_MODULES = frozenset(
    f"tangentx.arrays.{name}"
    for name in """adjoints bands convolutions edges einsums error_function factorisations places pooling products
    quantiles safe shapes special spectra splines triangles zeros""".split()
)
_NOT_OF_NUMPY = frozenset(
    """apply_along_axis apply_over_axes copyto empty empty_like fill_diagonal frombuffer fromfile fromfunction
    frompyfunc fromiter geterr load loadtxt may_share_memory memmap nditer ndenumerate ndindex piecewise place put
    put_along_axis putmask save savetxt savez seterr shares_memory vectorize""".split()
)
_METHODS = frozenset(
    """all any argmax argmin argsort astype clip conj conjugate copy cumprod cumsum diagonal dot flatten max mean min
    nonzero prod ravel repeat reshape round searchsorted squeeze std sum swapaxes take trace transpose var""".split()
)


def is_allowed(fn: Callable[..., Any]) -> bool:
    """Whether `fn` is such a function."""
    name = getattr(fn, "__name__", "")
    if getattr(fn, "__module__", None) in _MODULES:
        return True
    if getattr(fn, "__objclass__", None) is np.ndarray:
        return name in _METHODS
    if isinstance(fn, type) or name in _NOT_OF_NUMPY:
        return False
    return fn in (builtins.round, operator.matmul) or any(
        getattr(home, name, None) is fn for home in (np, np.linalg, np.fft)
    )


class Unlike(Exception):
    """A function gave something else than a program was compiled for."""


def checked(result: Any, call: OutsideCall) -> tuple[Any, ...]:
    """The results of a call, one after the other, in memory of their own. Raises Unlike where one is none of the type
    that the program has."""
    if call.many is None:
        return (_checked(result, call.results[0]),)
    if call.many == ():
        return ()
    if type(result) is not tuple or len(result) != len(call.many):
        raise Unlike
    found = [value for value, stored in zip(result, call.many, strict=True) if stored]
    return tuple(map(_checked, found, call.results))


def _checked(result: Any, type_: Scalar | Array) -> Any:
    if isinstance(type_, Array):
        if type(result) is not np.ndarray or result.dtype != dtype_of(type_.code) or result.ndim != type_.rank:
            raise Unlike
        return result if result.flags.owndata else result.copy(order="K")
    if type(result) is not class_of(type_):
        raise Unlike
    return result


def class_of(type_: Scalar) -> type:
    """The class of a number of a type, Python's where it may be either."""
    if type_.owner is Owner.NUMPY:
        return dtype_of(type_.code).type
    return {"f": float, "i": int, "b": bool}[type_.code[0]]


def stopped(error: Exception) -> Bailout:
    """What is raised where a function raised an error: the generated Python will raise it, too."""
    return Bailout((Bail.MEMORY if isinstance(error, MemoryError) else Bail.RAISED).value)
