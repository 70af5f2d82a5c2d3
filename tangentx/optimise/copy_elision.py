"""Copy elision: a copy is not made where all of its readers compute new arrays before the original is written.

``t = clone(v); y = k * t`` is ``y = k * v``: up to the last of its readers, which are arithmetic, no statement writes
into the memory of `v` or runs other code, so that `v` still has the content that was copied. Nor is it where `v` is
what arrays select from another one.

Reverse sweeps take a cotangent out of an array and put zeros in its place before they go on with it. The zeros wait
for the readers where nothing on the way has to do with that array:

    t = clone(u_bar[1:-1])          d = 0.25 * u_bar[1:-1]
    u_bar[1:-1] = 0.0               u_bar[1:-1] = 0.0
    d = 0.25 * t                    u_bar[:-2] += d
    u_bar[:-2] += d
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Arr, Num, is_array
from tangentx.analysis.types.primitives import has_effect, makes_new
from tangentx.ir.nodes import (
    Accumulate,
    Assign,
    Atom,
    Block,
    Call,
    Index,
    Lit,
    Note,
    Op,
    Pop,
    Slice,
    Statement,
    Store,
    Var,
)
from tangentx.ir.rewrite import map_atoms, map_blocks
from tangentx.ir.walk import reads, statement_atoms
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.dataflow import sweeps
from tangentx.optimise.facts.unit import Unit, write_each


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Leaves copies out; True if anything changed."""

    def written(unit: Unit) -> Block:
        clones = _Clones(program, unit)
        ahead, behind = sweeps(unit.function)
        return clones.block((*ahead, *clones.waiting(behind)))

    return write_each(units, written)


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

    def waiting(self, block: Block) -> Block:
        """The block, and those inside it, with zeros put in the place of what was copied behind its last reader."""
        out = [map_blocks(s, self.waiting) for s in block]
        for i in reversed(range(len(out))):
            old, s = self._taken(out[i]), out[i]
            if old is None or not isinstance(s, Assign):
                continue
            readers = [k for k in range(i + 1, len(out)) if s.target in reads(out[k])]
            zeros = next((k for k in range(i + 1, len(out)) if self._puts_zeros(out[k], old)), len(out))
            if len(readers) == self.read[s.target] and readers and zeros < readers[-1]:
                end = self._end(out, zeros, readers[-1], old)
                if self._left(out[zeros + 1 : end], s.target) < 2:
                    out[zeros:end] = [*out[zeros + 1 : end], out[zeros]]
        return tuple(out)

    def _end(self, out: list[Statement], zeros: int, last: int, old: Var) -> int:
        """Where zeros may be put behind the last reader, and behind what alone reads the results on the way; where they
        stand now, if not there."""
        alone: set[str] = set()
        for k in range(zeros + 1, len(out)):
            s = out[k]
            if k > last and alone.isdisjoint(reads(s)):
                return k
            if not self._lets_pass(out[zeros], s, old):
                return k if k > last else zeros + 1
            if isinstance(s, Assign) and self.read[s.target] == 1:
                alone.add(s.target)
        return len(out)

    def _left(self, between: list[Statement], name: str) -> int:
        """How many results of what is in `name` are read behind these statements: more than one would be held in place
        of one copy."""
        made = [name]
        for s in between:
            if isinstance(s, Assign) and not reads(s).isdisjoint(made):
                made.append(s.target)
        return sum(self.read[each] > sum(each in reads(s) for s in between) for each in made[1:])

    def _puts_zeros(self, s: Statement, old: Var) -> bool:
        """Whether the statement puts zeros into the memory of `old`."""
        if not isinstance(s, Store) or not isinstance(s.value, Lit):
            return False
        return memory.region(self.unit.kind(self.program, s.base)) is memory.region(self.unit.kind(self.program, old))

    def _lets_pass(self, zeros: Statement, s: Statement, old: Var) -> bool:
        """Whether zeros in the memory of `old` may as well be put there after a statement: it does not look at what
        stands there, nor changes where they belong."""
        mine, places = memory.region(self.unit.kind(self.program, old)), reads(zeros)
        match s:
            case Assign(target=target, value=value) if not isinstance(value, Call | Pop) and not has_effect(value):
                looks = memory.contents(self.program, self.unit, value, self.unit.kinds.get(target, BOTTOM))
                return target not in places and all(each is not mine for each in looks)
            case Store(base=base) | Accumulate(base=base):
                written = memory.region(self.unit.kind(self.program, base))
                seen = memory.reach(self.unit.kind(self.program, a) for a in statement_atoms(s))
                where = memory.reach(self.unit.kind(self.program, Var(name)) for name in places)
                apart = all(each is not mine for each in seen) and all(each is not written for each in where)
                return apart and is_array(self.unit.kind(self.program, base))
        return False

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

    def _is_put_elsewhere(self, s: Statement, name: str, old: Var) -> bool:
        """Whether the statement puts the copy, as it is, into an array that shares no memory with `old`."""
        if not (isinstance(s, Store | Accumulate) and s.value == Var(name)):
            return False
        return self._writes_elsewhere(replace(s, value=Lit(0.0)), name, old)

    def _is_read_at_once(self, out: list[Statement], i: int, name: str, old: Var) -> bool:
        """Whether all readers of the copy are arithmetic, before anything is written or `old` is bound anew."""
        left = self.read[name]
        for s in out[i + 1 :]:
            if left == 0:
                break
            if isinstance(s, Note) or self._writes_elsewhere(s, name, old) or _pops(s, old):
                continue
            if self._is_put_elsewhere(s, name, old):
                left -= 1
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
