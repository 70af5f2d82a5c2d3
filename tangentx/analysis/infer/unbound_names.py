"""Possibly unbound names: which reads need a run-time check, and which names are certainly bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tangentx import arrays
from tangentx.analysis.types.kinds import BOTTOM, Bottom, Kind, Obj, Some
from tangentx.analysis.types.optional_values import may_be_none
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import UNBOUND, Assign, Atom, Block, Expr, Lit, Op, Raise, Var

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker


def empty(w: Walker, s: Assign) -> None:
    """The name has no value from here on; it is bound to nothing where that is asked while the program runs."""
    assert w.env is not None
    if s.target not in w.instance.asked:
        w.env[s.target] = (None,)
        return
    target = w.bind(s.target, BOTTOM)
    for definition in w.env[s.target]:
        assert definition is not None
        definition.empty = True
    w.out.append(Assign(target, Lit(UNBOUND), s.span))


def demanded(w: Walker, args: tuple[Atom, ...]) -> tuple[Expr, Kind]:
    """The question whether a variable has a value, asked only where it may have none; from here on it has one.

    What a cell holds is always asked.
    """
    name, called, free = args
    assert isinstance(name, Var) and w.env is not None
    known = w.env.get(name.name, ())
    bound = tuple(d for d in known if d is not None and not d.empty)
    if len(bound) == len(known) and not name.name.startswith("%"):
        return Lit(None), Obj(None)
    if not bound:  # what follows is not reached, unless a later round finds a definition
        w.expand("unbound", lambda: _raising(w, called, free))
        return Lit(None), BOTTOM
    if name.name not in w.instance.asked:
        w.instance.asked.add(name.name)
        w.program.world.changed = True
    atom, kind = w.read(name)
    if w.program.final and isinstance(kind, Bottom):
        w.expand("unbound", lambda: _raising(w, called, free))
        return Lit(None), BOTTOM
    if may_be_none(kind) or (isinstance(kind, Obj) and kind.value is None) or isinstance(kind, Some):
        message = f"`{called.value}` may have no value here" if isinstance(called, Lit) else "a name without a value"
        raise UnsupportedSyntax(
            f"{message}, and it may be None, too, which cannot be told apart", w.span, "assign it on every path"
        )
    w.env[name.name] = bound
    return Op(arrays.demand_bound, (atom, called, free) if free == Lit(True) else (atom, called)), Obj(None)


def _raising(w: Walker, called: Atom, free: Atom) -> Block:
    """What Python raises."""
    assert isinstance(called, Lit) and isinstance(free, Lit)
    error, message = w.temporary(), arrays.unbound_message(str(called.value), bool(free.value))
    cls = NameError if free.value else UnboundLocalError
    return (Assign(error, Op(cls, (Lit(message),)), w.span), Raise(Var(error), w.span))
