"""Gradients held against the oracle, and arguments against what they were."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .grammar import Program, Values
from .screen import leaves

TOLERANCE = 1e-7


class Wrong(Exception):
    """A derivative that is not the oracle's, or an argument that was changed."""


def snapshot(x: Any) -> Any:
    """All that a derivative call must leave as it was: identities, values, strides, flags."""
    if isinstance(x, np.ndarray):
        return id(x), x.dtype.str, x.shape, x.strides, str(x.flags), x.tobytes()
    if isinstance(x, (list, tuple)):
        return id(x), [snapshot(item) for item in x]
    if isinstance(x, dict):
        return id(x), [(key, snapshot(item)) for key, item in x.items()]
    return id(x), repr(x)


def pair_up(gradient: Any, like: Any, path: str = "") -> Iterator[tuple[Any, Any]]:
    """The leaves of a gradient beside those of its argument. Raises `Wrong` where structure, shape or type differ."""
    if isinstance(like, (list, tuple, dict)):
        if type(gradient) is not type(like) or len(gradient) != len(like):
            raise Wrong(f"structure of gradient{path}: {gradient!r} for {like!r}")
        for key in like if isinstance(like, dict) else range(len(like)):
            yield from pair_up(gradient[key], like[key], f"{path}[{key!r}]")
        return
    if isinstance(like, np.ndarray):
        if type(gradient) is not np.ndarray or (gradient.shape, gradient.dtype) != (like.shape, like.dtype):
            raise Wrong(f"gradient{path} is {gradient!r} for an array of shape {like.shape}")
        if np.shares_memory(gradient, like):
            raise Wrong(f"gradient{path} shares memory with its argument")
    elif type(gradient) is not type(like):
        raise Wrong(f"gradient{path} is {gradient!r}, a {type(gradient).__name__}, for a {type(like).__name__}")
    yield gradient, like


def projected(gradient: Any, args: Values, program: Program, direction: Values) -> tuple[float, float]:
    """The gradient's product with `direction`, and the size of what was added up.

    That by z = x + iy is the derivative by x minus i times that by y: the real part of the product is the slope.
    """
    if type(gradient) is not tuple or len(gradient) != len(program.wrt):
        raise Wrong(f"a tuple of {len(program.wrt)} gradients was asked for, not {gradient!r}")
    found = [g for i, part in zip(program.wrt, gradient, strict=True) for g, _ in pair_up(part, args[i])]
    demand_apart(found)
    along = [t for i in program.wrt for t in leaves(direction[i])]
    terms = [np.real(np.multiply(g, t)) for g, t in zip(found, along, strict=True)]
    return float(sum(np.sum(term) for term in terms)), float(sum(np.sum(np.abs(term)) for term in terms))


def demand_apart(gradients: list[Any]) -> None:
    """Raises `Wrong` if two of the gradients share memory, or one cannot be written."""
    arrays = [g for g in gradients if isinstance(g, np.ndarray)]
    if any(not g.flags.writeable for g in arrays):
        raise Wrong("a gradient is read-only")
    if any(np.shares_memory(g, h) for i, g in enumerate(arrays) for h in arrays[:i]):
        raise Wrong("two gradients share memory")


def agree(what: str, got: float, want: float, size: float) -> None:
    if not abs(got - want) <= TOLERANCE * max(1.0, abs(want), size):
        raise Wrong(f"{what}: {got!r}, the oracle says {want!r}")
