"""Introspection of Tensors: they answer as the number or array that they represent.

It has the attributes of that, and no others; its class, its strides, its text are those of the data. What would give
its memory or its digits away is refused where a derivative would be lost.
"""

from __future__ import annotations

import inspect
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.arrays import stop_gradient, zeros_as
from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.calls.apply import as_array, call
from tangentx.tensor.core.containers import holds_tensor, raw, tensors_in
from tangentx.tensor.core.forms import inexact
from tangentx.tensor.core.modes import STATE
from tangentx.tensor.core.tensor import Tensor, wrap
from tangentx.tensor.fallback.formatted_values import telling, told
from tangentx.tensor.fallback.interposition import names_in
from tangentx.tensor.fallback.programs import lost, program_of, refused
from tangentx.tensor.writes.writing import write

_MEMORY = frozenset(
    "data ctypes tobytes tofile dump dumps getfield as_integer_ratio __array_interface__ __array_struct__ __buffer__ "
    "__reduce__ __reduce_ex__ __getnewargs__".split()
)
"""Attributes of numbers and arrays by which their content leaves."""
_OF_DATA = frozenset("__class__ __doc__ strides itemsize nbytes dtype device is_integer __dir__ __sizeof__".split())
"""Attributes that are the data's own, and carry no derivative."""


class Flags:
    """The flags of an array, to be read."""

    def __init__(self, t: Tensor) -> None:
        object.__setattr__(self, "_of", t)

    def __getattr__(self, name: str) -> Any:
        own = getattr(self._of.current.flags, name)
        return own or self._of._owner if name == "owndata" else own

    def __getitem__(self, key: str) -> Any:
        own = self._of.current.flags[key]
        return own or self._of._owner if key in ("OWNDATA", "O") else own

    def __setattr__(self, name: str, value: Any) -> None:
        hint = "leave the flags of what is differentiated alone, or set them on a copy: `np.array(x)`"
        raise refused(self._of, NotDifferentiable("flags of an array are set", span_of(place()), hint))

    __setitem__ = __setattr__

    def __repr__(self) -> str:
        shown = repr(self._of.current.flags)
        return shown.replace("OWNDATA : False", "OWNDATA : True") if self._of._owner else shown


def shown(x: Any) -> Any:
    """The number or array that a Tensor stands for; anything else as it is."""
    return x.current if type(x) is Tensor else x


def attribute_of(t: Tensor, name: str) -> Any:
    """``t.name``, as the number or array has it. Raises what Python raises where that has no such attribute."""
    data = t.current
    if not hasattr(data, name):
        return getattr(t if _is_users(t) else data, name)
    if name in _MEMORY and not (name == "data" and _is_users(t)):
        if t.requires_grad:
            raise lost(t, f"`{name}`")
        return getattr(data, name)
    if name in _OF_DATA:
        return getattr(data, name)
    if name in _OWN:
        return _OWN[name](t)
    return getattr(t if hasattr(type(t), name) else data, name)


def demand_settable(t: Tensor, name: str) -> None:
    """Raises what Python raises where the number or array has no attribute of the name, which could be set."""
    if not hasattr(t.current, name) and not _is_users(t):
        setattr(t.current, name, None)


def _is_users(t: Tensor) -> bool:
    """Whether it is a Tensor that the program has been given as one, with which it may do what is done with those."""
    if t.requires_grad:
        return program_of(t) is None
    return STATE.program is None or not STATE.program.leaves


def _base(t: Tensor) -> Any:
    """The array whose memory is shown, as far as the program can have it."""
    if t._owner:
        return None
    if t._view is not None and t._view.with_history:
        root = t._view.root
        return root if root is not t else None
    base = t.current.base
    if base is not None and t.requires_grad:
        raise lost(t, "`base`", "ask whether memory is shared with `np.may_share_memory(a, b)`")
    return base


def _item(t: Any) -> Any:
    def item(*key: Any) -> Any:
        data = t.current
        plain = data.item(*map(raw, key))
        if not isinstance(plain, float | complex):
            return plain
        whole: Any = t if type(data) is not np.ndarray else call(np.ravel, (t,), {})
        if type(data) is np.ndarray:
            places = np.arange(data.size).reshape(data.shape)
            whole = whole[places.item(*map(raw, key))]
        return call(type(plain), (whole,), {})

    return item


def _tolist(t: Any) -> Any:
    def tolist() -> Any:
        if not np.ndim(t.current):
            return _item(t)()
        return [_tolist(part)() if type(part) is Tensor else np.asarray(part).tolist() for part in t]

    return tolist


_OWN: dict[str, Callable[[Tensor], Any]] = {
    "flags": Flags, "base": _base, "item": _item, "tolist": _tolist, "hex": lambda t: lambda: told(t, t.current.hex()),
}  # fmt: skip
"""Attributes that are those of the data, made of Tensors."""


