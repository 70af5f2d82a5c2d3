"""Store forwarding for containers of zeros: the first contribution to an item becomes the item.

``b = zero(p); ...; b[k] = b[k] + v`` is ``b[k] = v``, where nothing in between looks into the container in another way:
what is added has the shape of the item, and is an array that nobody else has.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num
from tangentx.ir.nodes import Assign, Atom, Block, Expr, Index, Key, Lit, Op, Statement, Store, Var
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import atoms, reads, statements
from tangentx.optimise.facts.aliasing import PASSING, is_view
from tangentx.optimise.facts.unit import Unit, write_each

_FLOATS = (float, np.float64)


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Stores what is added first; True if anything changed."""
    return write_each(units, lambda unit: _Filled(program, unit).block(unit.body))


class _Filled:
    """Writes the blocks of one function anew."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program, self.unit = program, unit
        self.read, self.bound = unit.counts()
        self.made = {s.target: s.value for s in statements(unit.body) if isinstance(s, Assign)}

    def block(self, block: Block) -> Block:
        """The block, and the blocks inside it."""
        out = [map_blocks(s, self.block) for s in block]
        for i, s in enumerate(out):
            if isinstance(s, Assign) and isinstance(s.value, Op) and _is_zero_by_place(s.value):
                self._fill(out, i, s.target)
        return tuple(out)

    def _fill(self, out: list[Statement], i: int, name: str) -> None:
        """Stores what is added to items of the container, which is made at a position of the block."""
        kind, met, j = self.unit.kinds.get(name), set[object](), i + 1
        while isinstance(kind, Box) and self.bound[name] == 1 and j < len(out):
            added = self._added(out[j : j + 3], name)
            if added is not None and added.key not in met and not _from_the_end(kind, added):
                met.add(added.key)
                if self._becomes(kind, added):
                    out[j : j + 3] = [added]
                    j -= 2
                j += 3
            elif any(name in reads(s) for s in statements((out[j],))):
                return
            else:
                j += 1

    def _added(self, three: list[Statement], name: str) -> Store | None:
        """The store of what three statements add to an item of the container; None where they do something else."""
        match three:
            case [
                Assign(target=old, value=Index(base=Var(name=read), key=Key(parts=(Lit(),)) as key)),
                Assign(target=new, value=Op(fn=operator.add, args=(Var(name=first), value))),
                Store(base=Var(name=written), key=there, value=Var(name=last)) as store,
            ] if read == written == name and first == old and last == new and key == there:
                single = all(self.read[each] == self.bound[each] == 1 for each in (old, new))
                return Store(store.base, key, value, store.span) if single and value != Var(old) else None
        return None

    def _becomes(self, kind: Box, s: Store) -> bool:
        """Whether the item may be what is added to it: of its type, and nobody else's."""
        part = s.key.parts[0]
        assert isinstance(part, Lit)
        item, given = kind.region.get(part.value), self.unit.kind(self.program, s.value)
        if isinstance(item, Num):
            return item.type in _FLOATS and isinstance(given, Num) and given.type in _FLOATS
        return _alike(item, given) and self._is_own(s.value)

    def _is_own(self, atom: Atom) -> bool:
        """Whether an operation on arrays and numbers has made the array, for this reader alone."""
        made: Expr = atom
        while isinstance(made, Var):
            atom = made
            if self.read[atom.name] != 1 or self.bound[atom.name] != 1 or atom.name not in self.made:
                return False
            made = self.made[atom.name]
        if not isinstance(made, Op) or made.fn in PASSING or is_view(self.program, self.unit, atom, made):
            return False
        return all(isinstance(self.unit.kind(self.program, a), Arr | Num) for a in atoms(made))


def _is_zero_by_place(op: Op) -> bool:
    """Whether it makes a zero for each place, shared with no other."""
    return op.fn is arrays.zero and len(op.args) == 1


def _from_the_end(kind: Box, s: Store) -> bool:
    """Whether the key counts from the end of a sequence, so that another may stand for the same item."""
    part = s.key.parts[0]
    return kind.cls is not dict and isinstance(part, Lit) and isinstance(part.value, int) and part.value < 0


def _alike(item: Kind, given: Kind) -> bool:
    """Whether both are arrays of one dtype and rank for certain."""
    if not (isinstance(item, Arr) and isinstance(given, Arr) and item.sure and given.sure):
        return False
    return item.dtype == given.dtype and item.rank == given.rank and item.rank is not None
