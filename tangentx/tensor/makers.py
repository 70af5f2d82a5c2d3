"""The user's functions as the fallback runs them: the arrays that they make are Tensors, so that writes are recorded.

A function is run as it is, with other globals: where it calls ``np.zeros`` and the like, a function of `math`, or
another function of the user's, by name, it finds one that does so on Tensors. Names that it uses in another way than
calling are left alone, for a function that stands for another one is not equal to it.
"""

from __future__ import annotations

import dis
import inspect
import math
import os
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tangentx.templates import find, has_composition
from tangentx.tensor.core import wrap
from tangentx.tensor.forms import inexact
from tangentx.tensor.lifting import lifted

_MAKERS = (
    *(np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like, np.full_like),
    *(np.array, np.arange, np.linspace, np.eye, np.identity),
)
_OF_OTHERS = (np.asarray, *(f for f in vars(math).values() if callable(f) and (find(f) or has_composition(f))))
"""They know nothing of Tensors, but rules for them are known; they may give what is somebody else's."""

_OTHERS = {id(f): f for f in (*_MAKERS, *_OF_OTHERS)}
_ATTRIBUTES = frozenset(f.__name__ for f in _OTHERS.values())
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_INSTALLED = (_OURS, os.path.dirname(os.path.abspath(os.__file__)) + os.sep)
_LOOK_AROUND = ("globals", "vars", "eval", "exec")
_OWN = ("__builtins__", "__name__", "__package__", "__spec__", "__file__")


def on_tensors(function: Any) -> Any:
    """The function with arrays of its making as Tensors; itself where it is not a plain one of the user's."""
    if isinstance(function, types.MethodType):
        return types.MethodType(_shown(function.__func__, {}), function.__self__)
    return _shown(function, {})


def called(function: Any) -> Callable[[Sequence[Any]], Any]:
    """The function as one of a sequence of values by parameter."""
    owned = len(function._target.owner) if hasattr(function, "_bound_to") else 0
    parameters = list(inspect.signature(function, follow_wrapped=False).parameters.values())

    def call(values: Sequence[Any]) -> Any:
        run = on_tensors(function)
        if owned:
            run, values = function._bound_to(tuple(values[:owned])), values[owned:]
        placed: list[Any] = []
        named: dict[str, Any] = {}
        for parameter, value in zip(parameters, values, strict=True):
            if parameter.kind is parameter.VAR_POSITIONAL:
                placed += value
            elif parameter.kind is parameter.VAR_KEYWORD:
                named |= value
            elif parameter.kind is parameter.KEYWORD_ONLY:
                named[parameter.name] = value
            else:
                placed.append(value)
        return run(*placed, **named)

    return call


def _shown(value: Any, known: dict[int, Any]) -> Any:
    """What stands for a function or a module that is called by name; `known` is what has been made for this run."""
    if id(value) in known:
        return known[id(value)]
    if value is np or value is math:
        return _Module(value)
    if id(value) in _OTHERS:
        return _other(value)
    if type(value) is not types.FunctionType:
        return value
    names = _names_called(value.__code__)
    if names is None or value.__code__.co_filename.startswith(_INSTALLED):
        return value
    space = _Names(value.__globals__, names, known)
    made = types.FunctionType(value.__code__, space, value.__name__, value.__defaults__, value.__closure__)
    made.__kwdefaults__ = value.__kwdefaults__
    made.__qualname__ = value.__qualname__
    made.__dict__ = value.__dict__  # attributes that it keeps are kept in both
    known[id(value)] = made
    return made


class _Names(dict[str, Any]):
    """The globals of a function, read as they are at that moment, with others in the place of those in `called`."""

    def __init__(self, names: dict[str, Any], called: frozenset[str], known: dict[int, Any]) -> None:
        super().__init__({name: names[name] for name in _OWN if name in names})
        self._names, self._called, self._known = names, called, known

    def __getitem__(self, name: str) -> Any:
        value = self._names[name]
        return _shown(value, self._known) if name in self._called else value


class _Module:
    """A module with functions that make or take Tensors."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        return _other(value) if id(value) in _OTHERS else value


def _other(function: Callable[..., Any]) -> Callable[..., Any]:
    record: Callable[..., Any] = lifted(function)
    if all(function is not maker for maker in _MAKERS):
        return record

    def make(*args: Any, **kwargs: Any) -> Any:
        made = record(*args, **kwargs)
        own = type(made) is np.ndarray and made.flags.owndata and kwargs.get("copy", True) is True
        return wrap(made) if own and inexact(made) else made

    return make


def _names_called(code: types.CodeType) -> frozenset[str] | None:
    """The globals that are only called, themselves or their attributes; None where the function has to stay as it is.

    It has to where it binds globals or looks at all of them.
    """
    called: set[str] = set()
    otherwise: set[str] = set()
    for inner in _codes(code):
        steps = list(dis.get_instructions(inner))
        ahead = [*steps, steps[-1], steps[-1]]
        for i, step in enumerate(steps):
            if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") or step.argval in _LOOK_AROUND:
                return None
            if step.opname == "LOAD_GLOBAL":
                (called if _is_called(ahead[i : i + 3]) else otherwise).add(step.argval)
    return frozenset(called - otherwise)


def _is_called(steps: list[dis.Instruction]) -> bool:
    """Whether a global is loaded to be called, or for an attribute; what is replaced of a module is to be called."""
    load, attribute, then = steps
    if load.arg is not None and load.arg & 1:
        return True
    if attribute.opname not in ("LOAD_METHOD", "LOAD_ATTR"):
        return False
    if sys.version_info >= (3, 13):  # from there on the mark of a call comes after what is called
        marked = then.opname == "PUSH_NULL" or bool(attribute.arg and attribute.arg & 1)
    elif sys.version_info >= (3, 12):
        marked = bool(attribute.arg and attribute.arg & 1)
    else:
        marked = attribute.opname == "LOAD_METHOD"
    return marked or attribute.argval not in _ATTRIBUTES


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)
