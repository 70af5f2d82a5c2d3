"""Queries on subscript keys, and the key that selects all of an array."""

from __future__ import annotations

from tangentx.ir.nodes import Key, Lit

WHOLE = Key((Lit(Ellipsis),))
"""All of an array."""


def attribute_of(key: Key) -> str:
    """The name behind the dot."""
    assert key.attribute and isinstance(key.parts[0], Lit)
    return str(key.parts[0].value)
