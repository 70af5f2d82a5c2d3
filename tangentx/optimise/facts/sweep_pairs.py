"""The two sweeps of a callee, and the tuple by which the first passes residuals to the second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tangentx.analysis.types.kinds import BOTTOM
from tangentx.ir.markers import PAIR, STATE
from tangentx.ir.nodes import Assign, Index, Key, Lit, Return, Var
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.unit import Unit


def paired(units: Sequence[Unit]) -> Iterator[tuple[Unit, Unit]]:
    """The two functions of each callee of which there are no copies for other arguments."""
    members: dict[object, list[Unit]] = {}
    for unit in units:
        if PAIR in unit.function.notes:
            members.setdefault(unit.function.notes[PAIR], []).append(unit)
    for group in members.values():
        firsts, seconds = ([u for u in group if (STATE in u.function.notes) is which] for which in (False, True))
        if len(firsts) == len(seconds) == 1:
            yield firsts[0], seconds[0]


def saving(first: Unit, second: Unit) -> Assign | None:
    """The statement that makes the tuple of what a function saves for another, if there is one, run before its one
    exit, and nothing else of the tuple is asked for than its items, where the other function begins."""
    state = str(second.function.notes[STATE])
    node = memory.region(second.kinds.get(state, BOTTOM))
    made = [s for s in first.body if isinstance(s, Assign) and _makes(s, node, first)]
    takes = [s for s in second.body if isinstance(s, Assign) and place_in(s, state) is not None]
    exits = sum(isinstance(s, Return) for s in first.statements())
    if len(made) != 1 or exits != 1 or len(takes) != second.counts()[0][state]:
        return None
    # A tuple of the program itself, which may be all that is saved, is read elsewhere, too.
    return made[0] if first.counts()[0][made[0].target] == 1 else None


def _makes(s: Assign, node: object, unit: Unit) -> bool:
    """Whether a statement makes the tuple of a region."""
    return memory.is_tuple(s.value) and memory.region(unit.kinds.get(s.target, BOTTOM)) is node


def place_in(s: Assign, state: str) -> int | None:
    """The place of what a statement takes out of the tuple; None for all others."""
    match s.value:
        case Index(Var(name), Key((Lit(int(k)),))) if name == state:
            return k
    return None


def item_of(state: str, k: int) -> Index:
    """What takes the item at place `k` out of the tuple."""
    return Index(Var(state), Key((Lit(k),)))
