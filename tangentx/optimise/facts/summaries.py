"""Function summaries: facts that hold for all calls of a function, lengths among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tangentx.analysis.infer.calling_conventions import SETTLED
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Region
from tangentx.analysis.types.primitives import has_effect
from tangentx.ir.nodes import Accumulate, Append, Assign, Delete, Link, Pop, Raise, Statement, Store
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.shape_arithmetic import Length, Lengths, Shape, at_call, is_long, is_single, note_taken
from tangentx.optimise.facts.unit import Unit

# Function summaries: facts that hold for all calls of a function.

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


# Interprocedural shape facts: lengths that arguments and results have at every call.
#
# A function is printed once for all its calls, so what holds for its parameters has to hold at every one of them:
#
#     scale(u, rate)          # u of shape (n,), rate of shape (n,), and n is not one
#     scale(v, v)             # v of shape (m,), and m is not one: so the two are as long as each other at each call
#
# What it gives back is told by `shapes.Facts`, in the lengths of its parameters.

Rooted: TypeAlias = tuple[Mapping[tuple[str, int | None], object], ...] | None
LIMIT_WAYS = 8


def tell_callees(program: Program, units: Sequence[Unit]) -> bool:
    """Notes what is known of the lengths of functions' parameters; True if that is news.

    The walks of the passes have left the shapes of the arguments of each call with the function that is called.
    """
    calls: dict[Unit, list[tuple[Statement, Unit]]] = {}
    for s, caller, callee in _calls(units):
        calls.setdefault(callee, []).append((s, caller))
    news = False
    for callee, made in calls.items():
        given = [callee.given.get(s) for s, _ in made]
        if callee.outer or None in given:
            continue
        names = [p.name for p in callee.function.params]
        found = _of_parameters(names, given)  # type: ignore[arg-type]
        rooted = _rooted(names, [(shapes, caller) for shapes, (_, caller) in zip(given, made, strict=True)])  # type: ignore[misc]
        if rooted != callee.rooted or any(callee.lengths.get(name) != shape for name, shape in found.items()):
            for shapes, (_, caller) in zip(given, made, strict=True):
                note_taken(program, caller, (n for shape in shapes or () if isinstance(shape, Lengths) for n in shape))
            callee.lengths, callee.asked, news = callee.lengths | found, None, True
            callee.rooted, callee.long, callee.relied = rooted, {}, set()
    return news


def _rooted(names: Sequence[str], calls: Sequence[tuple[tuple[Shape, ...], Unit]]) -> Rooted:
    """The lengths of parameters in those of the program's arguments, for each way to come to one of these calls."""
    found: list[Mapping[tuple[str, int | None], object]] = []
    for shapes, caller in calls:
        if caller.rooted is None:
            return None
        for lengths in caller.rooted:
            at = at_call(names, shapes, lengths)
            found += [] if at in found else [at]
    return tuple(found) if len(found) <= LIMIT_WAYS else None


def _of_parameters(names: Sequence[str], given: Sequence[tuple[Shape, ...]]) -> dict[str, Lengths]:
    """The shapes of the parameters of which any is known, in lengths of their own."""
    first: dict[tuple[Length, ...], Length] = {}
    found: dict[str, Lengths] = {}
    for name, shapes in zip(names, zip(*given, strict=True), strict=True):
        ranks = {len(shape) if isinstance(shape, Lengths) else None for shape in shapes}
        if len(ranks) == 1 and None not in ranks:
            columns = enumerate(zip(*shapes, strict=True))
            found[name] = Lengths(_length(("param", name, axis), there, first) for axis, there in columns)
    return found


def _length(tag: tuple[object, ...], there: tuple[Length, ...], first: dict[tuple[Length, ...], Length]) -> Length:
    """What stands for the length that an axis has at the calls: that of an earlier one which is equal at each."""
    if isinstance(there[0], int) and all(n == there[0] for n in there):
        return there[0]
    kind = "long" if all(map(is_long, there)) else "single" if all(map(is_single, there)) else None
    return first.setdefault(there, tag if kind is None else (kind, *tag))


def _calls(units: Sequence[Unit]) -> Iterator[tuple[Statement, Unit, Unit]]:
    """Each call, the function that it is in, and the one that is called."""
    for unit in units:
        for s, call in unit.calls():
            if call.link in unit.others:
                yield s, unit, unit.others[call.link]
