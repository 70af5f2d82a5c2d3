"""Items that a loop takes for each trip and nobody reads, gone: ``_`` of ``for _ in x``.

It is done before a function is differentiated: the item would have a cotangent, of zeros that are added up, and a
record of what they are zeros of. The item is there, for the loop goes over the places of what it is taken from.
"""

from __future__ import annotations

from dataclasses import replace

from tangentx.ir.nodes import Assign, Block, For, Function, Index, Key, Statement, Var
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import reads, statements


def read_alone(function: Function) -> Function:
    """The function without such items; the very same one where there are none."""
    read = frozenset(name for s in statements(function.body) for name in reads(s))
    body = _without(function.body, read, None)
    return function if body == function.body else replace(function, body=body)


def _without(block: Block, read: frozenset[str], place: str | None) -> Block:
    """The block without what is not read; `place` is the number of the trip."""
    return tuple(_inside(s, read) for s in block if not _is_unread(s, read, place))


def _inside(s: Statement, read: frozenset[str]) -> Statement:
    return map_blocks(s, lambda inner: _without(inner, read, s.target if isinstance(s, For) else None))


def _is_unread(s: Statement, read: frozenset[str], place: str | None) -> bool:
    if not (isinstance(s, Assign) and isinstance(s.value, Index) and s.target not in read and place is not None):
        return False
    return s.value.key == Key((Var(place),)) and place.startswith("%")
