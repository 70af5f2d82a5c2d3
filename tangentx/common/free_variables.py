"""The current objects behind a function's free variables: globals, builtins and cells."""

from __future__ import annotations

import builtins
import importlib
import inspect
from types import FunctionType
from typing import Any, NamedTuple, Protocol

from tangentx.errors import NotResolved, Span


class Missing:
    """Stands for what is not there, or not known."""

    def __repr__(self) -> str:
        return "?"


MISSING = Missing()


class Outside(Protocol):
    """Where an object was found: a path that begins at a name of the function `home`, and what it was then."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> Any: ...
    @property
    def path(self) -> tuple[str, ...]: ...
    @property
    def home(self) -> Any: ...


class Name(NamedTuple):
    """Where an object was found, told by itself: see `Outside`."""

    name: str
    value: Any
    path: tuple[str, ...]
    home: Any


def current(ext: Outside) -> Any:
    """The object behind `ext` now. Raises `NotResolved` where there is none any more."""
    if ext.path[0] == "object":
        return ext.value
    return found(ext.path, ext.home, None)


def found(path: tuple[str, ...], home: FunctionType | None, span: Span | None) -> Any:
    """The object at the end of a path that begins at a name of the function `home`. Raises `NotResolved`."""
    kind, name, *attributes = path
    if home is None:
        value = getattr(builtins, name)
    elif kind == "closure":
        value = _cell(home, name, span)
    elif kind == "default":
        value = _default(home, name, span)
    elif kind == "import":
        value = _module(name, span)
    else:
        value = _global(home, name, span)
    for depth, attribute in enumerate(attributes):
        try:
            value = getattr(value, attribute)
        except AttributeError:
            owner = ".".join(path[1 : 2 + depth])
            raise _lost(f"{owner} has no attribute {attribute!r}", span, "check the spelling, or import it") from None
    return value


def spaces(ext: Outside) -> tuple[dict[str, Any], ...]:
    """The dicts in which the first name of the path is looked up, one after the other; none for other paths."""
    if ext.home is None:
        return (vars(builtins),)
    return (ext.home.__globals__, _builtins_of(ext.home)) if ext.path[0] in ("global", "builtin") else ()


def static(owner: Any, name: str) -> Any:
    """What a class (or one above it), a module or an object has under a name, unbound; MISSING for nothing."""
    return inspect.getattr_static(owner, name, MISSING)


def cell(home: Any, name: str) -> Any:
    """The cell of a closure variable."""
    return home.__closure__[home.__code__.co_freevars.index(name)]


def _module(name: str, span: Span | None) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise _lost(f"cannot import {name!r}: {error}", span, "install it, or leave the import out") from None


def _builtins_of(function: Any) -> dict[str, Any]:
    found: dict[str, Any] = function.__builtins__
    return found


def _global(home: FunctionType, name: str, span: Span | None) -> Any:
    spaces: tuple[dict[str, Any], ...] = (home.__globals__, _builtins_of(home))
    for space in spaces:
        if name in space:
            return space[name]
    raise _lost(f"the name {name!r} is not defined", span, f"define or import {name!r} before the derivative is taken")


def _cell(home: FunctionType, name: str, span: Span | None) -> Any:
    free = home.__code__.co_freevars
    if name not in free:
        raise _lost(f"the function has no closure variable {name!r} any more", span, "take the derivative again")
    try:
        return cell(home, name).cell_contents
    except ValueError:
        hint = f"assign {name!r} in the enclosing function before the derivative is taken"
        raise _lost(f"the closure variable {name!r} has no value yet", span, hint) from None


def _default(home: FunctionType, name: str, span: Span | None) -> Any:
    found = defaults(home)
    if name not in found:
        raise _lost(f"the parameter {name!r} has no default any more", span, "take the derivative again")
    return found[name]


def defaults(function: FunctionType) -> dict[str, Any]:
    """The defaults of `function` as it has them now, by parameter; of too many, Python takes the last."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    found = zip(reversed(names), reversed(function.__defaults__ or ()), strict=False)
    return dict(reversed(list(found))) | (function.__kwdefaults__ or {})


def _lost(message: str, span: Span | None, hint: str) -> NotResolved:
    return NotResolved(message, span, hint)
