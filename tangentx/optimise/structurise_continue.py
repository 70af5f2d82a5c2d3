"""A trip that ends early, as a branch: ``if c: continue`` and the rest of the trip become ``if not c:`` and the rest.

A loop of which every trip reaches its end needs no record of where it left, and the test of the branch can be asked
again. It is done before a function is differentiated, and means the same.
"""

from __future__ import annotations

from dataclasses import replace

from tangentx.ir.nodes import (
    Block,
    Break,
    Continue,
    For,
    Function,
    If,
    Loop,
    Raise,
    Return,
    Var,
)
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import bound, statements

DEEPEST = 6
"""Branches in one another that a trip may become; more are harder to read than what they stand for."""
_LEAVING = (Continue, Break, Return, Raise)


def straightened(function: Function) -> Function:
    """The function with its loops straightened; the very same one where there is nothing to do."""
    if not any(isinstance(s, Continue) for s in statements(function.body)):
        return function
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    return tuple(map_blocks(s, _trips if isinstance(s, For | Loop) else _block) for s in block)


def _trips(block: Block) -> Block:
    return _trip(_block(block), DEEPEST)


def _trip(block: Block, deepest: int) -> Block:
    """The end of a trip: what follows a branch that ends it goes into the other branch."""
    for i, s in enumerate(block):
        if isinstance(s, Continue):
            return block[:i]
        if isinstance(s, If) and deepest and _continues((s,)):
            body, orelse, rest = s.body, s.orelse, block[i + 1 :]
            if not _may_go_in(s, rest):
                continue
            if _leaves(body):
                body, orelse = body, (*orelse, *rest)
            elif _leaves(orelse):
                body, orelse = (*body, *rest), orelse
            elif rest:
                continue
            branch = replace(s, body=_trip(body, deepest - 1), orelse=_trip(orelse, deepest - 1))
            return (*block[:i], branch)
    return block


def _may_go_in(s: If, rest: Block) -> bool:
    """Whether what follows may stand in the branch: it does not bind its test, and the same managers are around it."""
    around = s.span.around
    alike = all(len(r.span.around) >= len(around) and _same(r.span.around, around) for r in rest)
    return alike and not (isinstance(s.test, Var) and s.test.name in bound(rest))


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Whether the managers are the same as far as both go."""
    return all(a is b for a, b in zip(one, other, strict=False))


def _continues(block: Block) -> bool:
    """Whether the block may end the trip of the loop that it stands in."""
    return any(
        isinstance(s, Continue) or (isinstance(s, If) and (_continues(s.body) or _continues(s.orelse))) for s in block
    )


def _leaves(block: Block) -> bool:
    """Whether control never comes to the end of the block."""
    last = block[-1] if block else None
    return isinstance(last, _LEAVING) or (isinstance(last, If) and _leaves(last.body) and _leaves(last.orelse))
