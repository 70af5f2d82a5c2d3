"""Tells the user's own code from library code."""

from __future__ import annotations

import operator
import os
import sys
import types
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tangentx.common.naming import with_article
from tangentx.errors import INSIDE, NotDifferentiable, is_library, place, span_of
from tangentx.tensor.core.modes import STATE, refusal

_MODELS = str(Path(__file__).resolve().parents[2] / "nn") + os.sep
"""Where layers are, which are programs as users write them."""
OURS = str(Path(__file__).resolve().parents[2]) + os.sep


def is_users(function: Any) -> bool:
    """Whether it is a function that the user has written, whose text is run on Tensors."""
    if type(function) is not types.FunctionType:
        return False
    file = function.__code__.co_filename
    if file.startswith(_MODELS) or not (file.startswith(OURS) or is_library(file)):
        return True
    home: str = STATE.program.home if STATE.program is not None else ""
    module = str(function.__globals__.get("__name__", ""))  # whatever `functools.wraps` has said
    return bool(home) and not file.startswith(OURS) and module.partition(".")[0] == home


def is_of_models(module: str) -> bool:
    """Whether the module that is named has layers, whose objects are as those of users' classes."""
    return module.startswith("tangentx.nn.")


def _top(thing: Any) -> str:
    return str(getattr(thing, "__module__", None) or "").partition(".")[0]


@lru_cache(maxsize=10_000)
def _is_installed(top: str) -> bool:
    module = sys.modules.get(top)
    file = getattr(module, "__file__", None) or ""
    return (
        top in sys.builtin_module_names or top in sys.stdlib_module_names or file.startswith(OURS) or is_library(file)
    )


def is_users_class(cls: type) -> bool:
    """Whether a class is of the user's files."""
    top = _top(cls)
    if STATE.program is not None and STATE.program.home == top:
        return True
    return not _is_installed(top)


_PLAIN = frozenset((np.ndarray, np.float64, np.int64, bool, int, float, complex, str, bytes, type(None), slice))


def as_said(value: Any, version: Callable[[Any], Any], protocol: str = "") -> Any:
    """The array that an object of the user's says that it is by `__array__`, or the list of its items; any other value
    as it is, and one of a class with a say in functions by the `protocol`. Of lists and tuples the items.

    NumPy would ask the object itself, and take no Tensor for an answer.
    """
    kind = type(value)
    if kind in _PLAIN or (protocol and hasattr(kind, protocol)):
        return value
    if kind is list or kind is tuple:
        items = [as_said(item, version, protocol) for item in value]
        return value if all(map(operator.is_, items, value)) else kind(items)
    own = getattr(kind, "__array__", None)
    if own is not None:
        return version(own)(value) if is_users(own) else value
    count, item = getattr(kind, "__len__", None), getattr(kind, "__getitem__", None)
    if is_users(count) and is_users(item):
        return [version(item)(value, i) for i in range(version(count)(value))]
    return value


def refuse_said(value: Any) -> None:
    """Refuses an object of the user's that says which array it is where NumPy has asked it by itself."""
    if is_users(getattr(type(value), "__array__", None)):
        raise _said(with_article(type(value).__name__), span_of(place()))


def refuse_answer(error: ValueError) -> None:
    """Refuses what code that cannot be read had NumPy ask an object for, if this is what it was answered."""
    if str(error) == "object __array__ method not producing an array":
        where, step = None, error.__traceback__
        while step is not None:
            code = step.tb_frame.f_code
            where, step = (where if INSIDE[code.co_filename] else (code, step.tb_lasti)), step.tb_next
        raise _said("an object", span_of(where))


def _said(what: str, where: Any) -> Exception:
    message = f"{what} is made an array of by NumPy, which takes no Tensor from its `__array__`"
    return refusal(NotDifferentiable(message, where, "make the array yourself, with np.asarray"))
