"""Rules that users bring: `tx.primitive` for functions of their own, `tx.rule` for those of a library."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import linecache
import textwrap
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from tangentx import arrays
from tangentx.common.naming import public_name
from tangentx.common.user_rules import OWN, OwnRule
from tangentx.dispatch.disk_cache import forbid
from tangentx.dispatch.tensor_arguments import holds_tensors
from tangentx.errors import NoSource, NoTemplate, Span
from tangentx.templates import find, has_composition, is_own, solver
from tangentx.templates.registry import Template, enter

# Validation of rules declared outside this package, and their templates.

Parameters = tuple[inspect.Parameter, ...]


def extended(
    known: Template | None, function: Any, kind: str, rule: Any, parameters: Callable[[Any, Any], Parameters]
) -> Template:
    """The template of a function with a `rule` of one kind ("partials", "adjoint" or "tangent") more; `parameters`
    tells those of the function that the rule has to repeat.

    Raises NoTemplate where it has not the form of one, or has one of this kind already.
    """
    name = getattr(function, "__name__", None) or public_name(function)
    if known is not None and (kind == "partials" or known.kind == "elementwise" or _has(known, kind)):
        raise wrong(rule, f"`{name}` has a rule already", "give it one rule only, or make a new primitive")
    params = parameters(function, rule)
    _demand_returned(rule, kind, params)
    _demand_requests(rule, kind, params)
    if kind == "partials":
        return Template("elementwise", (function,), name, rule, signature=params, drawn=False, singular=True)
    made = known or Template("adjoint", (function,), name, None, signature=params, drawn=False)
    return replace(made, body=rule) if kind == "adjoint" else replace(made, tangent=rule)


def _has(known: Template, kind: str) -> bool:
    return (known.body if kind == "adjoint" else known.tangent) is not None


def _demand_requests(rule: Any, kind: str, params: tuple[inspect.Parameter, ...]) -> None:
    names = [p.name for p in params]
    known = {"ans", *(f"{name}_shape" for name in names)}
    known |= {"ans_bar"} if kind == "adjoint" else {f"{name}_dot" for name in names} if kind == "tangent" else set()
    for p in inspect.signature(rule).parameters.values():
        if p.kind is p.KEYWORD_ONLY and p.name not in known:
            raise wrong(
                rule, f"the rule asks for `{p.name}`, which is not known", f"ask for {', '.join(sorted(known))}"
            )


def _demand_returned(rule: Any, kind: str, params: tuple[inspect.Parameter, ...]) -> None:
    """A return at the end, of one partial for each parameter or of cotangents by name, after assignments."""
    *steps, last = _statements(rule)
    plain = all(isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name) for s in steps)
    if not plain or not isinstance(last, ast.Return) or last.value is None:
        message = "a rule is straight-line code: assignments to names, and a return"
        raise wrong(rule, message, "put what branches, loops or writes into a function that the rule calls")
    values = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
    bars = [f"{p.name}_bar" for p in params]
    if kind == "partials" and len(values) != len(bars):
        message = (
            f"the number of partials that the rule returns is {len(values)}, but that of parameters is {len(bars)}"
        )
        raise wrong(rule, message, "return one for each, None for one without derivative")
    for value in values if kind == "adjoint" else ():
        if not (isinstance(value, ast.Name) and value.id in bars):
            message = f"the rule returns `{ast.unparse(value)}`, which is no cotangent of a parameter"
            raise wrong(rule, message, f"name what is returned after the parameters: {', '.join(bars)}")


def _statements(rule: Any) -> list[ast.stmt]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(rule))).body[0]
    except (OSError, TypeError, SyntaxError):
        raise NoSource("a rule has no source that can be read", hint="write it with `def` in a file") from None
    if not isinstance(tree, ast.FunctionDef):
        raise wrong(rule, "a rule is written with `def`", "give it a name and a body")
    body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
    return body or [ast.Pass()]


def wrong(rule: Any, message: str, hint: str) -> NoTemplate:
    """The error for a rule that has not the form of one, at its first line."""
    code = getattr(rule, "__code__", None)
    if code is None:
        return NoTemplate(message, hint=hint)
    text = linecache.getline(code.co_filename, code.co_firstlineno)
    return NoTemplate(message, Span(code.co_filename, code.co_firstlineno, 0, text.rstrip()), hint)


# `tx.primitive`: functions that the compiler does not look into, with derivative rules supplied by the user.

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


# `tx.rule`: derivative rules for library functions that one does not own, also from entry points of packages.


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
        self._template = extended(self._template, self.function, kind, rule, _library_parameters)
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


def _library_parameters(function: Any, rule: Any) -> Parameters:
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
