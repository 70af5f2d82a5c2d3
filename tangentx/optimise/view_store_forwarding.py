"""Store forwarding through views: ``v = b[k]; ...; v[...] += t`` is ``b[k] += t``.

The view is formed for that write alone. Forming it reads nothing of the array's content, so that it may move past any
write, as long as the names in it hold what they held.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr
from tangentx.analysis.types.selection import is_basic
from tangentx.ir.nodes import WHOLE, Accumulate, Assign, Block, Index, Lit, Slice, Statement, Store, Var
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import Positions, reads
from tangentx.optimise.facts.unit import Unit, write_each


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Writes straight into arrays; True if anything changed."""
    return write_each(units, lambda unit: _Direct(program, unit).block(unit.body))


class _Direct:
    """Writes the blocks of one function anew."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program, self.unit = program, unit
        self.read, self.bound = unit.counts()

    def block(self, block: Block) -> Block:
        """The block, and the blocks inside it."""
        out: list[Statement | None] = [map_blocks(s, self.block) for s in block]
        positions = Positions([s for s in out if s is not None])
        for i in reversed(range(len(out))):
            view = out[i]
            if isinstance(view, Assign) and isinstance(view.value, Index) and self._is_for_one(view, view.value):
                held = reads(view)
                place = self._write(out, positions, i, view.target, held)
                s = None if place is None else out[place]
                if place is not None and isinstance(s, Store | Accumulate):
                    out[place] = replace(s, base=view.value.base, key=view.value.key)
                    out[i] = None
                    positions.move_reads(held, i, place)
        return tuple(s for s in out if s is not None)

    def _is_for_one(self, view: Assign, value: Index) -> bool:
        """Whether a slice of an array is formed once, for one reader."""
        kinds = [self.unit.kind(self.program, atom) for atom in (Var(view.target), value.base)]
        parts = tuple(() if isinstance(p, Slice) else self.unit.kind(self.program, p) for p in value.key.parts)
        once = self.read[view.target] == 1 and self.bound[view.target] == 1
        return once and all(isinstance(k, Arr) and k.sure for k in kinds) and is_basic(parts)

    def _write(
        self, out: list[Statement | None], positions: Positions, i: int, name: str, held: Set[str]
    ) -> int | None:
        """The place of the write through the view; None if there is none, or a name in it is bound anew before."""
        place = positions.next_read(name, i)
        s = None if place is None else out[place]
        if place is None or not isinstance(s, Store | Accumulate) or s.base != Var(name) or repr(s.key) != repr(WHOLE):
            return None
        if name in reads(replace(s, base=Lit(None))) or positions.is_bound_between(held, i, place):
            return None
        return place
