"""Classes by other names: with parameters for readers and type checkers, and classes that stand for `dict`."""

from __future__ import annotations

import types
import typing
from typing import Any

_OF_TYPING: Any = type(typing.ClassVar[int])


def class_behind(function: Any) -> Any:
    """What is called in the end where a class with parameters, or a `TypedDict`, is called; any other as it is.

    >>> class_behind(list[float])
    <class 'list'>
    >>> class_behind(typing.TypedDict("Point", {"x": float}))
    <class 'dict'>
    >>> class_behind(len)
    <built-in function len>
    """
    if isinstance(function, types.GenericAlias) or (isinstance(function, _OF_TYPING) and function._inst):
        return function.__origin__
    return dict if typing.is_typeddict(function) else function


def takes_parameters(cls: Any) -> bool:
    """Whether ``cls[...]`` is the class itself with parameters, and no code of the user's decides what it gives."""
    if not isinstance(cls, type):
        return False
    own = getattr(cls, "__class_getitem__", None)
    return getattr(own, "__func__", own) is _GENERIC or isinstance(own, types.BuiltinMethodType)


_GENERIC: Any = getattr(typing.Generic.__class_getitem__, "__func__", typing.Generic)  # in C from Python 3.12 on
