"""Validation of rules declared outside this package, and their templates."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tangentx.common.naming import public_name
from tangentx.errors import NoSource, NoTemplate, Span
from tangentx.templates.registry import Template

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
