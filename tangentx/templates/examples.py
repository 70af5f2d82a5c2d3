"""Random arguments for the tests of templates, drawn from the domains that they declare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tangentx.templates.registry import Template

_RANGES = {
    "real": (-2.0, 2.0),
    "positive": (0.3, 2.0),
    "unit": (-0.8, 0.8),
    "above": (1.2, 3.0),
    "exponent": (-1.5, 2.5),
    "negative": (-2.0, -0.3),
    "probability": (0.2, 0.8),
}
_WHOLE = "whole"
"""The domain of parameters that are a small whole number, whatever the others' shapes."""


_OF_LIBRARIES = "tangentx.templates.scipy."


@dataclass(frozen=True)
class Example:
    """A call of `fn`, and the positions in `args` of what is to be differentiated."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    wrt: tuple[int, ...]


def _arguments(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs


def _drawer(random: np.random.Generator, domain: str, dtype: Any = float) -> Callable[..., Any]:
    """A function that draws an array of the given shape from `domain`."""
    if domain == _WHOLE:
        return lambda *shape: 2
    low, high = _RANGES[domain]

    def one(*shape: int) -> Any:
        values = random.uniform(low, high, shape)
        return values if dtype is float else values + 1j * random.uniform(low, high, shape)

    return one


def _world() -> dict[str, Any]:
    """Names in the calls of a domain: A, P, U, C draw arrays (real, positive, in (-1, 1), complex), x y numbers."""
    random = np.random.default_rng(7)
    return {
        "A": _drawer(random, "real"),
        "P": _drawer(random, "positive"),
        "U": _drawer(random, "unit"),
        "C": _drawer(random, "real", complex),
        "x": 0.7,
        "y": 1.3,
        "np": np,
        "call": _arguments,
    }


def _differentiable(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_differentiable(item) for item in value)
    if isinstance(value, type):  # np.float64 itself
        return False
    return isinstance(value, (float, complex)) or getattr(value, "dtype", np.dtype(int)).kind in "fc"


def _wrt(template: Template, args: tuple[Any, ...]) -> tuple[int, ...]:
    """Positions of the arguments that get a cotangent."""
    names: list[str] = []
    for param in template.params:
        names += [param.name] * (len(args) if param.kind is param.VAR_POSITIONAL else 1)
    return tuple(i for i, value in enumerate(args) if names[i] in template.cotangents and _differentiable(value))


def _elementwise_calls(template: Template, numbers_only: bool) -> list[tuple[Any, ...]]:
    """Arguments for an elementwise template: numbers, then arrays of several shapes."""
    words = str(template.domain).split()
    random = np.random.default_rng(7)
    given = [p for i, p in enumerate(template.params) if i < len(words) or p.default is p.empty]
    draws = [_drawer(random, words[min(i, len(words) - 1)]) for i in range(len(given))]
    many = len(draws)
    calls: list[tuple[Any, ...]] = [tuple(d() if type(d()) is int else float(d()) for d in draws)]
    if numbers_only:
        return calls
    if (template.body.__module__ if template.body is not None else "").startswith(_OF_LIBRARIES):
        return [*calls, tuple(d(3) for d in draws)]  # how operands are broadcast is shown by NumPy's operations
    shapes: list[tuple[tuple[int, ...], ...]] = [((3,),) * many, ((),) * many, ((1,),) * many, ((0,),) * many]
    if many > 1:
        rest = ((),) * (many - 2)
        shapes += [((2, 3), (3,), *rest), ((2, 1), (1, 3), *rest), ((), (3,), *rest)]
    calls += [tuple(d(*shape) for d, shape in zip(draws, group, strict=True)) for group in shapes]
    return calls


def _plain(primal: Callable[..., Any]) -> bool:
    """True for a function of numbers only."""
    return getattr(primal, "__module__", None) == "math" or primal in (float, complex)


def _accepts(primal: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """True if `args` suit `primal`: a method of arrays or of NumPy scalars wants its own kind of object."""
    owner = getattr(primal, "__objclass__", None)
    return owner is None or isinstance(args[0], owner)


def _calls(domain: Sequence[str]) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    world = _world()
    return [eval(f"call({text})", world) for text in domain]


def draw_composition(primals: Sequence[Callable[..., Any]], domain: Sequence[str]) -> list[Example]:
    """Examples of calls for each primal of a composition, differentiated by every argument that is given by place."""
    return [
        Example(primal, args, kwargs, tuple(i for i, value in enumerate(args) if _differentiable(value)))
        for primal in primals
        for args, kwargs in _calls(domain)
        if _accepts(primal, args)
    ]


def draw(template: Template) -> list[Example]:
    """Examples of calls for each primal of `template`; none for constants."""
    result: list[Example] = []
    if template.kind == "constant":
        return result
    for primal in template.primals:
        if template.kind == "elementwise":
            calls: list[Any] = [(args, {}) for args in _elementwise_calls(template, _plain(primal))]
        else:
            calls = _calls(template.domain)
        for args, kwargs in calls:
            if _accepts(primal, args):
                result.append(Example(primal, args, kwargs, _wrt(template, args)))
    return result
