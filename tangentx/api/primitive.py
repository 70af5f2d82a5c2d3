"""`tx.primitive`: functions that the compiler does not look into, with derivative rules supplied by the user."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from tangentx import arrays
from tangentx.api.rule_forms import extended, wrong
from tangentx.common.user_rules import OWN, OwnRule
from tangentx.dispatch.tensor_arguments import holds_tensors

F = TypeVar("F", bound=Callable[..., Any])


class Primitive(Protocol):
    """A function with the decorators that give its rule."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    def adjoint(self, rule: F) -> F:
        """``rule(x, y, *, ans_bar)`` returns ``x_bar``, or ``x_bar, y_bar``: the cotangents, by these names."""

    def tangent(self, rule: F) -> F:
        """``rule(x, y, *, x_dot, y_dot)`` returns the tangent of the result."""

    def partials(self, rule: F) -> F:
        """``rule(x, y)`` returns the partial by each parameter, element by element; None for one without."""


def primitive(function: Callable[..., Any]) -> Primitive:
    """Decorator: `function` is called as it is, and differentiated by the rule that it is given.

    ``@f.partials`` is the rule of a function that acts on each element by itself, for both modes; else ``@f.adjoint``
    is that of reverse mode, ``@f.tangent`` that of forward mode. A rule takes the parameters of the function, and
    requests by keyword: ``ans``, ``ans_bar``, ``x_dot``, ``x_shape``; it is straight-line code whose calculations have
    derivatives themselves, so that there are derivatives of every order. Broadcasting is undone by the engine.

    With a rule, the function must depend on its arguments alone and write into none of them: it may be left out where
    nothing needs it, and is tried on small arguments to learn what it gives. Without one it may have effects, and is
    called once, with nothing that is differentiated. A result is never memory of an argument: it is copied. A rule
    that is not of this form raises NoTemplate where it is declared; one that is needed and missing, where it is
    needed. Called with Tensors, it records a node.

    >>> import tangentx as tx
    >>> @tx.primitive
    ... def cube(x):
    ...     return x**3
    >>> @cube.partials
    ... def _(x):
    ...     return 3.0 * x * x
    >>> tx.grad(lambda x: cube(x))(2.0)
    12.0
    """

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if holds_tensors(args, kwargs):
            from tangentx.tensor.calls.apply import call

            return call(called, args, kwargs)
        return _own(function(*args, **kwargs), (*args, *kwargs.values()))

    made = cast(FunctionType, called)
    space = made.__dict__
    space[OWN] = OwnRule(made)
    with contextlib.suppress(ValueError):  # a function written in C may not tell
        space["__signature__"] = inspect.signature(function)
    for kind in ("adjoint", "tangent", "partials"):
        space[kind] = functools.partial(_declare, made, kind)
    return cast(Primitive, called)


primitive.__tangentx_outside__ = "make the primitive at the top of the module"  # type: ignore[attr-defined]


def _own(result: Any, args: tuple[Any, ...]) -> Any:
    """A result in memory of its own."""
    if isinstance(result, tuple) and type(result) is tuple:
        return tuple(_own(item, args) for item in result)
    shared = type(result) is np.ndarray and any(
        type(arg) is np.ndarray and np.may_share_memory(result, arg) for arg in args
    )
    return result.copy() if shared else result


def _declare(function: FunctionType, kind: str, rule: F) -> F:
    """Enters a rule of one kind. Raises NoTemplate where it has not the form of one."""
    own: OwnRule = function.__dict__[OWN]
    own.template = extended(own.template, function, kind, rule, _parameters)
    return rule


def _parameters(function: FunctionType, rule: Any) -> tuple[inspect.Parameter, ...]:
    """Those of the function, which the rule repeats."""
    try:
        params = tuple(inspect.signature(function).parameters.values())
    except ValueError:  # a function written in C may not tell
        return tuple(p for p in inspect.signature(rule).parameters.values() if p.kind is not p.KEYWORD_ONLY)
    if any(p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD) for p in params):
        message = f"`{function.__name__}` has keyword-only parameters, which stand for requests in a rule"
        raise wrong(rule, message, "let it take them by position")
    given = [p.name for p in inspect.signature(rule).parameters.values() if p.kind is not p.KEYWORD_ONLY]
    if given != [p.name for p in params]:
        names = ", ".join(p.name for p in params)
        message = f"the rule takes ({', '.join(given)}), but `{function.__name__}` takes ({names})"
        raise wrong(rule, message, "repeat the parameters of the function, and ask for more by keyword")
    return params


@primitive
def cotangent(x: Any, rule: Callable[[Any], Any]) -> Any:
    """`x`, a number, an array (a copy) or a Tensor, whose cotangent goes through `rule` in reverse mode.

    ``rule(x_bar)`` returns what takes its place, of the same shape: to look at it, clip it, replace it. It must be
    differentiable itself where a second derivative is asked for. Forward mode has no cotangents: a tangent passes as
    it is.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> def clipped(bar):
    ...     return np.clip(bar, -1.0, 1.0)
    >>> def f(x):
    ...     return np.sum(tx.cotangent(x, clipped) ** 2)
    >>> tx.grad(f)(np.array([0.25, 4.0]))
    array([0.5, 1. ])
    """
    return arrays.clone(x)


@cotangent.adjoint
def _cotangent_adjoint(x: Any, rule: Callable[[Any], Any], *, ans_bar: Any) -> Any:
    """What `rule` makes of it."""
    x_bar = rule(ans_bar)
    return x_bar


@cotangent.tangent
def _cotangent_tangent(x: Any, rule: Callable[[Any], Any], *, x_dot: Any) -> Any:
    """The tangent itself."""
    ans_dot = x_dot
    return ans_dot
