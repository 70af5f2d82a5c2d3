"""The table of functions that are written in others."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any, TypeVar

import numpy as np

from tangentx.errors import NoTemplate
from tangentx.templates.distributions import is_distribution
from tangentx.templates.examples import Example, draw, draw_composition
from tangentx.templates.libraries import arrived
from tangentx.templates.registry import Template, bind, find

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Composition:
    """A function written in others, for the calls of `primals` that have no template; `domain` as a template's.

    One that takes `containers` is given lists as they are, others arrays that are made of them.
    Where it is to stand `in_place`, its statements take the place of the call, so that results which nothing reads are
    not differentiated; they end with the one return. One of an object's class or methods counts `always`: what is known
    of the object is what the body makes of it. One of a function that calculates in double precision whatever it is
    given (`double`) is given that.
    """

    primals: tuple[Callable[..., Any], ...]
    body: Callable[..., Any]
    domain: tuple[str, ...]
    containers: bool = False
    in_place: bool = False
    always: bool = False
    double: bool = False


_COMPOSITIONS: dict[Any, Composition] = {}
_IN_PLACE: set[Callable[..., Any]] = set()
_IN_DOUBLE: set[Callable[..., Any]] = set()


def composition(
    *primals: Callable[..., Any],
    domain: tuple[str, ...],
    containers: bool = False,
    in_place: bool = False,
    always: bool = False,
    double: bool = False,
) -> Callable[[F], F]:
    """Declares a plain function of the same meaning, whose source is differentiated as the user's own is."""

    def declare(body: F) -> F:
        if in_place:
            _IN_PLACE.add(body)
        if double:
            _IN_DOUBLE.add(body)
        for primal in primals:
            _COMPOSITIONS[primal] = Composition(primals, body, domain, containers, in_place, always, double)
        return body

    return declare


def has_composition(fn: object) -> bool:
    """Whether some calls of `fn` are written in other functions."""
    try:
        return fn in _COMPOSITIONS or (arrived() and fn in _COMPOSITIONS)
    except TypeError:
        return False


def takes_containers(fn: Callable[..., Any]) -> bool:
    """Whether the composition of `fn` is given lists as they are."""
    return _COMPOSITIONS[fn].containers


def always_composed(fn: object) -> bool:
    """Whether `fn` is a class, or a method of one, of whose objects our own models know what they are made of."""
    return has_composition(fn) and _COMPOSITIONS[fn].always


def composed_body(fn: Any) -> Callable[..., Any]:
    """The body of the composition of `fn`, which has one."""
    return _COMPOSITIONS[fn].body


def stands_in_place(body: Callable[..., Any]) -> bool:
    """Whether the statements of a composition's `body` take the place of the call."""
    return body in _IN_PLACE


def in_double(body: Callable[..., Any] | None, dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """The dtype in which a composition's `body` takes numbers of this one; None for their own.

    >>> in_double(None, np.dtype("f4"))
    """
    return _DOUBLE.get(dtype.char) if body in _IN_DOUBLE else None


_DOUBLE = {"e": np.dtype(np.float64), "f": np.dtype(np.float64), "F": np.dtype(np.complex128)}


def _fits(body: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    try:
        inspect.signature(body).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def composed(fn: object, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Callable[..., Any] | None:
    """The composition that stands for this call of `fn`; None where there is none, or a template knows the call."""
    if not has_composition(fn) or not _fits(_COMPOSITIONS[fn].body, args, kwargs):
        return None
    template = find(fn)
    try:
        if template is not None and bind(template, args, kwargs):
            return None
    except NoTemplate:
        pass
    return _COMPOSITIONS[fn].body


def compositions() -> tuple[Composition, ...]:
    """All compositions, each once, in order of declaration."""
    arrived()
    return tuple({id(c): c for c in _COMPOSITIONS.values()}.values())


def examples(rule: Template | Composition) -> list[Example]:
    """Calls that show the rule at work, with the positions of the arguments to differentiate."""
    return draw(rule) if isinstance(rule, Template) else draw_composition(rule.primals, rule.domain)


def calculates_with(fn: Callable[..., Any], body: Callable[..., Any] | None) -> str:
    """The kinds of numbers of which a function's rule calculates with lists: with all of them that of a function of
    elements or of a distribution, with reals those of SciPy's functions, for whole numbers may say where something is.
    """
    template = find(fn)
    rule = body or (None if template is None else template.body)
    if rule is None:
        return ""
    if body is None and template is not None and template.kind == "elementwise":
        return "biufc"
    if isinstance(fn, MethodType) and is_distribution(fn.__self__):
        return "biufc"
    return "fc" if rule.__module__.startswith("tangentx.templates.scipy.") else ""
