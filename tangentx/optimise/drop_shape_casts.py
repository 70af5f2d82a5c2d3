"""Elimination of shape casts: ``unbroadcast`` and dtype casts of cotangents that have the right shape and dtype
already.

Where an operation keeps shape and dtype of an operand, the derivation says so: ``alike(t, x)``. While the passes look
for zeros that are added, they go by that; then nothing needs it any more, nor `x` for its shape alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.ir.nodes import Assign, Op, Statement
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import Rules, run_each


class Fits(Rules):
    """``alike(t, x)`` is `t`."""

    def operation(self, s: Assign, op: Op) -> Sequence[Statement] | None:
        """The cotangent under the other name."""
        if op.fn is not arrays.alike:
            return None
        same = self.same(s, op.args[0]) or self.walk.passed(s, op.args[0])
        return None if same is None else (same,)


def concerns(unit: Unit) -> bool:
    """Whether anything is known to fit."""
    values = (s.value for s in unit.statements() if type(s) is Assign)
    return any(type(value) is Op and value.fn is arrays.alike for value in values)


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Takes cotangents that fit as they are."""
    return run_each(program, [unit for unit in units if unit.found(concerns)], Fits)
