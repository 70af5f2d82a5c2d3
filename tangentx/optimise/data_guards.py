"""Data of others that both sweeps read is held against what it was, where code runs in between that may change it.

The reverse sweep reads arguments and objects from outside again, in the same call. Nobody writes into them meanwhile
but a thread that does not wait for its turn, and against such a one a program has no defined answer itself; or code
that the program calls and that is not followed: a callback, a handler, what another thread does while this one waits
for it. Where there is such a call, what the reverse sweep reads is compared, before it begins.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tangentx import arrays
from tangentx.analysis.infer.constant_calls import is_quiet, may_change_others
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Arr, Box, Kind, Num, Obj, Region, Some
from tangentx.analysis.types.primitives import is_primitive
from tangentx.analysis.types.structure_results import COPIES
from tangentx.common.naming import Names
from tangentx.errors import Span
from tangentx.ir.functions import FunctionValue
from tangentx.ir.markers import CUT
from tangentx.ir.nodes import (
    Apply,
    Assign,
    Atom,
    Block,
    Call,
    Ext,
    Link,
    Lit,
    Method,
    Note,
    Op,
    Statement,
    Var,
)
from tangentx.ir.opaque_ops import Attempt
from tangentx.ir.walk import statement_atoms, statements, writes
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.dataflow import sweeps
from tangentx.optimise.facts.summaries import summaries
from tangentx.optimise.facts.unit import Unit


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Puts the comparison before the reverse sweep of the root, where one is needed."""
    root = units[0]
    act = next((place for unit in units for place in _acts(program, unit)), None)
    forward, reverse = sweeps(root.function)
    if act is None or not forward or not reverse:
        return False
    found = _read_again(program, units, forward, reverse)
    if not found:
        return False
    seen = Names([*root.kinds, *(p.name for p in root.function.params)]).fresh("seen")
    root.kinds[seen], root.kinds["%same"] = Some(object), Obj(None)
    where = f"{os.path.basename(act.file)}:{act.line}"
    first = Assign(seen, Op(arrays.as_seen, tuple(found.values())), root.function.span)
    given = (Var(seen), Lit(where), Lit(", ".join(found)), *found.values())
    last = Assign("%same", Op(arrays.demand_same, given), reverse[0].span)
    root.body = (first, *forward, last, *reverse)
    return True


def _acts(program: Program, unit: Unit) -> Iterator[Span]:
    """The places where code runs that may change what it is not given."""
    for s in unit.statements():
        op = s.value if isinstance(s, Assign) else None
        if not isinstance(op, Op):
            continue
        if isinstance(op.fn, Attempt):
            yield from (inner.span for block in op.fn.blocks() for inner in statements(block) if _calls(inner))
        elif may_change_others(op, lambda atom: unit.kind(program, atom)):
            yield s.span


def _calls(s: Statement) -> bool:
    """Whether a statement as the user wrote it calls what may be any code."""
    match s:
        case Assign(value=Apply(fn=Ext(value=fn))):
            return not (is_primitive(fn) or is_quiet(fn))
        case Assign(value=Apply() | Method()):
            return True
    return False


def _read_again(program: Program, units: Sequence[Unit], forward: Block, reverse: Block) -> dict[str, Atom]:
    """What the reverse sweep reads, by name: of parameters that are what the caller gave, and objects from outside."""
    root = units[0]
    part = Unit(Link("reverse", replace(root.function, body=reverse)), root.kinds, root.result, outer=True)
    regions, numbers = _contents(program, part, {unit.link: unit for unit in units}, set())
    regions |= _copied(program, root, forward, regions)
    written = summaries(program, [part, *units])[root.link].writes
    bound = {name for s in root.statements() for name in writes(s)}
    found: dict[str, Atom] = {}
    params = root.function.params
    for p in params[:-1] if CUT in root.function.notes else params:  # a seed is given when the pullback is called
        if p.name not in bound and _concerns(root.kinds.get(p.name), regions, written):
            found[p.name] = Var(p.name)
    for atom in _outside(units):
        kind = program.external(atom)
        number = isinstance(kind, Num) and atom.path in numbers
        if atom.name not in found and (number or _concerns(kind, regions, written)):
            found[atom.name] = atom
    return found


def _copied(program: Program, root: Unit, forward: Block, read: set[Region]) -> set[Region]:
    """The memory of which the reverse sweep reads a copy that was made when the forward sweep had ended."""
    found: set[Region] = set()
    for s in forward:
        if isinstance(s, Assign) and isinstance(s.value, Op) and s.value.fn in COPIES:
            if not read.isdisjoint(memory.reach([root.kinds.get(s.target, BOTTOM)])):
                found |= {*memory.reach(root.kind(program, atom) for atom in s.value.args)}
    return found


def _concerns(kind: Kind | None, read: set[Region], written: set[Region]) -> bool:
    """Whether the memory of a value is read, and the program itself does not write into it."""
    if not isinstance(kind, Arr | Box) or (isinstance(kind, Box) and issubclass(kind.cls, FunctionValue)):
        return False
    reached = set(memory.reach([kind]))
    return not reached.isdisjoint(read) and reached.isdisjoint(written) and None not in written


def _outside(units: Sequence[Unit]) -> Iterator[Ext]:
    """The objects from outside that the program names, each once."""
    seen = set()
    for unit in units:
        for s in unit.statements():
            for atom in statement_atoms(s):
                if isinstance(atom, Ext) and atom.path not in seen:
                    seen.add(atom.path)
                    yield atom


def _contents(
    program: Program, unit: Unit, units: dict[Link, Unit], met: set[Link]
) -> tuple[set[Region], set[tuple[str, ...]]]:
    """The memory whose content a function reads, with what it calls, and the paths of the numbers from outside."""
    regions: set[Region] = set()
    numbers: set[tuple[str, ...]] = set()
    met.add(unit.link)
    for s in statements(unit.body):
        numbers |= {atom.path for atom in statement_atoms(s) if isinstance(atom, Ext)}
        regions |= _content(program, unit, s)
        if isinstance(s, Assign) and isinstance(s.value, Call) and s.value.link not in met:
            inside = _contents(program, units[s.value.link], units, met)
            regions |= inside[0]
            numbers |= inside[1]
    return regions, numbers


def _content(program: Program, unit: Unit, s: Statement) -> set[Region]:
    if isinstance(s, Assign):
        return set(memory.contents(program, unit, s.value, unit.kinds.get(s.target, BOTTOM)))
    if isinstance(s, Note):
        return set()
    return set(memory.reach(unit.kind(program, atom) for atom in statement_atoms(s)))
