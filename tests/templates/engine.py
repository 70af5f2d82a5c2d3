"""A small engine that evaluates templates as plain Python, by the rules that the compiler follows."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tangentx.arrays import guarded, has_derivative, unbroadcast, zero
from tangentx.templates.registry import Template, bind


def leaves(x: Any) -> list[Any]:
    """Numbers and arrays in nested lists and tuples, in order; None where there is no derivative."""
    if isinstance(x, (list, tuple)):
        return [leaf for item in x for leaf in leaves(item)]
    return [x]


def mapped(fn: Callable[..., Any], x: Any, *rest: Any) -> Any:
    """`fn` applied to the leaves of structures of the same shape."""
    if isinstance(x, (list, tuple)):
        return type(x)(mapped(fn, *items) for items in zip(x, *rest, strict=True))
    return fn(x, *rest)


def inner(bar: Any, dot: Any) -> float:
    """The pairing of a cotangent and a tangent: real part of the sum of products, nothing conjugated."""
    pairs = zip(leaves(bar), leaves(dot), strict=True)
    return float(sum(np.real(np.sum(b * d)) for b, d in pairs if b is not None and d is not None))


def positions(template: Template, count: int) -> list[str]:
    """The parameter that each of `count` positional arguments belongs to."""
    names: list[str] = []
    for param in template.params:
        names += [param.name] * (count if param.kind is param.VAR_POSITIONAL else 1)
    return names[:count]


def _requests(fn: Callable[..., Any], bound: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    shapes = {f"{name}_shape": value for name, value in bound.items()}
    wanted = [p.name for p in inspect.signature(fn).parameters.values() if p.kind is p.KEYWORD_ONLY]
    return {name: extra[name] if name in extra else np.shape(shapes[name]) for name in wanted}


def _call(fn: Callable[..., Any], template: Template, bound: dict[str, Any], extra: dict[str, Any]) -> Any:
    args: list[Any] = []
    for param in template.params:
        value = bound[param.name]
        args += list(value) if param.kind is param.VAR_POSITIONAL else [value]
    return fn(*args, **_requests(fn, bound, extra))


def _partials(template: Template, bound: dict[str, Any], ans: Any) -> dict[str, Any]:
    assert template.body is not None
    values = _call(template.body, template, bound, {"ans": ans})
    values = values if len(template.cotangents) > 1 else (values,)
    return {name: value for name, value in zip(template.cotangents, values, strict=True) if name is not None}


def pullback(template: Template, fn: Callable[..., Any], args: Any, kwargs: Any, ans_bar: Any) -> dict[str, Any]:
    """Cotangents by parameter, raw, before any broadcasting is undone."""
    bound = bind(template, args, kwargs)
    ans = fn(*args, **kwargs)
    if template.kind == "elementwise":
        product = guarded if template.singular else np.multiply
        return {name: product(p, ans_bar) for name, p in _partials(template, bound, ans).items()}
    assert template.body is not None
    values = _call(template.body, template, bound, {"ans": ans, "ans_bar": ans_bar})
    values = values if len(template.cotangents) > 1 else (values,)
    return {str(name): value for name, value in zip(template.cotangents, values, strict=True)}


def cotangents(template: Template, fn: Callable[..., Any], args: Any, kwargs: Any, ans_bar: Any) -> list[Any]:
    """Cotangents by position of the argument, in the argument's shape and domain."""
    bars = pullback(template, fn, args, kwargs, ans_bar)
    names = positions(template, len(args))
    result: list[Any] = []
    for i, (name, value) in enumerate(zip(names, args, strict=True)):
        bar = bars.get(name)
        if bar is not None and template.params[-1].kind is inspect.Parameter.VAR_POSITIONAL:
            if name == template.params[-1].name:
                bar = bar[i - names.index(name)]
        result.append(_fitted(bar, value))
    return result


def _fitted(bar: Any, value: Any) -> Any:
    if isinstance(value, (list, tuple)) and isinstance(bar, (list, tuple)):
        return [_fitted(b, v) for b, v in zip(bar, value, strict=True)]
    return None if bar is None or not has_derivative(value) else unbroadcast(bar, value)


def tangent(template: Template, fn: Callable[..., Any], args: Any, kwargs: Any, dots: dict[int, Any]) -> Any:
    """Tangent of the result for tangents by position of the argument; others are constant."""
    bound = bind(template, args, kwargs)
    names = positions(template, len(args))
    ans = fn(*args, **kwargs)
    full = [dots.get(i, zero(value)) if names[i] in template.cotangents else value for i, value in enumerate(args)]
    if template.kind == "linear":
        return _shaped(fn(*full, **kwargs), ans)
    if template.kind == "bilinear":
        terms = [fn(*(dot if j == i else value for j, value in enumerate(args)), **kwargs) for i, dot in dots.items()]
        return _shaped(sum(terms[1:], start=terms[0]), ans)
    if template.kind == "elementwise":
        product = guarded if template.singular else np.multiply
        partials = _partials(template, bound, ans)
        parts = [product(partials[names[i]], dot) for i, dot in dots.items()]
        return _shaped(sum(parts[1:], start=parts[0]), ans)
    assert template.tangent is not None
    extra: dict[str, Any] = {"ans": ans}
    for param in template.params:
        own = [full[i] for i, name in enumerate(names) if name == param.name]
        if own:
            extra[f"{param.name}_dot"] = tuple(own) if param.kind is param.VAR_POSITIONAL else own[0]
    return _shaped(_call(template.tangent, template, bound, extra), ans)


def _shaped(dot: Any, ans: Any) -> Any:
    return dot if isinstance(ans, (list, tuple)) else unbroadcast(dot, ans)
