"""Interrupt checks in loops: how often compiled code looks for a pending signal."""

from __future__ import annotations

from collections.abc import Iterator

from tangentx.loops.loop_ir import (
    Apply,
    Block,
    Break,
    Call,
    Const,
    Expr,
    For,
    If,
    Loop,
    Outside,
    Product,
    Reduce,
    Statement,
    statements,
)
from tangentx.loops.simplify import expressions

TICKS = 1 << 22
"""Trips after which a loop asks."""
LONG_TRIP = TICKS >> 10
"""What a trip counts that calls something, or adds up an array."""


def is_innermost(s: For) -> bool:
    """Whether a loop has none inside of it."""
    return not any(isinstance(t, For | Loop) for t in statements(s.body))


def asks_in_parts(s: For) -> bool:
    """Whether a loop is cut in parts of `TICKS` trips, before each of which it asks: a test in each would cost more
    than such a trip does."""
    step = s.step.value if isinstance(s.step, Const) else 0
    return is_innermost(s) and abs(step) == 1 and weight(s.body) == 1 and not _is_left(s.body)


def weight(block: Block) -> int:
    """What a trip counts."""
    return LONG_TRIP if any(_is_long(s) for s in statements(block)) else 1


def _is_left(block: Block) -> bool:
    """Whether a statement leaves the loop whose body this is."""
    return any(isinstance(s, Break) or (isinstance(s, If) and (_is_left(s.body) or _is_left(s.orelse))) for s in block)


def _is_long(s: Statement) -> bool:
    return isinstance(s, Call | Outside | Product) or any(isinstance(x, Reduce) for x in _parts(s))


def _parts(s: Statement) -> Iterator[Expr]:
    todo = list(expressions(s))
    while todo:
        value = todo.pop()
        yield value
        if isinstance(value, Apply):
            todo += value.args
