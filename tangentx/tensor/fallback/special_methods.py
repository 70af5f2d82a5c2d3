"""Operators on Tensors in user code: special methods and properties of the user's classes.
which Python would call by itself, are called in their version on Tensors, and Tensors answer as what they stand for.

All other operands are met by the operator itself. A value with a derivative that is stored in an array of whole
numbers is stored as a number: nothing flows through that.
"""

from __future__ import annotations

import functools
import operator
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.common.axes import axis_and_rank
from tangentx.common.naming import with_article
from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.calls.apply import call
from tangentx.tensor.core.containers import LASTING, consist_of, holds_tensor, raw, tensors_in
from tangentx.tensor.core.modes import STATE, refusal
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.fallback.equal_values import compared
from tangentx.tensor.fallback.escaped_values import demand_seen, tells_of_deaths
from tangentx.tensor.fallback.formatted_values import telling
from tangentx.tensor.fallback.interposition import mark
from tangentx.tensor.fallback.introspection import attribute_of, demand_settable, pattern
from tangentx.tensor.fallback.iteration import Reader
from tangentx.tensor.fallback.reachable import is_late

_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "or", "and", "xor")
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_PLAIN = frozenset((Tensor, np.ndarray, float, int, bool, complex, str, list, tuple, dict, np.float64, np.int64))
_ATOMS = frozenset((float, int, bool, complex, str, np.float64, np.int64, np.ndarray, type(None)))
_ROWS: Any = (list, tuple, deque, range, type({}.values()))
_EXTENDED: dict[type, str] = {list: "__iadd__", deque: "__iadd__", dict: "__ior__"}
"""The operator that adds what it reads of any object to a container."""
_NONE: Any = object()
_FREE = LASTING | {np.ndarray}
Version = Callable[[Any], Any]


def touch(x: Any, value: Any) -> None:
    """Notes that an object has been given a value, which may be or hold a Tensor: see `escaped_values`."""
    program = STATE.program
    if program is not None and type(value) not in _FREE and not (type(value) is tuple and consist_of(_FREE, value)):
        if program.touched.add(x):
            demand_seen(x, program)
        if is_late(value):
            program.places[id(value)] = place()


def meanings(version: Version, theirs: Callable[[Any], bool]) -> dict[str, Any]:
    """By their marks the functions for operators; `version` is that of a function of the user's, which are `theirs`."""

    def method(x: Any, name: str) -> Any:
        """A special method that the user has written."""
        found = getattr(type(x), name, None)
        return version(found) if theirs(found) else None

    reader = Reader(version)
    found: dict[str, Any] = {"slice": slice, "pattern": pattern}
    for name in _BINARY:
        plainly = getattr(operator, f"{name}_" if name in ("or", "and") else name)
        if name == "mod":
            plainly = _remainder
        found[name] = _binary(plainly, f"__{name}__", f"__r{name}__", method)
        found[f"i{name}"] = _in_place(getattr(operator, f"i{name}"), f"__i{name}__", found[name], method, reader)
    for name, mirrored in _MIRRORED.items():
        plainly = functools.partial(_compare, getattr(operator, name))
        found[name] = _binary(plainly, f"__{name}__", f"__{mirrored}__", method)
    for name in ("neg", "pos"):
        found[name] = _unary(getattr(operator, name), f"__{name}__", method)
    found |= {"iteration": reader.items, "rows": reader.rows, "pairs": reader.pairs, "truth": reader.truth}
    found["item"] = item = _item(method)
    found["store"] = store = _store(method, reader.items)
    found["in"] = _contained(method)
    found["manager"] = _manager(method)
    found |= _attributes(version, theirs)
    found |= _changes(found, item, store)
    return {mark(name): function for name, function in found.items()}


def special(function: Callable[..., Any], name: str, version: Version, theirs: Callable[[Any], bool]) -> Any:
    """A function of Python's that calls a special method, such as ``abs``."""

    def ask(*args: Any, **kwargs: Any) -> Any:
        found = getattr(type(args[0]), name, None) if args else None
        own = theirs(found) or tells_of_deaths(found)
        return version(found)(*args, **kwargs) if own else function(*args, **kwargs)

    return ask


