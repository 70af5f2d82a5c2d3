"""The user's functions as the fallback runs them: the arrays that they make are Tensors, so that writes are recorded.

A function is run with code in which calls and operators ask what is meant (`calls.py`, `special.py`): ``np.zeros`` and
the like, functions of `math`, and other functions of the user's, methods too, are called in a version that does so on
Tensors; as values they stay what they are. A function without source is run as it is, with other globals: names that
are only called stand for such versions.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import os
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx.templates import find, has_composition
from tangentx.tensor.apply import as_array
from tangentx.tensor.asked import CALL, mark
from tangentx.tensor.calls import asking, names_called
from tangentx.tensor.checkpoints import AGAIN, checkpoint
from tangentx.tensor.core import wrap
from tangentx.tensor.forms import inexact
from tangentx.tensor.holding import holds_tensor
from tangentx.tensor.lifting import lifted
from tangentx.tensor.special import meanings, special

_MAKERS = (
    *(np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like, np.full_like),
    *(np.array, np.arange, np.linspace, np.eye, np.identity),
)
_OF_OTHERS = (np.asarray, complex, *(f for f in vars(math).values() if callable(f) and (find(f) or has_composition(f))))
"""They know nothing of Tensors, but rules for them are known; they may give what is somebody else's."""

_OTHERS = {id(f): f for f in (*_MAKERS, *_OF_OTHERS)}
_ATTRIBUTES = frozenset(f.__name__ for f in _OTHERS.values())
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_INSTALLED = (_OURS, os.path.dirname(os.path.abspath(os.__file__)) + os.sep)
_OWN = ("__builtins__", "__name__", "__package__", "__spec__", "__file__")


def on_tensors(function: Any) -> Any:
    """What is called in the place of a callable; itself where it is neither the user's nor a maker of arrays."""
    if id(function) in _OTHERS:
        return _other(function)
    kind = type(function)
    if kind is types.FunctionType:
        if hasattr(function, AGAIN):
            return _checkpointed(getattr(function, AGAIN))
        if function.__code__.co_filename.startswith(_INSTALLED):
            return function
        return asking(function, _MEANINGS) or _shown(function, {})
    if kind is types.MethodType:
        inner = function.__func__
        return types.MethodType(on_tensors(inner), function.__self__) if type(inner) is types.FunctionType else function
    if kind is functools.partial:
        return functools.partial(on_tensors(function.func), *function.args, **function.keywords)
    if id(function) in _CALLING:
        return _handing(function)
    if id(function) in _SPECIAL:
        return _SPECIAL[id(function)]
    if isinstance(function, type) and kind.__call__ is type.__call__:
        return _made_by(function)
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return _of_lists(function, False)  # a method of it asks no list what is in there
    template = find(function)
    home = str(getattr(function, "__module__", None) or "numpy")  # a method of arrays has none
    if template is not None and template.body is not None and home.startswith("numpy"):
        return _of_lists(function, template.body.__module__.endswith(".joining"))
    own = vars(kind).get("__call__")
    return types.MethodType(on_tensors(own), function) if _is_theirs(own) else function


def _is_theirs(function: Any) -> bool:
    """Whether it is a function of the user's."""
    return type(function) is types.FunctionType and not function.__code__.co_filename.startswith(_INSTALLED)


def _checkpointed(again: Any) -> Callable[..., Any]:
    """`checkpoint`, or a function that it has made of another: what is run again is run on Tensors."""
    if again is not None:
        return functools.partial(checkpoint, on_tensors(again))
    return lambda function, *args: checkpoint(on_tensors(function), *args)


_MEANINGS = {CALL: on_tensors, **meanings(on_tensors, _is_theirs)}
_SPECIAL = {id(f): special(f, f"__{f.__name__}__", on_tensors, _is_theirs) for f in (abs, round, len, divmod, next)}
_SPECIAL[id(sum)] = lambda items, /, start=0: functools.reduce(_MEANINGS[mark("add")], items, start)
"""What calls a special method of its argument, in its version for those of the user's."""


def _made_by(cls: type) -> Any:
    """What makes an object of a class: ``__new__`` and ``__init__`` of the user's run on Tensors."""
    new: Any = getattr(cls, "__new__", None)
    start: Any = getattr(cls, "__init__", None)
    after: Any = getattr(cls, "__post_init__", None)
    written = [f for f in (new, start) if _is_theirs(f) and f.__code__.co_filename != "<string>"]
    late = _is_theirs(after) and dataclasses.is_dataclass(cls) and cls.__dictoffset__ != 0
    if not (written or late) or not (new is object.__new__ or new in written):
        return cls

    def make(*args: Any, **kwargs: Any) -> Any:
        made: Any = on_tensors(new)(cls, *args, **kwargs) if new in written else object.__new__(cls)
        if late and start not in written:
            # What a dataclass has been given for `__init__` asks the object for what comes after.
            own = vars(made)
            own["__post_init__"] = types.MethodType(on_tensors(after), made)
            start(made, *args, **kwargs)
            del own["__post_init__"]
        elif isinstance(made, cls):
            on_tensors(start)(made, *args, **kwargs)
        return made

    return make


_CALLING = frozenset(map(id, (map, filter, sorted, min, max, functools.reduce)))
"""What calls a function that it is given."""


def _of_lists(function: Any, joins: bool) -> Any:
    """A function of NumPy that also takes lists with Tensors in them for arrays; it would look for Tensors alone."""

    def given(value: Any) -> Any:
        if not isinstance(value, list | tuple) or not holds_tensor(value):
            return value
        return type(value)(map(as_array, value)) if joins else as_array(value)

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*map(given, args), **kwargs)

    return call


def _handing(function: Callable[..., Any]) -> Callable[..., Any]:
    def hand(*args: Any, **kwargs: Any) -> Any:
        given = [on_tensors(a) if type(a) is types.FunctionType or id(a) in _OTHERS else a for a in args]
        named = {name: on_tensors(a) if name == "key" and a is not None else a for name, a in kwargs.items()}
        return function(*given, **named)

    return hand


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
    names = names_called(value.__code__, _ATTRIBUTES)
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
