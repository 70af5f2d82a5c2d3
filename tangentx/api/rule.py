"""`tx.rule`: derivative rules for library functions that one does not own, also from entry points of packages."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from tangentx.api.rule_forms import Parameters, extended, wrong
from tangentx.common.naming import public_name
from tangentx.dispatch.disk_cache import forbid
from tangentx.errors import NoTemplate
from tangentx.templates import find, has_composition, is_own, solver
from tangentx.templates.registry import Template, enter

F = TypeVar("F", bound=Callable[..., Any])


class LibraryRule:
    """The rule of a function that is somebody else's, in the making: `partials`, or `adjoint` and `tangent`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._template: Template | None = None

    def partials(self, rule: F) -> F:
        """Decorator: ``rule(x, y)`` returns the partial by each parameter, element by element; None for one without."""
        return self._declare("partials", rule)

    def adjoint(self, rule: F) -> F:
        """Decorator: ``rule(x, y, *, ans_bar)`` returns ``x_bar``, or ``x_bar, y_bar``: cotangents, by these names."""
        return self._declare("adjoint", rule)

    def tangent(self, rule: F) -> F:
        """Decorator: ``rule(x, y, *, x_dot, y_dot)`` returns the tangent of the result."""
        return self._declare("tangent", rule)

    def _declare(self, kind: str, rule: F) -> F:
        self._template = extended(self._template, self.function, kind, rule, _parameters)
        enter(self._template)
        forbid(public_name(self.function))
        return rule

    def __repr__(self) -> str:
        return f"<rule of {public_name(self.function)}>"


def rule(function: Callable[..., Any]) -> LibraryRule:
    """The rule of a library's `function` that has none, to be declared by decorators.

    >>> import tangentx as tx
    >>> from scipy import special
    >>> @tx.rule(special.it2struve0).partials
    ... def it2struve0(x):
    ...     return -special.struve(0.0, x) / x
    >>> round(tx.grad(lambda x: special.it2struve0(x))(2.0), 6)
    -0.395429

    The decorators are those of `tx.primitive`, and so is the form of a rule: it takes the first parameters of the
    function, by its names, and requests by keyword (``ans``, ``ans_bar``, ``x_dot``, ``x_shape``). A call that gives
    more arguments than the rule knows is refused. The function must depend on its arguments alone, write into none of
    them, and give memory of its own. `tangentx.testing.check_rule` compares the rule with differences.

    The rule holds for the process. Declare it where the program starts, or let a package bring it: a module that an
    entry point of the group ``tangentx.rules`` names is imported once the module that the entry point is called after
    has been imported. Raises NoTemplate for a function that has a rule, and for one that cannot be told from others.
    """
    if not callable(function):
        raise NoTemplate(f"a rule is for a function, not for {function!r}", hint="give `tx.rule` the function itself")
    try:
        taken = find(function) is not None or has_composition(function) or solver(function) is not None
        hash(function)
    except TypeError:
        message = f"`{public_name(function)}` cannot have a rule, for it cannot be looked up"
        raise NoTemplate(message, hint="call it in a function that is marked @tx.primitive") from None
    if taken or is_own(function):
        message = f"`{public_name(function)}` has a rule already"
        raise NoTemplate(message, hint="for another one, call it in a function that is marked @tx.primitive")
    return LibraryRule(function)


def _parameters(function: Any, rule: Any) -> Parameters:
    """The first parameters of the function, which the rule repeats, with their defaults."""
    given = tuple(p for p in inspect.signature(rule).parameters.values() if p.kind is not p.KEYWORD_ONLY)
    if isinstance(function, np.ufunc):
        if len(given) != function.nin:
            message = f"the rule takes {len(given)} arguments, but `{function.__name__}` takes {function.nin}"
            raise wrong(rule, message, "let it take as many, and ask for more by keyword")
        return given
    try:
        known = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function written in C may not tell
        return given
    params = tuple(p for p in known if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD))
    names, wanted = [p.name for p in given], [p.name for p in params]
    if not names or names != wanted[: len(names)]:
        message = f"the rule takes ({', '.join(names)}), but `{public_name(function)}` takes ({', '.join(wanted)})"
        raise wrong(rule, message, "repeat its first parameters, and ask for more by keyword")
    return params[: len(names)]
