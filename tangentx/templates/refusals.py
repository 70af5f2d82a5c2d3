"""Functions that have no rule for a reason, which the error message gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tangentx.common.naming import public_name
from tangentx.templates.nearest_rule import advice


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
