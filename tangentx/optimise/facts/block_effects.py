"""Memory effects of statements, calls included: the storage that they read and write.

An array that they make is told from others that its memory may be taken for, where it is read by the name that it was
bound to.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Arr, Region
from tangentx.analysis.types.primitives import has_effect, makes_new
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Call,
    Delete,
    Link,
    Lit,
    Op,
    Pop,
    Raise,
    Statement,
    Store,
    Var,
)
from tangentx.ir.rewrite import map_expr
from tangentx.ir.walk import key_atoms, statement_atoms, statements
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.unit import Unit


@dataclass(eq=False)
class Effects:
    """Regions by what is done to them. Those `written` are `replaced` where it is not by contributions to arrays alone.
    `acts`: something else happens that the world can see, or nobody knows where it is written to."""

    read: set[Region] = field(default_factory=set)
    written: set[Region] = field(default_factory=set)
    replaced: set[Region] = field(default_factory=set)
    acts: bool = False


def effects(program: Program, unit: Unit, block: Iterable[Statement]) -> Effects:
    """What the statements, those of their blocks and of the functions that they call do to memory."""
    found = Effects()
    seen = set[Link]()
    every = [s for each in block for s in statements((each,))]
    here = _new(unit, every)
    todo = [(unit, s, here) for s in every]
    while todo:
        of, s, new = todo.pop()
        if isinstance(s, Assign) and isinstance(s.value, Call):
            link = s.value.link
            if link not in seen:
                seen.add(link)
                called: Mapping[Link, Unit] = unit.others
                callee = called[link]
                made = _new(callee, callee.statements())
                todo += [(callee, inner, made) for inner in callee.statements()]
        else:
            _Doing(program, of, found, new).add(s)
    return found


NOTHING = Lit(None)


def _new(unit: Unit, every: Iterable[Statement]) -> frozenset[Var]:
    """Names that are bound once in the function, in one of the statements, to an array that an operation makes. A new
    container is none: what lies in it may be old."""
    made = unit.counts()[1]
    bound = [s for s in every if isinstance(s, Assign) and made[s.target] == 1]
    arrays = [s for s in bound if isinstance(unit.kinds.get(s.target), Arr)]
    return frozenset(Var(s.target) for s in arrays if isinstance(s.value, Op) and makes_new(s.value.fn))


class _Doing:
    """Adds what single statements of one function do."""

    def __init__(self, program: Program, unit: Unit, found: Effects, new: frozenset[Var]) -> None:
        self.program, self.unit, self.found, self.new = program, unit, found, new

    def add(self, s: Statement) -> None:
        """Adds what the statement does by itself."""
        match s:
            case Assign():
                self._binding(s)
            case Store() | Accumulate():
                self._read(key_atoms(s.key))
                kind = self.unit.kind(self.program, s.base)
                if isinstance(kind, Arr):
                    self._read((s.value,))
                adds = isinstance(s, Accumulate) and s.by is operator.add and isinstance(kind, Arr) and kind.sure
                self._written(s.base, replaced=not adds)
            case Append() | Delete():
                self._written(s.base)
            case Raise():
                self._read(statement_atoms(s))

    def _binding(self, s: Assign) -> None:
        target = self.unit.kinds.get(s.target, BOTTOM)
        value = map_expr(s.value, lambda a: NOTHING if a in self.new else a)
        self.found.read.update(memory.contents(self.program, self.unit, value, target))
        if isinstance(s.value, Pop):
            self._written(s.value.base)
        self.found.acts = self.found.acts or has_effect(s.value)

    def _read(self, atoms: Iterable[Atom]) -> None:
        kinds = [self.unit.kind(self.program, a) for a in atoms if not isinstance(a, Lit) and a not in self.new]
        self.found.read.update(memory.reach(kinds))

    def _written(self, base: Atom, replaced: bool = True) -> None:
        node = memory.region(self.unit.kind(self.program, base))
        if node is None:
            self.found.acts = True
            return
        self.found.written.add(node)
        if replaced:
            self.found.replaced.add(node)
