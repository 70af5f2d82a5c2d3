"""Tapes: records of block-local names, and names that the reverse sweep recomputes."""

from __future__ import annotations

from collections.abc import Sequence

from tangentx.analysis.types.kinds import Arr
from tangentx.derive.emit import SHADOW, VALUE, Emitter
from tangentx.derive.reverse.context import Reverse
from tangentx.ir.nodes import Assign, Expr, Index, Op, Pop, Statement, Var


def keep(r: Reverse, s: Assign) -> tuple[list[Statement], list[Statement]]:
    """What records a name after it is bound; what restores it, or forms it again, where its block's reverse begins."""
    name = s.target
    forward, back = Emitter(s.span), Emitter(s.span)
    if name in r.again.first:
        form(r, back, [s])
    if name not in r.local:
        return [], back.block
    how = r.how(name)
    if name not in r.again.names:
        for each in [name, r.frame.other(name)] if how == SHADOW else [name]:
            tape = r.tape(each)
            forward.append(tape, Var(each))
            back.assign(each, Pop(Var(tape)))
    if how == VALUE and not (name in r.again.names and isinstance(r.frame.kinds[name], Arr)):
        back.assign(r.frame.other(name), r.frame.zero_value(Var(name), r.frame.kinds[name]))
    return forward.block, back.block


def form(r: Reverse, emit: Emitter, made: Sequence[Assign]) -> None:
    """Binds names, and what their shadows are views of, as the forward sweep did."""
    for s in made:
        of_place = r.again.stored.get(s.target)
        emit.assign(s.target, s.value if of_place is None else Op(of_place, (emit.let(s.value),)))
        kind = r.frame.kinds[s.target]
        if r.how(s.target) == VALUE and isinstance(kind, Arr):
            emit.assign(r.frame.other(s.target), r.frame.zero_value(Var(s.target), kind))
        if r.how(s.target) == SHADOW:
            emit.assign(r.frame.other(s.target), _shadow(r, s.value))


def _shadow(r: Reverse, value: Expr) -> Expr:
    """The shadow of a name or of an element that is formed again."""
    if isinstance(value, Var):
        return r.other(value)
    assert isinstance(value, Index)
    return Index(r.other(value.base), value.key)


def formed(r: Reverse) -> list[str]:
    """The names that are formed again, and their shadows."""
    names = sorted(r.again.names)
    return [*names, *(r.frame.other(n) for n in names if r.how(n) == SHADOW)]


def restored(r: Reverse, emit: Emitter, s: Statement) -> None:
    """Where all is as it was before `s`: forms what its reverse reads."""
    form(r, emit, r.again.at.get(id(s), ()))
