"""The table of derivative rules: declaring them and looking them up."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np

from tangentx.arrays.libraries import numpy_function
from tangentx.common.forks import once
from tangentx.common.naming import public_name
from tangentx.common.user_rules import own_rule
from tangentx.errors import NoTemplate
from tangentx.templates.libraries import arrived

Kind = Literal["elementwise", "linear", "bilinear", "adjoint", "constant"]
F = TypeVar("F", bound=Callable[..., Any])

NONE_ONLY = ("out", "ord", "absent")
"""Names of parameters that mirror the operation's but may only be None (`absent`: given by its name it is unknown)."""


@dataclass(frozen=True)
class Template:
    """One derivative rule.

    `params` mirror the primal's positional and varargs parameters, `requests` are the names that the body asks for,
    `tangent` the second function of an adjoint template. `broadcasts`: cotangents come in the result's shape and
    the engine must unbroadcast them. `singular`: partials may be infinite. `real_constant`: the derivative is zero
    where the arguments are real. `domain` says how a test draws arguments: for elementwise templates the name of a
    domain (one for each parameter, separated by blanks), for others one call a string (see `examples.draw`). Where
    not `drawn`, no arguments can be made up: the rule has tests of its own. `stepwise` are parameters without a
    cotangent of which the result depends in steps, or on whose form alone: there the derivative is zero. At any
    other without one, what varies is refused. `signature` are the primal's parameters where the user has declared
    the rule; an adjoint template of theirs may have a body, a tangent, or both. `lacks` are parameters of an
    elementwise rule by which there is a derivative, but no closed form: what varies there is refused. `silent` says
    what kind of an infinite slope there is at 0 where the function itself is computed without a warning: that of a
    "square root", of a "cube root", or of a "logarithm", which the operation is itself where its first argument is a
    number.
    """

    kind: Kind
    primals: tuple[Callable[..., Any], ...]
    name: str
    body: Callable[..., Any] | None
    tangent: Callable[..., Any] | None = None
    singular: bool = False
    broadcasts: bool = False
    real_constant: bool = False
    analytic: bool = True
    domain: str | tuple[str, ...] = ()
    drawn: bool = True
    signature: tuple[inspect.Parameter, ...] | None = None
    stepwise: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    silent: str = ""

    @once
    def params(self) -> tuple[inspect.Parameter, ...]:
        """Positional and varargs parameters of the body, in order."""
        if self.signature is not None:
            return self.signature
        return tuple(p for p in self._parameters() if p.kind is not inspect.Parameter.KEYWORD_ONLY)

    @once
    def requests(self) -> tuple[str, ...]:
        """Names of the keyword-only parameters of the body."""
        return tuple(p.name for p in self._parameters() if p.kind is inspect.Parameter.KEYWORD_ONLY)

    def _parameters(self) -> Sequence[inspect.Parameter]:
        return () if self.body is None else tuple(inspect.signature(self.body).parameters.values())

    @once
    def cotangents(self) -> tuple[str | None, ...]:
        """For each value that the body returns, the parameter it belongs to; None for one without derivative."""
        if self.body is None:
            return ()
        values = returned(self.body)
        if self.kind == "elementwise":
            names = [p.name for p in self.params]
            return tuple(
                None if isinstance(value, ast.Constant) and value.value is None else name
                for value, name in zip(values, names, strict=True)
            )
        return tuple(ast.unparse(value).removesuffix("_bar") for value in values)

    @once
    def refusing(self) -> tuple[str, ...]:
        """Parameters at which nothing may stand that varies: the rule has no cotangent for them.

        A rule of one of our support functions leaves out none but those that give the form.
        """
        if self.kind == "constant" or (self.signature is None and _is_support(self.primals[0])):
            return ()
        stepwise = self.stepwise
        if self.kind == "elementwise" and self.signature is None:
            stepwise = tuple(p.name for p in self.params if p.name not in self.lacks)
        return tuple(p.name for p in self.params if p.name not in self.cotangents and p.name not in stepwise)


def _is_support(primal: Any) -> bool:
    return (getattr(primal, "__module__", None) or "").startswith("tangentx.arrays")


def without_rule(template: Template, name: str) -> NoTemplate:
    """The error for what varies at a parameter of which the rule says nothing."""
    if name in template.lacks:
        message = (
            f"`{public_name(template.primals[0])}` has no derivative with respect to `{name}`, which varies here: no "
            "closed form by functions with rules is known"
        )
        return NoTemplate(message, hint=f"pass `tx.stop_gradient(...)` of it where `{name}` counts as a constant")
    if template.signature is None:
        message = f"`{template.name.rstrip('_')}` has no derivative with respect to `{name}`, which varies here"
        return NoTemplate(message, hint=f"pass `tx.stop_gradient(...)` of it where `{name}` counts as a constant")
    message = f"the rule of `{template.name}` says nothing of `{name}`, which varies here"
    hint = f"let it give one for `{name}` (0.0 where it is zero), or pass `tx.stop_gradient(...)` of the argument"
    return NoTemplate(message, hint=hint)


class Rule:
    """An adjoint template in the making: `.tangent` attaches the function for forward mode."""

    def __init__(self, template: Template) -> None:
        self.template = template

    def tangent(self, fn: F) -> F:
        """Decorator: `fn` computes the tangent of the result."""
        self.template = replace(self.template, tangent=fn)
        enter(self.template)
        return fn


