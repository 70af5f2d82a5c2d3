"""Code sinking for shadows: ``u_bar = zero(u)`` moves down to the first statement that uses it.

So a shadow that the forward sweep does not meet stands in the reverse sweep. The value of a pullback stays where it is:
the first of the two functions that are cut from it returns it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Box, Num
from tangentx.ir.markers import CUT
from tangentx.ir.nodes import Accumulate, Assign, Atom, Block, Lit, Make, Note, Op, Return, Statement, Var
from tangentx.ir.walk import Positions, reads
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.unit import Unit

_MAKERS = (arrays.zero, arrays.zeros_as, arrays.real_zero, np.zeros_like)


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Moves shadows and constants of the outermost block; True if anything changed."""
    changed = False
    for unit in units:
        if unit.settled.get(run) is unit.body:
            continue
        body = _sunk(unit, unit.body)
        if body != unit.body:
            unit.body, changed = body, True
        unit.settled[run] = unit.body
    return changed


def _sunk(unit: Unit, block: Block) -> Block:
    return _Sinking(unit, _named(unit, block)).block()


class _Sinking:
    """A block from its end to its begin. What moves stands in front of a statement that stays, behind what came there
    before it; so all others keep their positions, and the index of names stays true of them."""

    def __init__(self, unit: Unit, block: Block) -> None:
        self.unit, self.old = unit, block
        self.positions = Positions(block)
        self.before: dict[int, list[int]] = {}  # what has moved in front of a position, in order
        self.moved: dict[int, int] = {}
        self.value = _value(block) if CUT in unit.function.notes else None

    def block(self) -> Block:
        """The block with its shadows where they are first used."""
        work = len(self.old)  # the first place behind the statement in hand where it matters what stands there
        for i in range(len(self.old) - 1, -1, -1):
            s = self.old[i]
            if isinstance(s, Assign) and Var(s.target) != self.value and _is_shadow(self.unit, s):
                first = self._first_use(i, s)
                if first is not None and work < self._place(first)[0]:  # all that has moved are shadows
                    self._move(i, first)
            elif _does_work(s):
                work = i
        return tuple(self.old[j] for at in range(len(self.old)) for j in self._at(at))

    def _at(self, position: int) -> Iterator[int]:
        """What stands at a position now: what has moved in front of it, and what stood there if it has not moved."""
        yield from self.before.get(position, ())
        if position not in self.moved:
            yield position

    def _place(self, i: int) -> tuple[int, float]:
        """Where a statement stands: a position, and its place among those in front of that."""
        at = self.moved.get(i)
        return (i, inf) if at is None else (at, self.before[at].index(i))

    def _first_use(self, i: int, s: Assign) -> int | None:
        """The first statement after `i` that meets the name bound there, or binds one that is read there."""
        positions = self.positions
        found = {*positions.read.get(s.target, ()), *positions.bound.get(s.target, ())}
        for name in reads(s):
            found.update(positions.bound.get(name, ()))
        return min((j for j in found if j > i), key=self._place, default=None)

    def _move(self, i: int, last: int) -> None:
        end, place = self._place(last)
        self.moved[i] = end
        there = self.before.setdefault(end, [])
        there.insert(len(there) if place == inf else int(place), i)


def _value(block: Block) -> Atom | None:
    """The value in the tuple of value and cotangents that a function returns at its end."""
    made = {s.target: s.value for s in block if isinstance(s, Assign)}
    match block[-1]:
        case Return(Var(name)):
            result = made.get(name)
            return result.items[0] if isinstance(result, Make) else None
    return None


def _named(unit: Unit, block: Block) -> Block:
    """The block with ``t = zero(u); x = t`` as ``x = zero(u)``, where nothing else reads `t`."""
    read, bound = unit.counts()
    out: list[Statement] = []
    for s in block:
        last = out[-1] if out else None
        if isinstance(s, Assign) and isinstance(last, Assign) and s.value == Var(last.target):
            named = replace(last, target=s.target)
            if last.target.startswith("%") and read[last.target] == bound[last.target] == 1 and _is_shadow(unit, named):
                out[-1] = named
                continue
        out.append(s)
    return tuple(out)


def _is_shadow(unit: Unit, s: Assign) -> bool:
    """Whether the statement makes a zero, an empty list or a constant out of what cannot change its shape."""
    match s.value:
        case Lit() | Make(items=()):
            return s.span == unit.function.span  # the derivation's own, not the user's
        case Op(fn=fn, args=args, kwargs=()) if fn in _MAKERS and len(args) == 1:
            kind = unit.kinds.get(args[0].name) if isinstance(args[0], Var) else None
            return isinstance(kind, Arr | Num) or (isinstance(kind, Box) and _is_fixed(kind))
        case Op(fn=np.zeros, args=(Lit(),), kwargs=()):
            return s.target in unit.found(_added_to)
    return False


def _added_to(unit: Unit) -> frozenset[str]:
    """Names of arrays that contributions are added to: shadows, for the user's own are written otherwise."""
    every = (s.base for s in unit.statements() if type(s) is Accumulate)
    return frozenset(base.name for base in every if isinstance(base, Var))


def _is_fixed(kind: Box) -> bool:
    """Whether nothing ever changes what the container, or one inside it, consists of."""
    return not any(node.written or node.resized for node in memory.reach([kind], arrays_too=False))


def _does_work(s: Statement) -> bool:
    """Whether it matters on which side of what is no shadow a shadow stands: not so for a remark."""
    return not isinstance(s, Note) or s.text.startswith("----")
