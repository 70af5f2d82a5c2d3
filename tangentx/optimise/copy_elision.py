"""Copy elision: a copy is not made where all of its readers compute new arrays before the original is written.

``t = clone(v); y = k * t`` is ``y = k * v``: up to the last of its readers, which are arithmetic, no statement writes
into the memory of `v` or runs other code, so that `v` still has the content that was copied. Nor is it where `v` is
what arrays select from another one.
"""

from __future__ import annotations

from collections.abc import Sequence

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Num, is_array
from tangentx.analysis.types.primitives import has_effect, makes_new
from tangentx.ir.nodes import Accumulate, Assign, Atom, Block, Call, Index, Note, Op, Pop, Slice, Statement, Store, Var
from tangentx.ir.rewrite import map_atoms, map_blocks
from tangentx.ir.walk import reads
from tangentx.optimise.facts.unit import Unit, write_each


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Leaves copies out; True if anything changed."""
    return write_each(units, lambda unit: _Clones(program, unit).block(unit.body))


class _Clones:
    """Writes the blocks of one function anew."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program, self.unit = program, unit
        self.read, self.bound = unit.counts()

    def block(self, block: Block) -> Block:
        """The block, and the blocks inside it."""
        out = [map_blocks(s, self.block) for s in block]
        i = 0
        while i < len(out):
            s = out[i]
            taken = self._taken(s)
            selection = self._selection(out[i - 1], taken) if i and taken is not None else None
            if isinstance(s, Assign) and selection is not None:
                out[i - 1 : i + 1] = [Assign(s.target, selection, s.span)]
            elif isinstance(s, Assign) and taken is not None and self._is_read_at_once(out, i, s.target, taken):
                here, there = s.target, taken
                rest = map_atoms(tuple(out[i + 1 :]), lambda a: there if a == Var(here) else a)  # noqa: B023
                out[i:] = rest
            else:
                i += 1
        return tuple(out)

    def _taken(self, s: Statement) -> Var | None:
        """The array that the statement copies."""
        if not (isinstance(s, Assign) and isinstance(s.value, Op) and s.value.fn is arrays.clone):
            return None
        old: Atom = s.value.args[0]
        kinds = [self.unit.kind(self.program, atom) for atom in (old, Var(s.target))]
        alike = all(isinstance(k, Arr) and k.sure for k in kinds) and self.bound[s.target] == 1
        return old if alike and isinstance(old, Var) else None

    def _selection(self, made: Statement, old: Var) -> Index | None:
        """How arrays select what is copied, if the statement before does, and nobody else reads it."""
        if not (isinstance(made, Assign) and isinstance(made.value, Index) and made.target == old.name):
            return None
        base = self.unit.kind(self.program, made.value.base)
        parts = [() if isinstance(p, Slice) else self.unit.kind(self.program, p) for p in made.value.key.parts]
        by_arrays = any(isinstance(p, Arr) and p.sure and p.rank for p in parts)
        single = self.read[old.name] == self.bound[old.name] == 1
        return made.value if by_arrays and is_array(base) and single else None

    def _writes_elsewhere(self, s: Statement, name: str, old: Var) -> bool:
        """Whether the statement writes into an array that shares no memory with `old`, and does not read the copy."""
        if not isinstance(s, Store | Accumulate) or name in reads(s):
            return False
        base, mine = (self.unit.kind(self.program, atom) for atom in (s.base, old))
        apart = isinstance(base, Arr) and isinstance(mine, Arr) and base.region.root() is not mine.region.root()
        return apart and is_array(base)

    def _is_read_at_once(self, out: list[Statement], i: int, name: str, old: Var) -> bool:
        """Whether all readers of the copy are arithmetic, before anything is written or `old` is bound anew."""
        left = self.read[name]
        for s in out[i + 1 :]:
            if left == 0:
                break
            if isinstance(s, Note) or self._writes_elsewhere(s, name, old) or _pops(s, old):
                continue
            if not isinstance(s, Assign) or isinstance(s.value, Call | Pop) or has_effect(s.value):
                return False
            if name in reads(s):
                number = isinstance(self.unit.kinds.get(s.target), Num)
                if not isinstance(s.value, Op) or not (number or makes_new(s.value.fn)):
                    return False
                left -= sum(a == Var(name) for a in (*s.value.args, *(a for _, a in s.value.kwargs)))
            if s.target == old.name:
                return False
        return left == 0


def _pops(s: Statement, old: Var) -> bool:
    """Whether the statement takes something off a list: no array changes by that."""
    return isinstance(s, Assign) and isinstance(s.value, Pop) and s.target != old.name
