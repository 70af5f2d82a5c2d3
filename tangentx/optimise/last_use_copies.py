"""Elimination of copies at the last use: an array that nobody reads later is passed on itself.

``u_bar = clone(v_bar)`` is ``u_bar = v_bar`` where the function has made `v_bar` for itself, nothing but names and
views refers to it, and no statement after the copy reads it or writes into it. In a loop it may be read before anything
is written into the copy, by names that each trip binds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Region
from tangentx.analysis.types.primitives import has_effect, makes_new
from tangentx.ir.nodes import (
    Accumulate,
    Assign,
    Atom,
    Attr,
    Block,
    Call,
    Index,
    Lit,
    Make,
    Op,
    Return,
    Statement,
    Store,
    Var,
)
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.upward_exposed import exposed
from tangentx.ir.walk import BINDING, reads, statement_atoms, statements, used, writes
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.unit import Unit, write_each


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Hands arrays on in place of their last copies; True if anything changed."""

    def inside(unit: Unit) -> Block:
        handed = _Handed(program, unit)
        return tuple(map_blocks(s, handed.inner) for s in unit.body)

    outside = write_each(units, lambda unit: _Handed(program, unit).block(unit.body))
    return write_each(units, inside) or outside


class _Handed:
    """Writes the blocks of one function anew: the outermost one, which runs once, and those of loops."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program, self.unit = program, unit

    def block(self, block: Block) -> Block:
        """The block with fewer copies."""
        out = list(block)
        for i, s in enumerate(out):
            if not (isinstance(s, Assign) and isinstance(s.value, Op) and s.value.fn is arrays.clone):
                continue
            old = s.value.args[0]
            mine, its = (self.unit.kind(self.program, atom) for atom in (Var(s.target), old))
            if not (isinstance(mine, Arr) and isinstance(its, Arr) and mine.sure and its.sure):
                continue
            region = its.region.root()
            if not self._refers(tuple(out[i + 1 :]), region) and self._is_own(s, region):
                mine.region.unite(its.region)
                out[i] = Assign(s.target, old, s.span)
        return tuple(out)

    def inner(self, block: Block) -> Block:
        """A block of a loop or branch, and the blocks inside it."""
        out = [map_blocks(s, self.inner) for s in block]
        for i, s in enumerate(out):
            if isinstance(s, Assign) and isinstance(s.value, Op) and s.value.fn is arrays.clone:
                old = s.value.args[0]
                mine, its = (self.unit.kind(self.program, atom) for atom in (Var(s.target), old))
                if not (isinstance(mine, Arr) and isinstance(its, Arr) and mine.sure and its.sure):
                    continue
                if self._is_own(s, its.region.root()) and self._is_over(out, i, its.region.root(), mine.region.root()):
                    mine.region.unite(its.region)
                    out[i] = Assign(s.target, old, s.span)
        return block if tuple(out) == block else tuple(out)

    def _is_over(self, out: Sequence[Statement], i: int, region: Region, new: Region) -> bool:
        """Whether nothing reads what was copied by another name once something writes into the copy, or into it."""
        copy = out[i]
        assert isinstance(copy, Assign)
        inside = {id(s) for s in statements(tuple(out))}
        names = {n for n, k in self.unit.kinds.items() if isinstance(k, Arr) and k.region.root() is region}
        others = names - {copy.target}
        if others & exposed(tuple(out)):
            return False
        for s in self.unit.statements():
            if id(s) not in inside and others & reads(s) and not self._renames(s, copy.target):
                return False
        written = False
        for s in out[i + 1 :]:
            if self._is_apart(s, others):
                others = others - writes(s)
            written = written or any(self._writes(each, region, new) for each in statements((s,)))
            if written and others & used((s,)):
                return False
        return True

    def _is_apart(self, s: Statement, others: Set[str]) -> bool:
        """Whether the statement alone binds a name, to a new array or to a view of something else than the others."""
        if not isinstance(s, Assign) or self.unit.counts()[1][s.target] != 1:
            return False
        if isinstance(s.value, Index):
            return isinstance(s.value.base, Var) and s.value.base.name not in others
        return isinstance(s.value, Op) and makes_new(s.value.fn)

    def _renames(self, s: Statement, name: str) -> bool:
        """Whether the statement binds the name to another one, which nobody else reads."""
        given = s.value if isinstance(s, Assign) and s.target == name else None
        return isinstance(given, Var) and self.unit.counts()[0][given.name] == 1

    def _writes(self, s: Statement, *regions: Region) -> bool:
        if isinstance(s, Assign) and isinstance(s.value, Call):
            return True
        base = s.base if isinstance(s, Store | Accumulate) else None
        return base is not None and memory.region(self.unit.kind(self.program, base)) in regions

    def _refers(self, rest: Block, region: Region) -> bool:
        """Whether anything that the statements read reaches the memory."""
        return any(self._is_in(region, statement_atoms(s)) for s in statements(rest))

    def _is_in(self, region: Region, found: Iterable[Atom]) -> bool:
        kinds = [self.unit.kind(self.program, atom) for atom in found if not isinstance(atom, Lit)]
        return region in memory.reach(kinds)

    def _is_own(self, copy: Statement, region: Region) -> bool:
        """Whether all that refers to the memory are names, of arrays made here and of their views."""
        if self._is_in(region, [Var(param.name) for param in self.unit.function.params]):
            return False
        if region in memory.outside(self.program):
            return False
        return all(s is copy or self._is_plain(s, region) for s in statements(self.unit.body))

    def _is_returned(self, name: str) -> bool:
        """Whether the name is only there to be given back."""
        read, made = self.unit.counts()
        given = any(isinstance(s, Return) and s.value == Var(name) for s in self.unit.body)
        return given and read[name] == made[name] == 1

    def _is_plain(self, s: Statement, region: Region) -> bool:
        """Whether the statement gives the memory no other way to be reached than a name for an array."""
        bound = type(s) in BINDING and self._is_in(region, (Var(s.target),))  # type: ignore[union-attr]
        if not bound and not self._is_in(region, statement_atoms(s)):
            return True
        match s:
            case Accumulate() | Store():
                return isinstance(self.unit.kind(self.program, s.base), Arr)
            case Assign(value=Var() | Attr()):
                return True
            case Assign(value=Index(base=base)):
                return isinstance(self.unit.kind(self.program, base), Arr)
            case Assign(value=Make(cls=cls)):
                return cls is tuple and self._is_returned(s.target)
            case Return():
                return True
            case Assign(value=Call(args=args)):  # what is not reached by way of its arguments it has made
                return not self._is_in(region, args)
            case Assign(value=Op() as op) if bound:
                return makes_new(op.fn)
            case Assign(value=Op() as op):
                return not has_effect(op)
        return False