def _binary(plainly: Any, name: str, reflected: str, method: Callable[[Any, str], Any]) -> Callable[[Any, Any], Any]:
    def operate(x: Any, y: Any) -> Any:
        if type(x) in _PLAIN and type(y) in _PLAIN:
            try:
                return plainly(x, y)
            except TypeError as error:
                raise _in_program(error, plainly, x, y) from None
        x, y = _met(x, y, name, method)
        first, second = method(x, name), method(y, reflected)
        if first is None and second is None:
            return _tried(plainly, x, y)
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
        return _tried(plainly, x, y)  # raises what Python raises

    return operate


def _tried(plainly: Any, x: Any, y: Any) -> Any:
    try:
        return plainly(x, y)
    except TypeError as error:
        raise _in_program(error, plainly, x, y) from None


def _in_program(error: TypeError, plainly: Any, x: Any, y: Any) -> TypeError:
    """The error as the operator raises it of what the Tensors stand for, which is what the program was written for."""
    if type(x) is Tensor or type(y) is Tensor:
        first, second = raw(x), raw(y)
        try:
            plainly(first.copy() if isinstance(first, np.ndarray) else first, second)
        except TypeError as plain:
            return plain
    return error


def _met(x: Any, y: Any, name: str, method: Callable[[Any, str], Any]) -> tuple[Any, Any]:
    """The operands, with the array that one of them says it is where it meets an array, which NumPy would ask it for:
    before what the class of a second operand says of the operator, after what that of a first says."""
    if _is_array(x):
        return x, _said(y, method)
    return (_said(x, method), y) if _is_array(y) and method(x, name) is None else (x, y)


def _is_array(x: Any) -> bool:
    return isinstance(x._primal if type(x) is Tensor else x, np.ndarray | np.generic)


def _said(x: Any, method: Callable[[Any, str], Any]) -> Any:
    kind = type(x)
    if kind in _PLAIN or hasattr(kind, "__array_ufunc__") or hasattr(kind, "__array_priority__"):
        return x
    own = method(x, "__array__")
    if own is None and method(x, "__len__") is not None and method(x, "__getitem__") is not None:
        what = with_article(kind.__name__)
        message = f"NumPy makes an array of the items of {what} here, whatever the class says of the operator"
        raise refusal(NotDifferentiable(message, span_of(place()), "make the array yourself, with np.array"))
    return x if own is None else own(x)


def _remainder(x: Any, y: Any) -> Any:
    """``x % y``; a text is filled in with the plain values."""
    return _filled_in(x, y) if isinstance(x, str | bytes) else x % y


@telling
def _filled_in(form: Any, values: Any) -> Any:
    return form % raw(values)


def _compare(fn: Any, x: Any, y: Any) -> Any:
    """A comparison that the program writes: of Tensors by their values, of what may hold them item by item."""
    if type(x) is Tensor or type(y) is Tensor:
        return fn(raw(x), raw(y))
    if type(x) in _ATOMS or type(y) in _ATOMS:
        return fn(x, y)
    return compared(lambda: fn(x, y))


def _contained(method: Callable[[Any, str], Any]) -> Callable[[Any, Any], Any]:
    def contained(x: Any, row: Any) -> Any:
        own = None if type(row) in _PLAIN else method(row, "__contains__")
        if own is not None:
            return bool(own(row, x))
        if not isinstance(row, _ROWS):
            return x in row  # in a set or a dict it is a key
        return compared(lambda: x in row)

    return contained


class _Managed:
    """A context manager of the user's whose methods are run on Tensors."""

    def __init__(self, x: Any, enter: Any, leave: Any) -> None:
        self.x, self.enter, self.leave = x, enter, leave

    def __enter__(self) -> Any:
        return type(self.x).__enter__(self.x) if self.enter is None else self.enter(self.x)

    def __exit__(self, *error: Any) -> Any:
        return type(self.x).__exit__(self.x, *error) if self.leave is None else self.leave(self.x, *error)


