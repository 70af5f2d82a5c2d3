"""Pytrees: nested tuples, lists, dicts, named tuples, dataclasses and modules; everything else is a leaf."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tangentx.common.naming import with_article


def children(node: Any) -> list[tuple[str, Any]] | None:
    """The parts of a structure, each with the text that selects it (``[0]``, ``['w']``, ``.x``); None for a leaf."""
    if isinstance(node, tuple) and hasattr(node, "_fields"):
        return [(f".{name}", getattr(node, name)) for name in node._fields]
    if isinstance(node, (tuple, list)):
        return [(f"[{i}]", part) for i, part in enumerate(node)]
    if isinstance(node, dict):
        return [(f"[{key!r}]", part) for key, part in node.items()]
    if dataclasses.is_dataclass(node) and not isinstance(node, type):
        return [(f".{field.name}", getattr(node, field.name)) for field in dataclasses.fields(node)]
    if hasattr(type(node), "__tangentx_parts__"):
        return [(f".{name}", part) for name, part in node.__tangentx_parts__().items()]
    return None


def leaves(path: str, tree: Any, *others: Any) -> Iterator[tuple[Any, ...]]:
    """Yield ``(path, leaf, *leaves of others)`` for every leaf of `tree`, in its order.

    The others must have the same structure, except that None may stand for a whole part; it then stands for each
    leaf of it. A different structure raises `ValueError` naming the path.
    """
    parts = children(tree)
    if parts is None:
        yield (path, tree, *others)
        return
    columns = []
    for other in others:
        found = dict(children(other) or ())
        if other is None:
            found = {label: None for label, _ in parts}
        elif type(other) is not type(tree) or found.keys() != dict(parts).keys():
            given, wanted = (with_article(type(each).__name__) for each in (other, tree))
            raise ValueError(f"{path}: {given} does not have the structure of {wanted}")
        columns.append(found)
    for label, part in parts:
        yield from leaves(path + label, part, *(found[label] for found in columns))


def has_empty_list(tree: Any) -> bool:
    """Whether there is a list without items in a structure, or it is one."""
    return (isinstance(tree, list) and not tree) or any(has_empty_list(part) for _, part in children(tree) or ())


LIMIT_SAMPLE = 10_000
UNKNOWN: Any = object()
"""Stands for a value of which nothing is known."""


def sample(value: Any) -> Any:
    """A small value of the same kind, which keeps nothing of the user's alive but functions; else UNKNOWN."""
    return _sample(value) if _counted(value, 0) <= LIMIT_SAMPLE else UNKNOWN


def _counted(value: Any, count: int) -> int:
    """`count` and how many items and characters the sample of a value has; no further than to the limit."""
    count += 1
    if isinstance(value, np.ndarray):
        return count + int(2 ** sum(n != 1 for n in value.shape))
    if isinstance(value, str):
        return count + len(value)
    for _, part in children(value) or ():
        if count > LIMIT_SAMPLE:
            break
        count = _counted(part, count)
    return count


def _sample(value: Any) -> Any:
    if type(value) is np.ndarray:
        return np.ones(tuple(1 if n == 1 else 2 for n in value.shape), value.dtype)
    if value is None or isinstance(value, bool | int | float | complex | str | np.generic | type | np.ufunc):
        return value
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType):
        return value
    if children(value) is None or any(_sample(leaf) is UNKNOWN for _, leaf in leaves("", value)):
        return UNKNOWN
    return rebuild(value, _sample)


def rebuild(tree: Any, change: Callable[[Any], Any]) -> Any:
    """A new structure like `tree` whose leaves are ``change(leaf)``, called in the order of `leaves`.

    Named tuples and objects are made without running their ``__init__`` or ``__new__``.
    """
    parts = children(tree)
    if parts is None:
        return change(tree)
    changed = [rebuild(part, change) for _, part in parts]
    if isinstance(tree, tuple):
        return tuple.__new__(type(tree), changed)
    if isinstance(tree, list):
        return changed
    if isinstance(tree, dict):
        return dict(zip(tree, changed, strict=True))
    new = object.__new__(type(tree))
    if not dataclasses.is_dataclass(tree):
        new.__dict__.update(tree.__dict__)
    for (label, _), part in zip(parts, changed, strict=True):
        object.__setattr__(new, label[1:], part)
    return new


def is_differentiable(leaf: Any) -> bool:
    """Whether a leaf is a real or complex number or array; integers, booleans and all else are not."""
    if isinstance(leaf, (np.ndarray, np.generic)) or hasattr(type(leaf), "__array_function__"):
        return leaf.dtype.kind in "fc"
    return isinstance(leaf, (float, complex))
