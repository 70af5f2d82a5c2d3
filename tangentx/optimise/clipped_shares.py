"""Shares of arrays in their larger or smaller with a bound: ``0.5 + 0.5 * sign(x)`` for ``share(x, 0.0, maximum(x,
0.0))``.

The general rule compares both operands with the result, and looks for what is no number. The sign of ``x - c`` tells as
much: 1 where the element wins, a half where it equals the bound, 0 where it loses; of an element that is no number it
is none, so that the results are none, or an event is raised, and the gradient is found again by the general rule, as
without guards (see `unguarded_products`, whose conditions are these).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, is_array
from tangentx.ir.nodes import Append, Assign, Atom, Lit, Op, Pop, Statement, Var
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import ADD, MUL, SUB, Rules, run_each

_ABOVE: dict[Any, Callable[..., Any]] = {np.maximum: ADD, np.minimum: SUB}


class Shares(Rules):
    """The reverse sweep with signs."""

    shapes = False

    def operation(self, s: Assign, op: Op) -> Sequence[Statement] | None:
        """The statements for a share."""
        if op.fn is not arrays.share or len(op.args) != 3 or op.kwargs:
            return None
        x, bound, best = op.args
        side, kind = self._side(best, bound), self.kind(x)
        if side is None or not (isinstance(bound, Lit) and self._is_plain(x) and self._is_plain(Var(s.target))):
            return None
        made: list[Assign] = []
        for fn, given in ((SUB, (x, bound)), (np.sign, ()), (MUL, (Lit(0.5),))):
            if fn is not SUB or bound.value:
                args = (*given, *(Var(m.target) for m in made[-1:])) if fn is not SUB else given
                made.append(self.let(s, Op(fn, args or (x,)), kind))
        return *made, Assign(s.target, Op(side, (Lit(0.5), Var(made[-1].target))), s.span)

    def _is_plain(self, atom: Atom) -> bool:
        """Whether it is an array of doubles with axes."""
        kind = self.kind(atom)
        plain = isinstance(kind, Arr) and is_array(kind) and kind.sure and bool(kind.rank)
        return plain and kind.dtype == np.float64 and kind.library == "numpy"  # type: ignore[union-attr]

    def _side(self, best: Atom, bound: Atom) -> Callable[..., Any] | None:
        """Whether the sign is added or subtracted, where `best` is the larger or the smaller of an array and a finite
        number."""
        value = bound.value if isinstance(bound, Lit) else None
        if not (isinstance(value, int | float) and type(value) is not bool and math.isfinite(value)):
            return None
        made = self.unit.found(_extremes).get(best.name) if isinstance(best, Var) else None
        if made is None or len(made.args) != 2 or made.kwargs or repr(made.args[1]) != repr(bound):
            return None
        return _ABOVE[made.fn]


def _extremes(unit: Unit) -> dict[str, Op]:
    """The operation whose result a name holds, one of `_ABOVE`, also where it was recorded."""
    bound = unit.counts()[1]
    found: dict[str, Op] = {}
    records: dict[str, list[Atom]] = {}
    for s in unit.statements():
        if type(s) is Assign and bound[s.target] == 1:
            if type(s.value) is Op and getattr(s.value.fn, "__hash__", None) and s.value.fn in _ABOVE:
                found[s.target] = s.value
            elif type(s.value) is Var and s.value.name in found:
                found[s.target] = found[s.value.name]
        elif type(s) is Append and isinstance(s.base, Var):
            records.setdefault(s.base.name, []).append(s.value)
    for s in unit.statements():
        if type(s) is Assign and type(s.value) is Pop and bound[s.target] == 1 and isinstance(s.value.base, Var):
            given = records.get(s.value.base.name, [])
            if len(given) == 1 and isinstance(given[0], Var) and given[0].name in found:
                found[s.target] = found[given[0].name]
    return found


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Writes shares as signs, where the program may be run again with the general rule."""
    changed = program.reruns and run_each(program, [unit for unit in units if unit.found(_extremes)], Shares)
    program.unguarded = program.unguarded or changed
    return changed