def _manager(method: Callable[[Any, str], Any]) -> Callable[[Any], Any]:
    def manager(x: Any) -> Any:
        enter, leave = method(x, "__enter__"), method(x, "__exit__")
        return x if enter is None and leave is None else _Managed(x, enter, leave)

    return manager


def _changes(found: dict[str, Any], item: Any, store: Any) -> dict[str, Any]:
    """``x[key] += value`` and ``x.name += value``: what is there is read first, as Python does it."""

    def change(operate: Any) -> Callable[[Any, Any], None]:
        def changed(there: tuple[Any, Any, Any, Any], value: Any) -> None:
            x, key, old, put = there
            put(operate(old, value), x, key)

        return changed

    def part(x: Any, key: Any) -> Any:
        return x, key, item(x, key), store

    def member(x: Any, name: str) -> Any:
        return x, name, found["attribute"](x, name), found["setting"]

    return {"part": part, "member": member, **{f"change i{name}": change(found[f"i{name}"]) for name in _BINARY}}


def _in_place(
    plainly: Any, name: str, otherwise: Any, method: Callable[[Any, str], Any], reader: Reader
) -> Callable[[Any, Any], Any]:
    def operate(x: Any, y: Any) -> Any:
        if type(y) not in _PLAIN and type(x) in _EXTENDED and name == _EXTENDED[type(x)]:
            y = reader.pairs(y) if type(x) is dict else reader.items(y)
        if type(x) in _PLAIN and type(y) in _PLAIN:
            if type(x) is list or type(x) is dict:
                touch(x, y)
            elif type(x) is str:
                return otherwise(x, y)
            return _tried(plainly, x, y)
        touch(x, y)
        if type(x) is Tensor and type(x._primal) is np.ndarray and getattr(type(y), "__array_ufunc__", _NONE) is None:
            np.add(x._primal, y)  # raises what NumPy raises
        own = method(x, name)
        result = NotImplemented if own is None else own(x, y)
        if result is not NotImplemented:
            return result
        return _tried(plainly, *_met(x, y, name, method)) if own is None and hasattr(type(x), name) else otherwise(x, y)

    return operate


def _unary(plainly: Any, name: str, method: Callable[[Any, str], Any]) -> Callable[[Any], Any]:
    def operate(x: Any) -> Any:
        own = None if type(x) in _PLAIN else method(x, name)
        return plainly(x) if own is None else own(x)

    return operate


def _item(method: Callable[[Any, str], Any]) -> Callable[[Any, Any], Any]:
    def item(x: Any, key: Any) -> Any:
        if type(x) is Tensor:
            found = operator.getitem(x, key)
            plain = type(found) is Tensor and not found._needs and type(found._primal) is not np.ndarray
            # A number that is constant needs no history; where nothing is recorded (`checkpoint`), nobody can tell.
            return found._primal if plain and STATE.grad else found
        if type(x) in _PLAIN:
            return x[key]
        if x is np.r_ or x is np.c_:
            return _joined(x, key if isinstance(key, tuple) else (key,))
        own = method(x, "__getitem__")
        return x[key] if own is None else own(x, key)

    return item


def _joined(x: Any, parts: tuple[Any, ...]) -> Any:
    """``np.r_[parts]`` or ``np.c_[parts]`` in terms of functions that have rules, where Tensors are among the parts."""
    if x is np.r_ and isinstance(parts[0], str) and holds_tensor(parts):
        return _directed(x, parts)
    rows = [np.r_[part] if isinstance(part, slice) else part for part in parts]
    ranks = {np.ndim(row) for row in rows}
    if not holds_tensor(parts) or any(isinstance(row, str) for row in rows):
        return x[parts]
    if x is np.r_ and (ranks <= {0, 1} or ranks == {2}):
        return call(np.concatenate, ([call(np.atleast_1d, (row,), {}) for row in rows],), {})
    if x is np.c_ and ranks <= {1, 2}:
        return call(np.column_stack, (rows,), {})
    return x[parts]  # is refused where a derivative would be lost


