"""Which names of a function in forward mode belong to its tangents, and not to what the user wrote."""

from __future__ import annotations

from tangentx.ir.nodes import Accumulate, Assign, Make, Statement, Store, Var
from tangentx.ir.walk import reads
from tangentx.optimise.facts.unit import Unit


def of_tangents(unit: Unit) -> frozenset[str]:
    """Tangents, what is computed from them, and temporaries that nothing but these reads, as partials are."""
    dots = unit.function.notes.get("dots", ())
    if not dots:
        return frozenset()
    made_of: dict[str, set[str]] = {}
    read_by: dict[str, set[str | None]] = {}
    for s in unit.statements():
        target = target_of(s)
        packs = isinstance(s, Assign) and isinstance(s.value, Make)  # with tangents the value of the user's, too
        for name in reads(s):
            read_by.setdefault(name, set()).add(target)
            if packs:
                read_by[name].add(None)
            elif target is not None:
                made_of.setdefault(target, set()).add(name)
    found = set(dots)
    todo = list(dots)
    while todo:  # what is computed from tangents
        more = {target for target in read_by.get(todo.pop(), ()) if target is not None} - found
        found |= more
        todo.extend(more)
    todo = list(found)
    while todo:  # what nothing else reads
        for name in made_of.get(todo.pop(), ()):
            if name.startswith("%") and name not in found and read_by[name] <= found:
                found.add(name)
                todo.append(name)
    return frozenset(found)


def target_of(s: Statement) -> str | None:
    """What a statement binds or writes into."""
    if type(s) is Assign:
        return s.target
    return s.base.name if isinstance(s, Store | Accumulate) and isinstance(s.base, Var) else None
