"""Parameters as optimisers see them: an array, or a structure of arrays.

A structure is a list, tuple, dict, dataclass or plain object whose real and complex numbers and arrays are parameters.
A module says itself which of its arrays are: those of ``named_parameters()``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tangentx.arrays import fields
from tangentx.arrays.libraries import is_array
from tangentx.common.pytrees import children, is_differentiable
from tangentx.errors import NotDifferentiable

Parts = list[tuple[str, Any]]


def is_module(node: Any) -> bool:
    """Whether a value names its parameters itself."""
    return hasattr(type(node), "named_parameters")


def parts(node: Any) -> Parts | None:
    """The parts of a structure by the text that selects each; None for a leaf."""
    if isinstance(node, np.generic | float | complex | str) or is_array(node):
        return None
    if is_module(node):
        return list(node.named_parameters())
    known = children(node)
    if known is not None:
        return known
    inside = fields(node)
    return None if inside is None else [(f".{name}", item) for name, item in inside.items()]


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The parameters by path, in order."""
    inside = parts(tree)
    if inside is None:
        if is_parameter(tree):
            yield path, tree
        return
    for label, part in inside:
        yield from leaves(part, path + label)


def is_parameter(leaf: Any) -> bool:
    """Whether a leaf is a number or an array, plain or of a Tensor, that has derivatives."""
    return is_differentiable(plain(leaf))


def plain(leaf: Any) -> Any:
    """The number or array of a leaf."""
    return leaf.current if is_tensor(leaf) else leaf


def is_tensor(leaf: Any) -> bool:
    """Whether a leaf is a Tensor."""
    return hasattr(type(leaf), "requires_grad_") and not is_module(leaf)


def beside(tree: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    """The parameters by path, each with the leaf of `other` at the same path, None where that has none."""
    found = dict(leaves(other))
    names = set()
    for path, leaf in leaves(tree):
        names.add(path)
        match = found.get(path)
        if match is not None and np.shape(plain(match)) != np.shape(plain(leaf)):
            raise NotDifferentiable(
                f"the gradient of the parameter {path or 'itself'} has shape {np.shape(plain(match))}, "
                f"but the parameter has shape {np.shape(plain(leaf))}",
                hint="pass the gradient with respect to these parameters",
            )
        yield path, leaf, match
    if not found.keys() & names and names and found:
        raise NotDifferentiable(
            f"the gradients are those of {', '.join(map(repr, sorted(found)[:3]))}, of which no parameter is",
            hint="pass the gradient with respect to these parameters",
        )


def replaced(tree: Any, change: Callable[[str, Any], Any], path: str = "") -> Any:
    """A structure like `tree` with ``change(path, leaf)`` for each parameter."""
    if is_module(tree):
        return tree.with_parameters({name: change(path + name, leaf) for name, leaf in tree.named_parameters()})
    inside = parts(tree)
    if inside is None:
        return change(path, tree) if is_parameter(tree) else tree
    changed = [replaced(part, change, path + label) for label, part in inside]
    if isinstance(tree, list):
        return changed
    if isinstance(tree, tuple):
        return tuple.__new__(type(tree), changed)
    if isinstance(tree, dict):
        return dict(zip(tree, changed, strict=True))
    made = copy.copy(tree)
    for (label, _), part in zip(inside, changed, strict=True):
        object.__setattr__(made, label[1:], part)
    return made