def _directed(x: Any, parts: tuple[Any, ...]) -> Any:
    """``np.r_["axis,rank", ...]``."""
    axis, rank = axis_and_rank(parts[0])
    if rank not in (1, 2):
        return x[parts]  # is refused
    least = np.atleast_1d if rank == 1 else np.atleast_2d
    rows = [np.r_[part] if isinstance(part, slice) else part for part in parts[1:]]
    return call(np.concatenate, ([call(least, (row,), {}) for row in rows], axis), {})


def _store(method: Callable[[Any, str], Any], items: Callable[[Any], Any]) -> Callable[[Any, Any, Any], None]:
    def store(value: Any, x: Any, key: Any) -> None:
        if type(x) is np.ndarray and x.dtype.kind in "biu":
            x[key] = raw(value)
            return
        if type(x) is np.ndarray and x.dtype.kind == "O":
            demand_plain(value)
        touch(x, value)
        if key is not None and type(key) not in _FREE:
            touch(x, key)
        if type(x) is list and type(key) is slice:
            value = items(value)
        own = None if type(x) in _PLAIN else method(x, "__setitem__")
        if own is None:
            x[key] = _said(value, method) if type(x) is Tensor else value
        else:
            own(x, key, value)

    return store


def demand_plain(value: Any) -> None:
    """Refuses to put what is differentiated into an array of objects, whose operations have no derivative."""
    if any(t.requires_grad for t in tensors_in(value)):
        message = "a value that is being differentiated goes into an array of objects: its derivative would be lost"
        raise refusal(NotDifferentiable(message, span_of(place()), "use an array of floats, or a list"))


def _attributes(version: Version, theirs: Callable[[Any], bool]) -> dict[str, Callable[..., Any]]:
    def attribute(x: Any, name: str) -> Any:
        if type(x) is Tensor:
            return attribute_of(x, name)
        found = None if type(x) in _PLAIN else _of_class(type(x), name)
        if found is None:
            return getattr(x, name) if type(x) in _PLAIN else _otherwise(x, name)
        if type(found) is property and theirs(found.fget):
            return version(found.fget)(x)
        if type(found) is functools.cached_property and theirs(found.func):
            space = vars(x)
            if name not in space:
                touch(x, found)
                space[name] = version(found.func)(x)
            return space[name]
        ask = getattr(type(found), "__get__", None)
        if theirs(ask) and (hasattr(type(found), "__set__") or name not in getattr(x, "__dict__", ())):
            return version(ask)(found, x, type(x))
        return getattr(x, name)

    def _otherwise(x: Any, name: str) -> Any:
        """What an object has itself, or what its class makes up."""
        made_up = _of_class(type(x), "__getattr__")
        if not theirs(made_up):
            return getattr(x, name)
        look_up: Any = type(x).__getattribute__
        try:
            return look_up(x, name)
        except AttributeError:
            return version(made_up)(x, name)

    return {"attribute": attribute, "setting": _setting(version, theirs)}


def _setting(version: Version, theirs: Callable[[Any], bool]) -> Callable[[Any, Any, str], None]:
    def setting(value: Any, x: Any, name: str) -> None:
        touch(x, value)
        if type(x) is Tensor:
            demand_settable(x, name)
        found, store = _of_class(type(x), name), _of_class(type(x), "__setattr__")
        put = getattr(type(found), "__set__", None)
        if theirs(store):
            version(store)(x, name, value)
        elif type(found) is property and theirs(found.fset):
            version(found.fset)(x, value)
        elif theirs(put):
            version(put)(found, x, value)
        else:
            setattr(x, name, value)

    return setting


def _of_class(cls: type, name: str) -> Any:
    """What a class has by a name, without asking it."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


OPERATORS: dict[str, Any] = {
    **{name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos")},
    **{name: getattr(operator, f"{name}_" if name in ("or", "and") else name) for name in _BINARY},
    **{f"i{name}": getattr(operator, f"i{name}") for name in _BINARY},
    "item": operator.getitem,
}
"""By the name of an operator the function of the library that does the same."""
