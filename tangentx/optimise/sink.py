"""Shadows are made where they are first used: ``u_bar = zero(u)`` moves down past what has nothing to do with it.

So a shadow that the forward sweep does not meet stands in the reverse sweep.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tangentx import arrays
from tangentx.analysis.kinds import Arr, Box, Num
from tangentx.analysis.program import Program
from tangentx.ir.nodes import Accumulate, Assign, Block, Lit, Make, Note, Op, Statement, Var
from tangentx.ir.walk import bound, used
from tangentx.optimise import memory
from tangentx.optimise.unit import Unit

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
    out = [_Place(s) for s in _named(unit, block)]
    for i in range(len(out) - 1, -1, -1):
        s = out[i].statement
        if isinstance(s, Assign) and _is_shadow(unit, s):
            j = _first_use(out, i)
            if any(_does_work(unit, between.statement) for between in out[i + 1 : j]):
                out.insert(j, out[i])
                del out[i]
    return tuple(place.statement for place in out)


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


class _Place:
    """A statement of the block, with what it and its blocks read and bind."""

    def __init__(self, s: Statement) -> None:
        self.statement = s

    @functools.cached_property
    def reads(self) -> frozenset[str]:
        """The names that are read there."""
        return used((self.statement,))

    @functools.cached_property
    def writes(self) -> frozenset[str]:
        """The names that are bound there."""
        return bound((self.statement,))


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


def _first_use(out: list[_Place], i: int) -> int:
    """The place of the first statement after `i` that meets the name bound there or binds one that is read there."""
    here = out[i]
    for j in range(i + 1, len(out)):
        there = out[j]
        if here.writes & (there.reads | there.writes) or here.reads & there.writes:
            return j
    return i + 1


def _does_work(unit: Unit, s: Statement) -> bool:
    """Whether it matters on which side of it a shadow stands: not so for a remark, nor for another shadow."""
    if isinstance(s, Note):
        return s.text.startswith("----")
    return not (isinstance(s, Assign) and _is_shadow(unit, s))
