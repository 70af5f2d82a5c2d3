"""Objects of libraries whose methods have rules: distributions, and those that hold their parameters ("frozen").

An entry of the table of rules is a method of one object, ``stats.norm.logpdf``, equal wherever it is looked up.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, NamedTuple

from tangentx.templates.libraries import arrived

Parameters = tuple[Any, tuple[Any, ...], dict[str, Any]]


class Thawed(NamedTuple):
    """A method of a frozen distribution as one of the distribution, with what it is given behind other arguments."""

    method: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


_DISTRIBUTIONS: dict[int, Any] = {}
_FROZEN: dict[type, Callable[[Any], Parameters]] = {}


def distribution(*objects: Any) -> None:
    """Declares objects of which methods have rules, and whose calls hold parameters."""
    _DISTRIBUTIONS.update((id(each), each) for each in objects)


def frozen(cls: type) -> Callable[[Callable[[Any], Parameters]], Callable[[Any], Parameters]]:
    """Declares how an object of `cls` says of which distribution it is, and with which arguments."""

    def declare(parameters: Callable[[Any], Parameters]) -> Callable[[Any], Parameters]:
        _FROZEN[cls] = parameters
        return parameters

    return declare


def is_distribution(value: Any) -> bool:
    """Whether a value is a distribution of which methods have rules."""
    return id(value) in _DISTRIBUTIONS or (arrived() and id(value) in _DISTRIBUTIONS)


def is_whole(value: Any) -> bool:
    """Whether a value is a distribution, frozen or not: known by its methods alone, never by what is inside."""
    return is_distribution(value) or type(value) in _FROZEN


_METHODS: dict[tuple[int, str], Any] = {}


def method_of(value: Any, name: str) -> Any:
    """The method of a distribution as one object, however often a program looks it up."""
    found = getattr(value, name)
    return _METHODS.setdefault((id(value), name), found) if is_distribution(value) else found


def thawed(method: Any) -> Thawed | None:
    """What a method of a frozen distribution means; None for anything else."""
    owner = method.__self__ if type(method) is MethodType else None
    if type(owner) not in _FROZEN:
        return None
    whose, args, kwargs = _FROZEN[type(owner)](owner)
    found = getattr(whose, method.__name__, None)
    return None if found is None else Thawed(found, args, kwargs)
