"""Powers that have to be real need no looking at where their slope is asked for too, which looks itself.

Only in a text that is complete: a slope that another pass leaves out looks at nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

from tangentx import arrays
from tangentx.ir.nodes import Assign, Atom, Block, Op, Return, Statement, Var
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import blocks, statements
from tangentx.optimise.facts.unit import Unit


def run(units: Sequence[Unit]) -> None:
    """Plain powers, or none where nobody reads them, in the place of those whose slope is asked for."""
    for unit in units:
        slopes = _slopes(unit)
        if slopes and any(_is_power(s, slopes) for s in unit.statements()):
            unit.body = _plain(unit.body, slopes, unit.counts()[0])


def _slopes(unit: Unit) -> set[tuple[Atom, ...]]:
    """The operands of powers whose slope is asked for on every way through the function; of names bound once."""
    _, bound = unit.counts()
    nested = [s for each in unit.body for block in blocks(each) for s in statements(block)]
    if any(isinstance(s, Return) for s in nested):
        return set()
    found = [s.value for s in unit.body if isinstance(s, Assign) and isinstance(s.value, Op)]
    slopes = [op.args for op in found if op.fn is arrays.power_slope]
    return {args for args in slopes if all(not isinstance(a, Var) or bound[a.name] <= 1 for a in args)}


def _is_power(s: Statement, slopes: set[tuple[Atom, ...]]) -> bool:
    op = s.value if isinstance(s, Assign) else None
    return isinstance(op, Op) and op.fn is arrays.real_power and op.args in slopes


def _plain(block: Block, slopes: set[tuple[Atom, ...]], read: dict[str, int]) -> Block:
    out: list[Statement] = []
    for s in block:
        if not (isinstance(s, Assign) and isinstance(s.value, Op) and _is_power(s, slopes)):
            out.append(map_blocks(s, lambda inner: _plain(inner, slopes, read)))
        elif read[s.target]:
            out.append(Assign(s.target, Op(operator.pow, s.value.args), s.span))
    return tuple(out)