_TABLE: dict[Any, Template] = {}


def enter(template: Template) -> None:
    """Puts a rule into the table, in the place of what was there for its functions."""
    for primal in template.primals:
        _TABLE[primal] = template


def returned(body: Callable[..., Any]) -> list[ast.expr]:
    """The values of the one return statement of `body`."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(body)))
    statement = next(node for node in ast.walk(tree) if isinstance(node, ast.Return))
    assert statement.value is not None
    return list(statement.value.elts) if isinstance(statement.value, ast.Tuple) else [statement.value]


def find(fn: object) -> Template | None:
    """The template of `fn`, a function, ufunc, built-in, type or method descriptor; None if there is none."""
    own = own_rule(fn)
    if own is not None:
        template: Template | None = own.template
        return template
    try:
        found = _TABLE.get(fn)
        if found is None and arrived():
            found = _TABLE.get(fn)
        if found is None and (elsewhere := numpy_function(fn)) is not None:
            found = _TABLE.get(elsewhere[0])
        return found
    except TypeError:
        return None


def may_be_complex(fn: object) -> bool:
    """Whether an operation may give complex numbers of real ones, which its rule refuses while it runs."""
    template = find(fn)
    code = None if template is None else getattr(template.body, "__code__", None)
    return code is not None and "demand_real" in code.co_names


def silent_slope(fn: object) -> str:
    """What kind of an infinite slope `fn` has at 0 where it does not warn itself: see `Template.silent`."""
    found = find(fn)
    return "" if found is None else found.silent


def templates() -> tuple[Template, ...]:
    """All templates, each once, in order of declaration."""
    arrived()
    return tuple({id(t): t for t in _TABLE.values()}.values())


def bind(template: Template, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by parameter, defaults filled in, varargs as a tuple.

    Raises NoTemplate for arguments that the template does not know.
    """
    signature = inspect.Signature(template.params)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise NoTemplate(f"`{template.name}` has no derivative for this call: {error}") from error
    bound.apply_defaults()
    for name in NONE_ONLY:
        value = bound.arguments.get(name)
        if value is not None and getattr(value, "value", value) is not None:
            raise NoTemplate(f"`{template.name}` has no derivative for the argument `{name}`")
    return dict(bound.arguments)


def elementwise(
    *primals: Callable[..., Any],
    domain: str = "real",
    singular: bool = False,
    analytic: bool = True,
    lacks: tuple[str, ...] = (),
    silent: str = "",
) -> Callable[[F], F]:
    """Declares partials, one for each parameter; `analytic` promises them right for complex arguments too."""

    def declare(body: F) -> F:
        kind: Kind = "elementwise"
        enter(
            Template(
                kind,
                primals,
                body.__name__,
                body,
                singular=singular,
                broadcasts=True,
                analytic=analytic,
                domain=domain,
                lacks=lacks,
                silent=silent,
            )
        )
        return body

    return declare


def linear(
    *primals: Callable[..., Any], domain: tuple[str, ...], broadcasts: bool = False, stepwise: tuple[str, ...] = ()
) -> Callable[[F], F]:
    """Declares cotangents of a function that is linear in all parameters that get one, jointly."""

    def declare(body: F) -> F:
        enter(Template("linear", primals, body.__name__, body, broadcasts=broadcasts, domain=domain, stepwise=stepwise))
        return body

    return declare


def bilinear(*primals: Callable[..., Any], domain: tuple[str, ...], broadcasts: bool = False) -> Callable[[F], F]:
    """Declares cotangents of a function that is linear in each parameter that gets one, separately."""

    def declare(body: F) -> F:
        enter(Template("bilinear", primals, body.__name__, body, broadcasts=broadcasts, domain=domain))
        return body

    return declare


def adjoint(
    *primals: Callable[..., Any],
    domain: tuple[str, ...],
    broadcasts: bool = False,
    singular: bool = False,
    real_constant: bool = False,
    drawn: bool = True,
) -> Callable[[Callable[..., Any]], Rule]:
    """Declares cotangents; the tangent is attached with ``.tangent``."""

    def declare(body: Callable[..., Any]) -> Rule:
        rule = Rule(
            Template(
                "adjoint",
                primals,
                body.__name__,
                body,
                singular=singular,
                broadcasts=broadcasts,
                real_constant=real_constant,
                domain=domain,
                drawn=drawn,
            )
        )
        enter(rule.template)
        return rule

    return declare


def same_rule(known: Rule, *primals: Callable[..., Any]) -> None:
    """Declares functions whose rule is a known one, to the letter: other libraries' functions of the same meaning."""
    enter(replace(known.template, primals=primals))


def constant(*primals: Callable[..., Any]) -> None:
    """Declares functions whose derivative is zero, or which have none."""
    for primal in primals:
        enter(Template("constant", (primal,), getattr(primal, "__name__", str(primal)), None))


def methods(*names: str) -> tuple[Callable[..., Any], ...]:
    """The methods of arrays and of NumPy scalars by these names."""
    return tuple(getattr(owner, name) for name in names for owner in (np.ndarray, np.generic) if hasattr(owner, name))
