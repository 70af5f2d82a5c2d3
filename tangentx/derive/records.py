"""Records of names that live within one trip of a loop."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from tangentx.analysis.kinds import Arr, Num
from tangentx.derive.emit import SHADOW, VALUE, Emitter, mode
from tangentx.derive.trips import CHEAP
from tangentx.ir.nodes import Assign, Atom, Expr, Ext, Lit, Op, Var

if TYPE_CHECKING:
    from tangentx.derive.reverse import Reverse


def keep(r: Reverse, forward: Emitter, s: Assign) -> None:
    """Records a name that lives within the trip in hand after it is bound; its reverse begins with restoring it.

    What can be evaluated again there, because nothing it reads has changed, is not recorded.
    """
    name = s.target
    if name not in r.local or name not in r.frame.rebound:
        return
    how = mode(r.frame.kinds[name])
    emit = Emitter(forward.span)
    if r.derive.proves("again") and how is None and _is_stable(r, s.value):
        emit.assign(name, s.value)
        r.loops[-1].stable.add(name)
    else:
        for each in [name, r.frame.other(name)] if how == SHADOW else [name]:
            tape = r.tape(each)
            forward.append(tape, Var(each))
            emit.assign(each, emit.pop(tape))
    if how == VALUE:
        emit.assign(r.frame.other(name), r.frame.zero(emit, Var(name), r.frame.kinds[name]))
    r.loops[-1].restores += emit.block


def _is_stable(r: Reverse, value: Expr) -> bool:
    """Whether an expression is cheap, and all it reads is as it was where the reverse of the trip begins."""
    if not isinstance(value, Op) or value.kwargs or value.fn not in CHEAP:
        return False
    return all(_is_fixed(r, atom, value.fn is builtins.len) for atom in value.args)


def _is_fixed(r: Reverse, atom: Atom, length: bool) -> bool:
    """Whether an atom is a number (or an array of whose length only is asked) that the loops in hand do not change."""
    if isinstance(atom, Ext):
        return False
    kind = r.frame.kind(atom)
    if not (isinstance(kind, Num) or (length and isinstance(kind, Arr) and not kind.loose)):
        return False
    if isinstance(atom, Lit) or atom.name not in r.frame.rebound:
        return True
    return any(atom.name in turn.stable for turn in r.loops)
