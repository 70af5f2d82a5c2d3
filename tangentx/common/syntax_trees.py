"""Iteration over `ast` and `gast` trees in source order.

The standard library's walks take each node apart by its fields' names and make a generator for each; the compiler walks
every tree it reads or writes some ten times, so that this is worth a plain loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

_PARTS: dict[type, tuple[str, ...]] = {}
"""The fields of each class of node that may hold nodes."""


def children(node: Any) -> list[Any]:
    """The nodes inside a node, one level deep, in the order of its fields; neither contexts nor operators.

    >>> [type(child).__name__ for child in children(ast.parse("x + y").body[0].value)]
    ['Name', 'Name']
    """
    found: list[Any] = []
    for field in _PARTS.get(type(node)) or _fields(type(node)):
        part = getattr(node, field, None)
        if isinstance(part, list):
            found += [item for item in part if isinstance(item, ast.AST)]
        elif isinstance(part, ast.AST):
            found.append(part)
    return found


def _fields(cls: type) -> tuple[str, ...]:
    kept = tuple(field for field in cls._fields if field not in ("ctx", "op", "ops"))  # type: ignore[attr-defined]
    return _PARTS.setdefault(cls, kept)


def preorder(tree: Any) -> Iterator[Any]:
    """`tree` and all nodes inside it, each before those inside it.

    >>> [node.id for node in preorder(ast.parse("a[b] = c * d")) if isinstance(node, ast.Name)]
    ['a', 'b', 'c', 'd']
    """
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        found = children(node)
        found.reverse()
        stack += found
