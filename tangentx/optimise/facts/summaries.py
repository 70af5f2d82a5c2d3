"""Function summaries: facts that hold for all calls of a function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tangentx.analysis.infer.calling_conventions import SETTLED
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Region
from tangentx.analysis.types.primitives import has_effect
from tangentx.ir.nodes import Accumulate, Append, Assign, Delete, Link, Pop, Raise, Store
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.unit import Unit

Live = set[Any]  # names of variables, and regions whose content is live


@dataclass(eq=False)
class Summary:
    """One function: how it may end, what it writes, and what `Liveness` finds live at its start and its end.

    `settled`, `calls` and `unread` say what the last walk of `Liveness` went by: how much was known of the ends and
    whether the result was needed, how much of what each callee reads, and which items of tuples nothing read.
    """

    unit: Unit
    entry: bool
    raises: bool
    writes: Live
    reached: bool
    result: bool
    ends: Live = field(default_factory=set)
    starts: Live = field(default_factory=set)
    needed: set[int] = field(default_factory=set)
    heads: dict[int, Live] = field(default_factory=dict)
    walked: bool = False
    settled: tuple[int, bool] | None = None
    calls: dict[int, tuple[Summary, int]] = field(default_factory=dict)
    unread: set[tuple[Region, int]] = field(default_factory=set)
    _memory: tuple[int, frozenset[Region]] = (0, frozenset())

    def memory(self) -> frozenset[Region]:
        """The regions among what is live at its start, which only grows."""
        if self._memory[0] != len(self.starts):
            self._memory = len(self.starts), frozenset(x for x in self.starts if isinstance(x, Region))
        return self._memory[1]


def summaries(program: Program, units: Sequence[Unit]) -> dict[Link, Summary]:
    """A summary of each function; what it may raise or write includes what its callees may."""
    outer = memory.entries(units)
    found = {u.link: Summary(u, u in outer, *_effects(program, u), u in outer, u in outer) for u in units}
    calls = [(summary, found[call.link]) for summary in found.values() for _, call in summary.unit.calls()]
    changed = True
    while changed:
        changed = False
        for caller, callee in calls:
            more = callee.writes - caller.writes
            raises = callee.raises and not caller.unit.function.notes.get(SETTLED)  # such a step is never run
            if more or (raises and not caller.raises):
                caller.writes |= more
                caller.raises = caller.raises or raises
                changed = True
    return found


def _effects(program: Program, unit: Unit) -> tuple[bool, Live]:
    """Whether the function itself may raise, and the regions that it writes itself."""
    body = unit.statements()
    written = [s.base for s in body if isinstance(s, Store | Accumulate | Append | Delete)]
    written += [s.value.base for s in body if isinstance(s, Assign) and isinstance(s.value, Pop)]
    regions = {memory.region(unit.kind(program, base)) for base in written}
    runs = not unit.function.notes.get(SETTLED)
    acts = runs and any(isinstance(s, Raise) or (isinstance(s, Assign) and has_effect(s.value)) for s in body)
    return acts, regions
