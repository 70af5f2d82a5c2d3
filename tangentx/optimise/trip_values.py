"""What a trip of a loop has computed and read already, where both sweeps are in it, is not computed or read again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Num, Region
from tangentx.analysis.types.primitives import has_effect
from tangentx.ir.nodes import Assign, Atom, Attr, Block, Expr, Ext, Index, Op, Slice, Statement, Var
from tangentx.ir.walk import atoms
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.unit import Unit


class TripValues:
    """Names of what has been computed so far. Operands and result are bound at one place in the function, and lie in no
    memory that the trip writes into: `written`."""

    def __init__(self, program: Program, unit: Unit, written: set[Region], own: frozenset[str]) -> None:
        self.program, self.unit, self.written, self.own = program, unit, written, own
        self.made = unit.counts()[1] + Counter(p.name for p in unit.function.params)
        self.names: dict[Hashable, str] = {}
        self.same: dict[str, str] = {}

    def first(self, block: Block) -> Block:
        """Takes note of what the statements compute, and gives them back."""
        for s in block:
            self._note_copy(s)
            if isinstance(s, Assign) and (key := self._key(s)) is not None:
                self.names.setdefault(key, s.target)
        return block

    def again(self, block: Block) -> Block:
        """The statements, with names in place of what they compute again."""
        return tuple(self._statement(s) for s in block)

    def _statement(self, s: Statement) -> Statement:
        if not isinstance(s, Assign) or not self._once(s.target):
            return s
        self._note_copy(s)
        key = self._key(s)
        name = self.names.get(key) if key is not None else None
        if name is None or not self._alike(name, s.target):
            return s
        self.same[s.target] = name
        return Assign(s.target, Var(name), s.span)

    def _note_copy(self, s: Statement) -> None:
        if isinstance(s, Assign) and isinstance(s.value, Var) and self._once(s.target) and self._once(s.value.name):
            self.same[s.target] = self._meant(s.value.name)

    def _once(self, name: str) -> bool:
        return self.made[name] == 1 or name in self.own

    def _meant(self, name: str) -> str:
        return self.same.get(name, name)

    def _key(self, s: Assign) -> Hashable | None:
        """What the statement computes, where it would be the same at any later place of the trip."""
        if not isinstance(s.value, Op | Index | Attr) or has_effect(s.value) or not self._once(s.target):
            return None
        parts = [self._shown(a) for a in _parts(s.value)]
        if None in parts or self._moves(s):
            return None
        how = _how(s.value)
        return None if how is None else (how, *parts)

    def _moves(self, s: Assign) -> bool:
        """Whether a write may change what the statement computes, or what it gave."""
        kind = self.unit.kinds.get(s.target)
        if not isinstance(kind, Arr | Num):
            return True
        read = set(memory.contents(self.program, self.unit, s.value, kind))
        read |= set(memory.reach([kind]))
        return bool(read & self.written)

    def _shown(self, atom: Atom | None) -> Hashable | None:
        if isinstance(atom, Var):
            fixed = self.made[atom.name] == 0 or self._once(atom.name)
            return ("name", self._meant(atom.name)) if fixed else None
        return None if isinstance(atom, Ext) else repr(atom)

    def _alike(self, one: str, two: str) -> bool:
        """Whether the names have the same kind; those of arrays have one memory from here on."""
        first, second = self.unit.kinds.get(one), self.unit.kinds.get(two)
        if isinstance(first, Arr) and isinstance(second, Arr):
            if (first.dtype, first.rank, first.loose) != (second.dtype, second.rank, second.loose):
                return False
            first.region.unite(second.region)
            return True
        return isinstance(first, Num) and isinstance(second, Num) and first.type is second.type


def _parts(value: Op | Index | Attr) -> Iterator[Atom | None]:
    yield from atoms(value)


def _how(value: Expr) -> Hashable | None:
    """The expression without its atoms; None where it cannot be compared."""
    match value:
        case Op(fn=fn, kwargs=kwargs):
            try:
                hash(fn)
            except TypeError:
                return None
            return (fn, *(name for name, _ in kwargs))
        case Index(key=key):
            return ("index", key.many, key.attribute, *(isinstance(p, Slice) for p in key.parts))
        case Attr(name=name):
            return ("attribute", name)
    return None