def ask(x: Any, name: str, *otherwise: Any) -> Any:
    """``getattr(x, name, otherwise)``."""
    try:
        return attribute_of(x, name) if type(x) is Tensor else getattr(x, name, *otherwise)
    except AttributeError:
        if not otherwise:
            raise
        return otherwise[0]


def _first(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that asks about its first argument."""

    def ask(x: Any, *more: Any) -> Any:
        return function(shown(x), *more)

    return ask


def _vars(*args: Any) -> Any:
    """``vars``: without an argument the variables of the function that asks."""
    return vars(*map(shown, args)) if args else names_in(sys._getframe(1))


def _frame(depth: int = 0, /) -> types.FrameType:
    """``sys._getframe``, to which frames of ours do not count: nor to `inspect.currentframe`."""
    frame = _users(sys._getframe(1))
    for _ in range(depth):
        frame = _users(frame.f_back) if frame is not None else None
    if frame is None:
        raise ValueError("call stack is not deep enough")
    return frame


def _users(frame: types.FrameType | None) -> types.FrameType | None:
    """The frame, or the next one below it that is none of ours."""
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith("tangentx."):
        frame = frame.f_back
    return frame


def _stack(context: int = 1) -> list[inspect.FrameInfo]:
    """``inspect.stack``."""
    return [info for info in inspect.getouterframes(_frame(), context) if _users(info.frame) is info.frame]


def _type(*args: Any, **kwargs: Any) -> Any:
    return type(shown(args[0])) if len(args) == 1 else type(*args, **kwargs)


class _Pattern(type):
    """The class of what stands in a pattern for a class that answers by itself what its instances are."""

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(shown(x), cls.meant())  # type: ignore[attr-defined]


def pattern(meant: Callable[[], Any]) -> Any:
    """The class of a pattern, or what asks it about the value that is meant."""
    try:
        cls = meant()
    except NameError:  # is raised where the pattern is reached, if ever
        return _Pattern("pattern", (), {"meant": staticmethod(meant)})
    if type(cls) is type or not isinstance(cls, type):
        return cls
    args = {"__match_args__": cls.__match_args__} if hasattr(cls, "__match_args__") else {}
    return _Pattern(cls.__name__, (), {"meant": staticmethod(lambda: cls), **args})


def looked_at(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that only looks at what it is given, or shows it."""

    @telling
    def look(*args: Any, **kwargs: Any) -> Any:
        return function(*map(raw, args), **{name: raw(value) for name, value in kwargs.items()})

    return look


def _itself(function: Callable[..., Any]) -> Callable[..., Any]:
    """``np.asarray`` and its like, which give an array that is one already, where nothing else is asked for."""

    def as_one(a: Any, *args: Any, **kwargs: Any) -> Any:
        found = function(raw(a), *args, **kwargs)
        if type(a) is Tensor and found is a.current:
            return a
        if type(a) is Tensor or holds_tensor(a):
            demand_numbers(found, a)
            return _recorded(as_array(a), found)
        own = type(a) is not np.ndarray and type(found) is np.ndarray and found.flags.owndata
        return wrap(found) if own and inexact(found) else found

    return as_one


def _recorded(a: Any, found: Any) -> Any:
    """An array that was made of Tensors, with the form and the strides of what NumPy has made of the data."""
    made = call(np.array, (a,), {"dtype": found.dtype})
    if np.shape(made) != found.shape:
        made = call(np.reshape, (made, found.shape), {})
    if made.current.strides == found.strides:
        return made
    straight = wrap(zeros_as(found))
    write(straight, Ellipsis, made)
    return straight


def demand_numbers(found: Any, given: Any) -> None:
    """Refuses an array of objects in which something is differentiated."""
    found = shown(found)
    if isinstance(found, np.ndarray) and found.dtype.kind not in "biufc":
        for t in tensors_in(given):
            if t.requires_grad:
                raise lost(t, f"an array of {found.dtype}")


def _numbered(a: Any) -> Any:
    """``np.ndenumerate``."""
    return (
        ((i, operator.getitem(a, i)) for i in np.ndindex(np.shape(a.current)))
        if type(a) is Tensor
        else np.ndenumerate(a)
    )


def _stopped(x: Any) -> Any:
    """``tx.stop_gradient``: a number stays one."""
    found = stop_gradient(shown(x))
    return wrap(found) if type(found) is np.ndarray and inexact(found) else found


ANSWERS: dict[int, Callable[..., Any]] = {
    id(type): _type, id(vars): _vars, id(np.ndenumerate): _numbered, id(stop_gradient): _stopped,
    id(sys._getframe): _frame, id(inspect.currentframe): _frame, id(inspect.stack): _stack,
    **{id(f): _first(f) for f in (isinstance, callable, dir, sys.getsizeof)},
    **{id(f): looked_at(f) for f in (
        np.isscalar, np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast, np.may_share_memory,
        np.shares_memory, np.min_scalar_type, np.iscomplex, np.isreal, operator.index, np.iterable,
    )},
    **{id(f): _itself(f) for f in (np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)},
}  # fmt: skip
"""By the identity of a function that asks, or only shows, what is called in its place."""
