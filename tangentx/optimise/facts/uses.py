"""The names that a binding reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Arr, Box, Region
from tangentx.ir.nodes import Assign, Attr, Index, Op, Pop
from tangentx.ir.walk import atoms
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.unit import Unit


@dataclass(frozen=True)
class Reading:
    """What a binding reads: names and contents, containers as a whole, single items of tuples."""

    live: frozenset[Any]
    wholes: frozenset[Region]
    slots: tuple[tuple[Region, int], ...]


_MEMORY = (Arr, Box)


def reading(program: Program, unit: Unit, s: Assign) -> Reading:
    """What the statement reads by binding anything but a plain tuple or the result of a call."""
    expr = s.value
    if type(expr) is Op and not any(type(unit.kind(program, a)) in _MEMORY for a in atoms(expr)):
        return Reading(frozenset(memory.names(atoms(expr))), frozenset(), ())
    contents = memory.contents(program, unit, expr, unit.kinds.get(s.target, BOTTOM))
    wholes = set(memory.whole(program, unit, expr))
    item = memory.slot(program, unit, expr)
    if item is None and isinstance(expr, Index | Attr | Pop):
        base = memory.region(unit.kind(program, expr.base))
        if base is not None:
            wholes.add(base)
    slots = () if item is None else (item,)
    return Reading(frozenset((*contents, *memory.names(atoms(expr)))), frozenset(wholes), slots)
