"""Unguarded products: products and quotients of cotangents without guards, where a result that is not finite is
computed again with them.

``guarded(p, t)`` differs from ``p * t`` only where one factor is 0 and the other not finite, and there the plain
product is no number; ``careful_matmul(x, y)`` differs from ``x @ y`` where a product that it adds is such a one. All
rules are linear in the cotangents, so what comes of that is no number either, or it is dropped, and then what the
guarded product gives is dropped in the same way. A plain sweep whose results are all finite has therefore found what
the guarded one would have; of any other, and of one that raises, nothing is kept (see `tangentx.compile.gradients`,
which says of which programs this is true).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.ir.nodes import Assign, Block, Op, Statement
from tangentx.ir.rewrite import map_blocks
from tangentx.optimise.facts.finite_values import among
from tangentx.optimise.facts.unit import Unit, write_each

_PLAIN = {
    arrays.guarded: operator.mul,
    arrays.careful_matmul: operator.matmul,
    arrays.over_root: operator.truediv,
    arrays.ratio: operator.truediv,
    arrays.quotient: operator.truediv,
    arrays.quiet_sum: operator.add,
    arrays.quiet_difference: operator.sub,
}
_QUOTIENTS = frozenset((arrays.quotient,))
_FUNCTIONS = frozenset(_PLAIN)
_GUARDS = frozenset((arrays.guarded, arrays.careful_matmul, arrays.over_root))  # the others are silent, no more


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Takes guards away where the program allows for it; True if anything changed.

    Quotients stay what they are for the passes to come, which divide cotangents where they find one as a factor.
    """
    return _take_away(program, units, _FUNCTIONS - _QUOTIENTS)


def finish(program: Program, units: Sequence[Unit]) -> bool:
    """As `run`, and quotients that are left are plain ones."""
    return _take_away(program, units, _FUNCTIONS)


def _take_away(program: Program, units: Sequence[Unit], functions: frozenset[Any]) -> bool:
    if not program.reruns or not (program.unguarded or any(map(_is_guarded, units))):
        return False
    program.unguarded = True
    return write_each(units, lambda unit: _plain(unit.body, functions))


def _is_guarded(unit: Unit) -> bool:
    return any(type(s) is Assign and type(s.value) is Op and among(s.value.fn, _GUARDS) for s in unit.statements())


def _plain(block: Block, functions: frozenset[Any]) -> Block:
    """The block with plain operations in the place of these; the very same one if it has none of them."""
    out = tuple(_statement(s, functions) for s in block)
    return block if all(a is b for a, b in zip(block, out, strict=True)) else out


def _statement(s: Statement, functions: frozenset[Any]) -> Statement:
    if type(s) is Assign and type(s.value) is Op and among(s.value.fn, functions):
        return replace(s, value=Op(_PLAIN[s.value.fn], s.value.args))
    return map_blocks(s, lambda block: _plain(block, functions))
