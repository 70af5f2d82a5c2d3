"""What the reverse sweep changes, of memory that others can reach, it has for itself: a joint copy made before it.

The forward sweep works on the user's own objects, as the program does: it writes into globals, and what is local
escapes when it is stored in one. The reverse sweep restores what was overwritten, and must not do so there. So where it
begins, every name that it reads and that reaches such memory is bound to a copy; all of them are copied together, so
that what is one object, or shares memory, is so in the copies. Where the reverse sweep runs later, others may have
written by then: what it only reads is copied too.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from tangentx import arrays
from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import Arr, Box, Kind, Region
from tangentx.common.naming import Names
from tangentx.ir.markers import CUT
from tangentx.ir.nodes import UNBOUND, Assign, Block, Function, Index, Key, Link, Lit, Op, Statement, Var
from tangentx.ir.rewrite import rename
from tangentx.ir.upward_exposed import bound_after, exposed
from tangentx.ir.walk import bound, statements, writes
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.dataflow import sweeps
from tangentx.optimise.facts.summaries import summaries
from tangentx.optimise.facts.unit import Unit


def private(program: Program, root: Instance) -> Function | None:
    """The derived function with such copies; None where it needs none."""
    function = root.link.function
    assert function is not None
    forward, reverse = sweeps(function)
    others = memory.outside(program) if reverse else frozenset[Region]()
    if not others:
        return None
    read = exposed(reverse) & _made(function, forward)
    kinds = {name: kind for name, kind in root.kinds.items() if name in read and isinstance(kind, Arr | Box)}
    changed = _changed(program, root, reverse)
    if CUT not in function.notes:
        others &= changed
    names = _together(kinds, others, changed)
    if not names:
        return None
    sure = bound_after(forward, frozenset(p.name for p in function.params))
    start = [Assign(name, Lit(UNBOUND), function.span) for name in names if name not in sure]
    fresh = Names([*root.kinds, *bound(function.body)])
    own = {name: f"%own.{name}" if name.startswith("%") else fresh.fresh(f"{name}_") for name in names}
    copies = _copies(own, isinstance(kinds[names[0]], Arr), reverse[0])
    return replace(function, body=(*start, *forward, *copies, *rename(reverse, own)))


def _made(function: Function, forward: Block) -> set[str]:
    """The names that have a value before the reverse sweep, as far as control comes to where it is bound."""
    binding = (s for s in statements(forward) if not (isinstance(s, Assign) and s.value == Lit(UNBOUND)))
    return {p.name for p in function.params}.union(*map(writes, binding))


def _together(kinds: Mapping[str, Kind], others: Set[Region], changed: Set[Region]) -> list[str]:
    """The names that reach the memory of others, and those that reach what is changed and copied with it."""
    reach = {name: set(memory.reach([kind])) for name, kind in kinds.items()}
    found = [name for name in kinds if not reach[name].isdisjoint(others)]
    while True:
        copied = set[Region]().union(*(reach[name] for name in found)) & changed
        more = [name for name in kinds if name not in found and not reach[name].isdisjoint(copied)]
        if not more:
            return [name for name in kinds if name in found]
        found += more


def _changed(program: Program, root: Instance, reverse: Block) -> set[Region]:
    """What the reverse sweep writes; all that it reaches where that is not known."""
    assert root.link.function is not None
    part = Unit(Link("reverse", replace(root.link.function, body=reverse)), root.kinds, root.result, outer=True)
    units = [part, *(Unit(i.link, i.kinds, i.result) for i in program.reached()[1:])]
    found = summaries(program, units)[part.link].writes
    return set(found) if None not in found else set(memory.reach(root.kinds.values()))


def _copies(own: Mapping[str, str], is_array: bool, first: Statement) -> list[Statement]:
    """Binds the names of the copies, by the names of what is copied."""
    given = tuple(map(Var, own))
    if len(own) == 1 and is_array:
        return [Assign(name, Op(arrays.entry_copy, given), first.span) for name in own.values()]
    items = [Assign(n, Index(Var("%own"), Key((Lit(k),))), first.span) for k, n in enumerate(own.values())]
    return [Assign("%own", Op(arrays.entry_copies, given), first.span), *items]
