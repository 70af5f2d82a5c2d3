"""Forms of values: which are differentiable, and cotangents converted to the form of their primals."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays import guarded, unbroadcast
from tangentx.arrays.libraries import ARRAYS, ELSEWHERE, library_of, library_of_class
from tangentx.arrays.shapes import resized
from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.core.modes import refusal

_total = np.add.reduce
_NOTHING = np.zeros(2048)
_ZEROS = tuple(_NOTHING[:size] for size in range(_NOTHING.size))  # by them few numbers are added up the quickest
_ONES = tuple(np.ones(size) for size in range(129))  # and few rows
_FLOAT = np.dtype(float)
_INEXACT = (float, complex, np.inexact)
_OTHERS = frozenset("OSUTV")


def inexact(data: Any) -> bool:
    """Whether a value is real or complex."""
    if isinstance(data, np.ndarray) or type(data) in ELSEWHERE:
        return data.dtype.kind in "fc"
    return isinstance(data, _INEXACT)


def demand_numbers(data: Any) -> None:
    """Refuses an array of objects or texts that takes part in what is differentiated: what it holds has no derivative,
    or loses it."""
    if type(data) is np.ndarray and data.dtype.kind in _OTHERS:
        what = {"O": "objects", "V": "records"}.get(data.dtype.kind, "texts")
        message = f"a value that is being differentiated meets an array of {what}: its derivative would be lost"
        raise refusal(NotDifferentiable(message, span_of(place()), "use an array of floats, or a list"))


def like_of(data: Any) -> Any:
    """What has to be known of a value to bring a cotangent into its form: shape and dtype, and the class of an array of
    another library than NumPy; or the number itself."""
    if type(data) is np.ndarray:
        return data.shape, data.dtype
    return (data.shape, data.dtype, type(data)) if type(data) in ELSEWHERE else data


def sample(like: Any) -> Any:
    """A value of the form, which takes no memory to speak of."""
    return np.broadcast_to(zeros(((), *like[1:])), like[0]) if type(like) is tuple else like


def zeros(like: Any) -> Any:
    """The zero of the form."""
    return _namespace(like).zeros(*like[:2]) if type(like) is tuple else type(like)(0)


def ones(like: Any) -> Any:
    """The one of the form."""
    return _namespace(like).ones(*like[:2]) if type(like) is tuple else type(like)(1)


def _namespace(like: Any) -> Any:
    """The module of the library in which the values of a form lie."""
    library = library_of_class(like[2]) if len(like) > 2 else None
    return np if library is None else library.namespace


def dtype_of(data: Any) -> Any:
    """The dtype of a number or an array."""
    return data.dtype if type(data) in ARRAYS else np.asarray(data).dtype


def array_like(value: Any, data: Any) -> Any:
    """A value as an array in the library of `data`; one of a library as it is."""
    if type(data) in ELSEWHERE and type(value) not in ELSEWHERE:
        return library_of(data).namespace.asarray(value)
    return value if type(value) in ARRAYS else np.asarray(value)


def fits(bar: Any, like: Any) -> bool:
    """Whether a cotangent has the form already."""
    if type(like) is tuple:
        home = np.ndarray if len(like) == 2 else like[2]
        return type(bar) is home and bar.shape == like[0] and bar.dtype == like[1]
    return type(bar) is type(like)


def fit(bar: Any, like: Any) -> Any:
    """A cotangent in the form of what it belongs to: broadcasting undone, domain and dtype those of the value."""
    if fits(bar, like):
        return bar
    if type(like) is tuple and type(bar) is np.ndarray and bar.dtype == like[1] and like[0]:
        shape = bar.shape
        if shape[1:] != like[0]:
            return resized(bar, like[0])
        few = len(shape) == 2 and shape[0] < len(_ONES) and bar.dtype is _FLOAT
        return _ONES[shape[0]].dot(bar) if few else np.add.reduce(bar)
    return as_number(unbroadcast(bar, sample(like)), like)


def times(partial: Any, bar: Any) -> Any:
    """Their product, exactly 0 where either is 0: what was selected away gives nothing, even if infinite.

    Whoever calls it has NumPy ignore invalid products.
    """
    product = partial * bar
    if type(product) is np.ndarray:
        size = product.size
        if size < len(_ZEROS):
            total = (product if product.ndim == 1 else product.ravel("K")).dot(_ZEROS[size])
        else:
            total = _total(product, axis=None)
    elif type(product) is float:
        return 0.0 if bar == 0.0 or partial == 0.0 else product
    elif type(product) in ELSEWHERE:
        return guarded(partial, bar)
    else:
        total = product
    return product if total == total else guarded(partial, bar)  # nan is not equal to itself


def as_number(bar: Any, like: Any) -> Any:
    """A cotangent of a Python number is one."""
    if isinstance(like, float | complex) and type(bar) is not type(like):
        return type(like)(np.reshape(bar, ())[()])
    return bar
