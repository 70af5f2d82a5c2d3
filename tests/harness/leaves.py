"""Nested tuples, lists, dicts, named tuples and dataclasses as a list of real leaves, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Leaf:
    """A real number or array; `path` is the Python text that leads to it, such as ``["w"][0].mass``."""

    path: str
    value: Any


def is_real(x: object) -> bool:
    """Whether `x` is a floating number or array: integers, booleans and strings have no derivative."""
    if isinstance(x, (float, np.floating)):
        return True
    return isinstance(x, np.ndarray) and np.issubdtype(x.dtype, np.floating)


def children(x: object) -> list[tuple[str, Any]] | None:
    """The parts of a container with the text that selects each, in order; None for what is no container."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return [("." + name, getattr(x, name)) for name in x._fields]
    if isinstance(x, (tuple, list)):
        return [(f"[{k}]", item) for k, item in enumerate(x)]
    if isinstance(x, dict):
        return [(f"[{key!r}]", item) for key, item in x.items()]
    if is_dataclass(x) and not isinstance(x, type):
        return [("." + field.name, getattr(x, field.name)) for field in fields(x)]
    return None


def leaves(x: object, path: str = "") -> list[Leaf]:
    """The real leaves of a structure, in order."""
    if is_real(x):
        return [Leaf(path, x)]
    return [leaf for step, part in children(x) or [] for leaf in leaves(part, path + step)]


def replaced(x: Any, change: Callable[[Any], Any], other: Callable[[Any], Any] = lambda x: x) -> Any:
    """The same structure, newly made, with `change(leaf)` for each real leaf and `other(item)` for other items.

    Leaves are met in the order of `leaves`.
    """
    if is_real(x):
        return change(x)
    parts = children(x)
    if parts is None:
        return other(x)
    items = [replaced(part, change, other) for _, part in parts]
    if isinstance(x, dict):
        return dict(zip(x, items, strict=True))
    if is_dataclass(x):
        made = object.__new__(type(x))
        for field, item in zip(fields(x), items, strict=True):
            object.__setattr__(made, field.name, item)
        return made
    return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)


def shift(x: Any, by: Any) -> Any:
    """`x + by` with the kind of `x`, except that float32 becomes float64; an array keeps its strides."""
    if not isinstance(x, np.ndarray):
        return float(x) + float(by) if isinstance(x, float) else np.float64(x) + by
    base = np.lib.stride_tricks.as_strided
    lows = sum(min(0, (n - 1) * step) for n, step in zip(x.shape, x.strides, strict=True)) if x.size else 0
    highs = sum(max(0, (n - 1) * step) for n, step in zip(x.shape, x.strides, strict=True)) if x.size else 0
    unit = x.itemsize
    room = np.zeros((highs - lows) // unit + 1)
    moved = base(room[-lows // unit :], x.shape, tuple(step * 8 // unit for step in x.strides))
    moved[...] = x
    moved += by
    return moved


def perturbed(x: Any, direction: list[Any], step: float) -> Any:
    """`x + step * direction` by leaves; the layout of arrays is kept, and nothing of `x` is shared."""
    parts = iter(direction)
    return replaced(x, lambda leaf: shift(leaf, step * np.asarray(next(parts))))


def inner(x: object, y: object) -> float:
    """The sum of the products of two structures' leaves."""
    pairs = zip(leaves(x), leaves(y), strict=True)
    return float(sum(np.sum(np.asarray(a.value, float) * np.asarray(b.value, float)) for a, b in pairs))
