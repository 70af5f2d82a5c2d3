"""Synthetic functions for callables without source: partials with keywords, library functions.

What is differentiated is a Python function. Where a callable is another kind of object, a function that calls it is
written, ``def sin(x): return numpy.sin(x)``, as the user would write it.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import itertools
import linecache
import types
from collections.abc import Callable, Sequence
from typing import Any

from tangentx.common.bounded_cache import Bounded
from tangentx.common.naming import Names, is_identifier, spell
from tangentx.common.recursion import compiled
from tangentx.dispatch.request import held
from tangentx.errors import is_library

_LIMIT = 256
_WRITTEN: Bounded[Any, types.FunctionType | None] = Bounded(_LIMIT)
_COUNT = itertools.count()
_SINGLE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_OPTIONS = frozenset("out where casting order subok signature dtype like initial".split())
"""Parameters of NumPy's functions that are given by name, if at all: their defaults cannot be written."""


def cached_by(f: Any) -> Any:
    """The function whose results `functools.lru_cache` or `functools.cache` keeps; None for anything else."""
    return f.__wrapped__ if isinstance(f, functools._lru_cache_wrapper) else None


def of_partial(function: Any, keywords: Sequence[str], given: int) -> types.FunctionType:
    """A function whose first parameters are those that a partial gives by name; the same for all partials alike.

    `given` are parameters of `function` that the partial, or a bound method, has filled in from the left. What may
    follow is given as Python has it: the parameters behind one that is bound by name are keyword-only.
    """
    made = held(function).written
    key = (tuple(keywords), given)
    if key not in made:
        made[key] = _written_for_partial(function, keywords, given)
    found: types.FunctionType = made[key]
    return found


def _written_for_partial(function: Any, keywords: Sequence[str], given: int) -> types.FunctionType:
    shown = inspect.signature(function, follow_wrapped=False)
    params, passed, defaults = [], [], {}
    by_name = False
    for place, parameter in enumerate(shown.parameters.values()):
        name, single = parameter.name, parameter.kind in _SINGLE
        if name in keywords:
            by_name = by_name or single
            continue
        if place >= given and parameter.default is not parameter.empty:
            defaults[name] = parameter.default
        keyword_only = parameter.kind is parameter.KEYWORD_ONLY or (by_name and single)
        kind = parameter.KEYWORD_ONLY if keyword_only else parameter.POSITIONAL_OR_KEYWORD if single else parameter.kind
        params.append(parameter.replace(kind=kind, annotation=parameter.empty))
        star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        star = "**" if parameter.kind is parameter.VAR_KEYWORD else star
        passed.append(f"{name}={name}" if keyword_only else star + name)
    call = [*(p for p in passed if not p.startswith("**")), *(f"{k}={k}" for k in keywords)]
    call += [p for p in passed if p.startswith("**")]
    first = [inspect.Parameter(k, inspect.Parameter.POSITIONAL_OR_KEYWORD) for k in keywords]
    inner = Names([*(p.name for p in params), *keywords]).fresh(_stem(function))
    return _function([*first, *params], defaults, f"{inner}({', '.join(call)})", {inner: function}, function)


def of_library(f: Any) -> types.FunctionType | None:
    """A function that calls `f`, a function or method of a library's of which there is a rule; None for others."""
    if not callable(f) or isinstance(f, type) or _is_written_by_user(f):
        return None
    try:
        found = _WRITTEN.get(f)
    except TypeError:
        return None
    if found is None:
        found = _written_for_library(f)
        if found is not None:
            _WRITTEN.put(f, found, 1)
    return found


def _is_written_by_user(f: Any) -> bool:
    function = f.__func__ if isinstance(f, types.MethodType) else f
    return isinstance(function, types.FunctionType) and not is_library(function.__code__.co_filename)


def _written_for_library(f: Any) -> types.FunctionType | None:
    from tangentx import templates

    thawed = templates.thawed(f)
    known = f if thawed is None else thawed.method
    template = templates.find(known)
    if not templates.has_composition(known) and (template is None or template.kind == "constant"):
        return None
    rule = template.params if template is not None else _parameters(templates.composed_body(known))
    taken = 0 if thawed is None else len(thawed.args) + len(thawed.kwargs)
    params = _shown(f, rule[: len(rule) - taken])
    defaults = {p.name: p.default for p in params if p.default is not p.empty}
    path = None if thawed is not None else spell(f)
    text, space = ("function", {"function": f}) if path is None else (path.text, _space(path.module, path.alias))
    if thawed is not None:
        text, space = f"distribution.{f.__name__}", {"distribution": f.__self__}
    order = [p.name for p in rule]
    call = [_passed(p, order.index(p.name) == place) for place, p in enumerate(params)]
    return _function(params, defaults, f"{text}({', '.join(call)})", space, f)


def _passed(parameter: inspect.Parameter, in_place: bool) -> str:
    if parameter.kind is parameter.VAR_POSITIONAL:
        return f"*{parameter.name}"
    in_place = in_place and parameter.kind is not parameter.KEYWORD_ONLY
    return parameter.name if in_place else f"{parameter.name}={parameter.name}"


def _space(module: str, alias: str) -> dict[str, Any]:
    return {alias: __import__(module, fromlist=["*"])} if alias else {}


def _parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(function).parameters.values())


def _shown(f: Any, rule: Sequence[inspect.Parameter]) -> list[inspect.Parameter]:
    """The parameters that a user of `f` fills in: those that its rule knows, but for what is no plain value."""
    try:
        own = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        own = list(rule)
    names = {p.name for p in (rule if any(p.kind is p.VAR_KEYWORD for p in own) else own)}
    plain = (bool, int, float, str, type(None))
    by_name = {p.name for p in own if p.kind is p.KEYWORD_ONLY}
    options = _OPTIONS if getattr(f, "__module__", "").partition(".")[0] == "numpy" else frozenset[str]()
    found = []
    for parameter in rule:
        needed = parameter.default is parameter.empty
        optional = type(parameter.default) in plain and parameter.name not in options and parameter.name in names
        if parameter.kind is parameter.VAR_KEYWORD or not (needed or optional):
            continue
        kind = parameter.kind if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL) else _SINGLE[1]
        kind = parameter.KEYWORD_ONLY if parameter.name in by_name else kind
        found.append(parameter.replace(kind=kind, annotation=parameter.empty))
    return sorted(found, key=lambda p: p.kind is p.KEYWORD_ONLY)


def _stem(function: Any) -> str:
    name = getattr(function, "__name__", "function")
    return name if is_identifier(name) else "function"


def _function(
    params: Sequence[inspect.Parameter], defaults: dict[str, Any], call: str, outside: dict[str, Any], like: Any
) -> types.FunctionType:
    """A function of these parameters that returns `call`, under the name of what it calls."""
    keyword_only = {p.name: defaults[p.name] for p in params if p.kind is p.KEYWORD_ONLY and p.name in defaults}
    ordered = tuple(defaults[p.name] for p in params if p.kind in _SINGLE and p.name in defaults)
    name = _stem(like)
    shown = inspect.Signature([p.replace(default=inspect.Parameter.empty) for p in params])
    text = f"def {name}{shown}:\n    return {call}\n"
    file = f"<a call of {name}, {next(_COUNT)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    given = {"__builtins__": builtins, "__name__": getattr(like, "__module__", None) or "builtins", **outside}
    space = dict(given)
    exec(compiled(text, file), space)
    made: types.FunctionType = space.pop(name)
    space |= given
    made.__defaults__ = ordered or None
    made.__kwdefaults__ = keyword_only or None
    made.__qualname__ = getattr(like, "__qualname__", name)
    return made
