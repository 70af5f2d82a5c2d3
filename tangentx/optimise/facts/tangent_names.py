"""Tangent names: which variables of a forward-mode function belong to its tangents."""

from __future__ import annotations

from tangentx.ir.nodes import Accumulate, Assign, Call, Expr, Index, Lit, Make, Statement, Store, Var
from tangentx.ir.walk import reads
from tangentx.optimise.facts.unit import Unit


def of_tangents(unit: Unit) -> frozenset[str]:
    """Tangents, what is computed from them, and temporaries that nothing but these reads, as partials are.

    What goes into a tuple, or into a call, with tangents is the user's: so is the first item of what such a call gives.
    """
    dots = unit.function.notes.get("dots", ())
    if not dots:
        return frozenset()
    made_of: dict[str, set[str]] = {}
    read_by: dict[str, set[str | None]] = {}
    pairs = {s.target for s in unit.statements() if isinstance(s, Assign) and _gives_both(s.value)}
    for s in unit.statements():
        target = target_of(s)
        mixed = isinstance(s, Assign) and (isinstance(s.value, Make) or s.target in pairs)
        for name in reads(s):
            value = name in pairs and isinstance(s, Assign) and _is_value(s.value, name)
            read_by.setdefault(name, set()).update({None} if value else {target, None} if mixed else {target})
            if target is not None and not mixed:
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


def _gives_both(value: Expr) -> bool:
    """Whether it is a call that gives the user's value and its tangent, of arguments and theirs."""
    return isinstance(value, Call) and value.link.function is not None and bool(value.link.function.notes.get("dots"))


def _is_value(value: Expr, pair: str) -> bool:
    """Whether it takes the user's value from what such a call has given."""
    return isinstance(value, Index) and value.base == Var(pair) and value.key.parts == (Lit(0),)


def target_of(s: Statement) -> str | None:
    """What a statement binds or writes into."""
    if type(s) is Assign:
        return s.target
    return s.base.name if isinstance(s, Store | Accumulate) and isinstance(s.base, Var) else None
