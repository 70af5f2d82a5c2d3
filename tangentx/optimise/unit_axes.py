"""Elimination of axes of length one: ``v = b[:, None]; v[...] += np.sum(t, axis=1, keepdims=True)`` is ``b[...] +=
np.sum(t, axis=1)``.

The view puts an axis into an array, and the sum leaves one of length one at the same place, so that both go. What is
added, and to which elements, stays the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Kind, is_array
from tangentx.ir.nodes import WHOLE, Accumulate, Assign, Atom, Block, Index, Key, Lit, Op, Slice, Statement, Var
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import statements, writes
from tangentx.optimise.facts.dataflow import sweeps
from tangentx.optimise.facts.unit import Unit, write_each


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Removes the axes; True if anything changed."""
    return write_each([unit for unit in units if unit.found(_is_concerned)], lambda unit: _written(program, unit))


def _written(program: Program, unit: Unit) -> Block:
    """The body with another reverse sweep; what the user has written stays as it is."""
    forward, reverse = sweeps(unit.function)
    axes = _Axes(program, unit)
    return axes.added([*forward, *(map_blocks(s, axes.block) for s in reverse)], len(forward))


def _is_concerned(unit: Unit) -> bool:
    """Whether there are views with an axis more, and sums that keep theirs."""
    values = [s.value for s in unit.statements() if type(s) is Assign]
    sums = any(type(v) is Op and v.fn is np.sum and v.kwargs for v in values)
    return sums and any(type(v) is Index and Lit(None) in v.key.parts for v in values)


class _Axes:
    """Writes the blocks of one function anew."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program, self.unit = program, unit
        self.read, self.bound = unit.counts()

    def block(self, block: Block) -> Block:
        """The block, and the blocks inside it."""
        return self.added([map_blocks(s, self.block) for s in block], 0)

    def added(self, out: list[Statement], first: int) -> Block:
        """The statements, of which those from the `first` on may add without the axes."""
        made = {s.target: i for i, s in enumerate(out) if isinstance(s, Assign) and self.bound[s.target] == 1}
        for j, s in enumerate(out[first:], first):
            if not (isinstance(s, Accumulate) and s.key == WHOLE and isinstance(s.base, Var)):
                continue
            if isinstance(s.value, Var) and self.read[s.value.name] == 1:
                i, k = made.get(s.base.name, j), made.get(s.value.name, j)
                plain = self._plain(out[i], out[k]) if i < j and first <= k < j else None
                view = out[i]
                if plain is not None and not _rebinds(out[i + 1 : j], base := view.value.base):  # type: ignore[union-attr]
                    out[k], out[j] = plain, replace(s, base=base)
        return tuple(out)

    def _plain(self, view: Statement, total: Statement) -> Statement | None:
        """The sum without the axis that the view puts in; None where they are not of that form."""
        if not (isinstance(view, Assign) and isinstance(view.value, Index) and isinstance(total, Assign)):
            return None
        op, base, kind = total.value, self._array(view.value.base), self._array(Var(total.target))
        if base is None or kind is None or not isinstance(op, Op) or op.fn is not np.sum:
            return None
        settings = dict(op.kwargs)
        axis = settings.pop("axis", None)
        if list(settings.items()) != [("keepdims", Lit(True))] or not isinstance(axis, Lit) or base.rank is None:
            return None
        place = _new_axis(view.value.key, base.rank)
        if type(axis.value) is not int or kind.rank != base.rank + 1 or place != axis.value % kind.rank:
            return None
        self.unit.kinds[total.target] = replace(kind, rank=base.rank)
        return replace(total, value=replace(op, kwargs=(("axis", axis),)))

    def _array(self, atom: Atom) -> Arr | None:
        kind: Kind = self.unit.kind(self.program, atom)
        return kind if isinstance(kind, Arr) and is_array(kind) and kind.sure and kind.rank else None


def _rebinds(between: Sequence[Statement], base: Atom) -> bool:
    return not isinstance(base, Var) or any(base.name in writes(s) for s in statements(tuple(between)))


def _new_axis(key: Key, rank: int) -> int | None:
    """The axis that a key puts into an array of this rank, of which it leaves out nothing; None for other keys."""
    parts = list(key.parts)
    if Lit(Ellipsis) in parts:
        at = parts.index(Lit(Ellipsis))
        parts[at : at + 1] = [Slice()] * (rank + 2 - len(parts))
    alone = parts.count(Lit(None)) == 1 and parts.count(Slice()) == len(parts) - 1 <= rank
    return parts.index(Lit(None)) if alone else None
