"""Records of names that live within one trip of a loop, and names that are formed again instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tangentx.derive.emit import SHADOW, VALUE, Emitter
from tangentx.ir.nodes import Assign, Index, Lit, Statement, Var

if TYPE_CHECKING:
    from tangentx.derive.reverse import Reverse


def keep(r: Reverse, forward: Emitter, s: Assign) -> None:
    """Records a name that lives within the trip in hand after it is bound; its reverse begins with restoring it."""
    name = s.target
    if name not in r.local or name not in r.frame.rebound or name in r.again.names:
        return
    how = r.how(name)
    emit = Emitter(forward.span)
    for each in [name, r.frame.other(name)] if how == SHADOW else [name]:
        tape = r.tape(each)
        forward.append(tape, Var(each))
        emit.assign(each, emit.pop(tape))
    if how == VALUE:
        emit.assign(r.frame.other(name), r.frame.zero(emit, Var(name), r.frame.kinds[name]))
    r.loops[-1].restores += emit.block


def back_to_zero(r: Reverse, name: str) -> Callable[[Emitter], None]:
    """For a number that is formed again: its cotangent is zero before it is bound."""
    return lambda emit: emit.add(Assign(r.frame.other(name), Lit(0.0), emit.span))


def form(r: Reverse, emit: Emitter, made: Sequence[Assign]) -> None:
    """Binds names, and what their shadows are views of, as the forward sweep did."""
    for s in made:
        emit.assign(s.target, s.value)
        if r.frame.mode(Var(s.target)) == SHADOW:
            assert isinstance(s.value, Index)
            emit.assign(r.frame.other(s.target), Index(r.other(s.value.base), s.value.key))


def formed(r: Reverse) -> list[str]:
    """The names that are formed again, and their shadows."""
    names = sorted(r.again.names)
    return [*names, *(r.frame.other(n) for n in names if r.frame.mode(Var(n)) == SHADOW)]


def restored(r: Reverse, emit: Emitter, s: Statement) -> None:
    """Where all is as it was before `s`: forms what its reverse reads."""
    form(r, emit, r.again.at.get(id(s), ()))
