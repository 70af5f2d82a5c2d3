"""Calls of steps that settle, where nothing is differentiated any more: each is its first argument, the answer."""

from __future__ import annotations

from collections.abc import Sequence

from tangentx import arrays
from tangentx.analysis.infer.calling_conventions import SETTLED
from tangentx.analysis.types.kinds import Arr
from tangentx.ir.nodes import Assign, Block, Call, Expr, Op, Statement
from tangentx.ir.rewrite import map_blocks
from tangentx.optimise.facts.unit import Unit


def run(units: Sequence[Unit]) -> None:
    """Takes the calls away; an array is copied, for who gave it may go on with it."""
    for unit in units:
        unit.body = _block(unit, unit.body)


def _block(unit: Unit, block: Block) -> Block:
    return tuple(_statement(unit, s) for s in block)


def _statement(unit: Unit, s: Statement) -> Statement:
    if not isinstance(s, Assign):
        return map_blocks(s, lambda block: _block(unit, block))
    call = s.value
    if not isinstance(call, Call) or call.link.function is None or not call.link.function.notes.get(SETTLED):
        return s
    value: Expr = call.args[0]
    if isinstance(unit.kinds.get(s.target), Arr):
        value = Op(arrays.clone, (call.args[0],))
    return Assign(s.target, value, s.span)
