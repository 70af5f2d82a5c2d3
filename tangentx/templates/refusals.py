"""Functions that have no rule: the reason, or the most similar name that has one."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tangentx.common.naming import public_name
from tangentx.errors import NO_RULE
from tangentx.templates.compositions import compositions
from tangentx.templates.registry import templates

# Suggestions for library functions without a rule: the most similar name that has one.


def advice(fn: Any) -> str:
    """The hint of the error that says that `fn` has no rule.

    >>> from scipy import special
    >>> advice(special.jve)[:38]
    '`scipy.special.jv` has one, if that wi'
    """
    name = public_name(fn)
    home = ".".join(name.split(".")[:2])
    if not home.startswith("scipy."):
        return NO_RULE
    rules = [primal for rule in templates() for primal in rule.primals]
    rules += [primal for rule in compositions() for primal in rule.primals]
    names = [known for known in map(public_name, rules) if known.startswith(f"{home}.")]
    if name in names:
        return f"leave out the arguments that its rule does not know; else {NO_RULE}"
    close = difflib.get_close_matches(name, names, 1)
    return f"`{close[0]}` has one, if that will do; otherwise {NO_RULE}" if close else NO_RULE


# Functions that have no rule for a reason, which the error message gives.


@dataclass(frozen=True)
class Refusal:
    """Why functions have no rule, and what to write instead."""

    primals: tuple[Callable[..., Any], ...]
    reason: str
    hint: str


_REFUSALS: dict[Any, Refusal] = {}


def refused(*primals: Callable[..., Any], reason: str, hint: str) -> None:
    """Declares functions through which no derivative goes."""
    declared = Refusal(primals, reason, hint)
    for primal in primals:
        _REFUSALS[primal] = declared


def refusal(fn: object) -> Refusal | None:
    """Why `fn` has no rule, or no method of its object has one; None where nothing is declared."""
    classes = type(getattr(fn, "__self__", None)).__mro__[:-1]
    try:
        return next((_REFUSALS[each] for each in (fn, *classes) if each in _REFUSALS), None)
    except TypeError:
        return None


def refusals() -> tuple[Refusal, ...]:
    """All of them, each once, in order of declaration."""
    return tuple({id(r): r for r in _REFUSALS.values()}.values())


def no_rule(fn: Any) -> tuple[str, str]:
    """Message and hint for a function without a rule."""
    found = refusal(fn)
    if found is None:
        return f"`{public_name(fn)}` has no derivative rule", advice(fn)
    return f"`{public_name(fn)}` has no derivative rule: {found.reason}", found.hint
