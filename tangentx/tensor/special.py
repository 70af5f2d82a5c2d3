"""What the operators of a text mean where it runs on Tensors: special methods and properties of the user's classes,
which Python would call by itself, are called in their version on Tensors.

All other operands are met by the operator itself. A value with a derivative that is stored in an array of whole
numbers is stored as a number: nothing flows through that.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.tensor.apply import call
from tangentx.tensor.asked import mark
from tangentx.tensor.core import Tensor
from tangentx.tensor.holding import holds_tensor, raw

_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_PLAIN = frozenset((Tensor, np.ndarray, float, int, bool, complex, str, list, tuple, dict, np.float64, np.int64))
Version = Callable[[Any], Any]


def meanings(version: Version, theirs: Callable[[Any], bool]) -> dict[str, Any]:
    """By their marks the functions for operators; `version` is that of a function of the user's, which are `theirs`."""

    def method(x: Any, name: str) -> Any:
        """A special method that the user has written."""
        found = getattr(type(x), name, None)
        return version(found) if theirs(found) else None

    found: dict[str, Any] = {"slice": slice}
    for name in _BINARY:
        found[name] = _binary(getattr(operator, name), f"__{name}__", f"__r{name}__", method)
        found[f"i{name}"] = _in_place(getattr(operator, f"i{name}"), f"__i{name}__", found[name], method)
    for name, mirrored in _MIRRORED.items():
        found[name] = _binary(getattr(operator, name), f"__{name}__", f"__{mirrored}__", method)
    for name in ("neg", "pos"):
        found[name] = _unary(getattr(operator, name), f"__{name}__", method)
    found["iteration"] = _unary(lambda x: x, "__iter__", method)
    found["item"] = _item(method)
    found["store"] = _store(method)
    found |= _attributes(version, theirs)
    return {mark(name): function for name, function in found.items()}


def special(function: Callable[..., Any], name: str, version: Version, theirs: Callable[[Any], bool]) -> Any:
    """A function of Python's that calls a special method, such as ``abs``."""

    def ask(x: Any, *args: Any) -> Any:
        found = getattr(type(x), name, None)
        return version(found)(x, *args) if theirs(found) else function(x, *args)

    return ask


def _binary(plainly: Any, name: str, reflected: str, method: Callable[[Any, str], Any]) -> Callable[[Any, Any], Any]:
    def operate(x: Any, y: Any) -> Any:
        if type(x) in _PLAIN and type(y) in _PLAIN:
            return plainly(x, y)
        first, second = method(x, name), method(y, reflected)
        if first is None and second is None:
            return plainly(x, y)
        tried = [
            (first or getattr(type(x), name, None), x, y),
            (second or getattr(type(y), reflected, None), y, x),
        ]
        if type(y) is not type(x) and issubclass(type(y), type(x)):
            tried.reverse()  # as Python asks the operand of the special class first
        elif type(y) is type(x) and name.strip("_") in _BINARY:
            tried.pop()
        for function, own, other in tried:
            result = NotImplemented if function is None else function(own, other)
            if result is not NotImplemented:
                return result
        return plainly(x, y)  # raises what Python raises

    return operate


def _in_place(plainly: Any, name: str, otherwise: Any, method: Callable[[Any, str], Any]) -> Callable[[Any, Any], Any]:
    def operate(x: Any, y: Any) -> Any:
        if type(x) in _PLAIN and type(y) in _PLAIN:
            return plainly(x, y)
        own = method(x, name)
        result = NotImplemented if own is None else own(x, y)
        if result is not NotImplemented:
            return result
        return plainly(x, y) if own is None and hasattr(type(x), name) else otherwise(x, y)

    return operate


def _unary(plainly: Any, name: str, method: Callable[[Any, str], Any]) -> Callable[[Any], Any]:
    def operate(x: Any) -> Any:
        own = None if type(x) in _PLAIN else method(x, name)
        return plainly(x) if own is None else own(x)

    return operate


def _item(method: Callable[[Any, str], Any]) -> Callable[[Any, Any], Any]:
    def item(x: Any, key: Any) -> Any:
        if type(x) in _PLAIN:
            return x[key]
        if x is np.r_ or x is np.c_:
            return _joined(x, key if isinstance(key, tuple) else (key,))
        own = method(x, "__getitem__")
        return x[key] if own is None else own(x, key)

    return item


def _joined(x: Any, parts: tuple[Any, ...]) -> Any:
    """``np.r_[parts]`` or ``np.c_[parts]`` in terms of functions that have rules, where Tensors are among the parts."""
    rows = [np.r_[part] if isinstance(part, slice) else part for part in parts]
    ranks = {np.ndim(row) for row in rows}
    if not holds_tensor(parts) or any(isinstance(row, str) for row in rows):
        return x[parts]
    if x is np.r_ and (ranks <= {0, 1} or ranks == {2}):
        return call(np.concatenate, ([call(np.atleast_1d, (row,), {}) for row in rows],), {})
    if x is np.c_ and ranks <= {1, 2}:
        return call(np.column_stack, (rows,), {})
    return x[parts]  # is refused where a derivative would be lost


def _store(method: Callable[[Any, str], Any]) -> Callable[[Any, Any, Any], None]:
    def store(value: Any, x: Any, key: Any) -> None:
        if type(x) is np.ndarray and x.dtype.kind in "biu":
            x[key] = raw(value)
            return
        own = None if type(x) in _PLAIN else method(x, "__setitem__")
        if own is None:
            x[key] = value
        else:
            own(x, key, value)

    return store


def _attributes(version: Version, theirs: Callable[[Any], bool]) -> dict[str, Callable[..., Any]]:
    def attribute(x: Any, name: str) -> Any:
        found = None if type(x) in _PLAIN else getattr(type(x), name, None)
        if type(found) is property and theirs(found.fget):
            return version(found.fget)(x)
        return getattr(x, name)

    def setting(value: Any, x: Any, name: str) -> None:
        found = getattr(type(x), name, None)
        if type(found) is property and theirs(found.fset):
            version(found.fset)(x, value)
        else:
            setattr(x, name, value)

    return {"attribute": attribute, "setting": setting}
