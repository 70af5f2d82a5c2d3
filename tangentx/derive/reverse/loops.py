"""Reverse mode of loops: iterations are undone in reverse order."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable

from tangentx.derive.emit import Emitter
from tangentx.derive.reverse.context import Reverse, Turn, nothing
from tangentx.ir.nodes import (
    Assign,
    Atom,
    Block,
    Break,
    Continue,
    For,
    If,
    Lit,
    Loop,
    Make,
    Pop,
    Raise,
    Return,
    Statement,
    Twin,
    Var,
)
from tangentx.ir.walk import statements


def _restorer(name: str, tape: str) -> Callable[[Emitter], None]:
    def restore(emit: Emitter) -> None:
        emit.assign(name, Pop(Var(tape)))

    return restore


def _bounds_of_trips(emit: Emitter, s: For, exits: Atom) -> tuple[Atom, Atom]:
    """Start and stop of the range over the trips that were made."""
    trips = emit.op(builtins.len, exits)
    if not s.backward:
        return s.start, _after(emit, s, trips)
    every = emit.op(builtins.len, emit.op(range, s.start, s.stop, s.step))
    return _after(emit, s, emit.op(operator.sub, every, trips)), _after(emit, s, every)


def _after(emit: Emitter, s: For, trips: Atom) -> Atom:
    """The index after so many trips: ``start + trips * step``."""
    steps = trips if s.step == Lit(1) else emit.op(operator.mul, trips, s.step)
    return steps if s.start == Lit(0) else emit.op(operator.add, s.start, steps)


def has_exit(body: Block, outer: bool = True) -> bool:
    """Whether a trip of the loop with this body may end before the end of the body."""
    for s in body:
        if isinstance(s, Return) or (outer and isinstance(s, Break | Continue)):
            return True
        if isinstance(s, If) and (has_exit(s.body, outer) or has_exit(s.orelse, outer)):
            return True
        if isinstance(s, For | Loop) and has_exit(s.body, False):
            return True
    return False


def _returns(body: Block, left: int) -> int:
    """The exits in a loop's body that leave the loop too: those of its returns."""
    return left if any(isinstance(s, Return) for s in statements(body)) else 0


def falls_through(body: Block) -> bool:
    """Whether the end of the block can be reached."""
    if not body:
        return True
    match body[-1]:
        case Break() | Continue() | Return() | Raise():
            return False
        case If(body=a, orelse=b):
            return falls_through(a) or falls_through(b)
        case Loop(body=inner):
            return has_break(inner)
    return True


def has_break(body: Block) -> bool:
    """Whether a trip may leave the loop with this body by `break`."""
    return any(isinstance(s, Break) or (isinstance(s, If) and (has_break(s.body) or has_break(s.orelse))) for s in body)


def _turn(
    r: Reverse, s: For | Loop
) -> tuple[Emitter, Callable[[Emitter], None], list[Statement], list[Statement], int]:
    """The body of a loop: (set-up, its undoing, forward body, reverse body, exits that leave the loop)."""
    own = isinstance(s, Loop) or has_exit(s.body)
    setup = Emitter(s.span)
    undo: Callable[[Emitter], None] = nothing
    turn = Turn(None)
    if own:
        name = r.frame.names.fresh("exits")
        turn.exits = name
        if r.loops:
            tape = r.tape(name)
            r.unbound[name] = None
            setup.append(tape, Var(name))
            undo = _restorer(name, tape)

        setup.assign(name, Make(list, ()))
    r.loops.append(turn)
    forward, reverse, left = r.block(s.body)
    r.loops.pop()
    if turn.exits is not None:
        tail = Emitter(s.span)
        if falls_through(s.body):
            tail.append(turn.exits, Lit(r.last))
        forward = [*forward, *tail.block]
        head = Emitter(s.span)
        head.assign(f"{turn.exits}_code", head.pop(turn.exits))
        reverse = [*head.block, *reverse]
    escapes = _returns(s.body, left)
    return setup, undo, forward, reverse, escapes


def for_(r: Reverse, s: For) -> tuple[list[Statement], list[Statement], int]:
    """Both sweeps of a loop over a range, and the last exit in it that leaves it."""
    before = Emitter(s.span)
    restore = r.record(before, s.target)
    setup, undo, forward, reverse, escapes = _turn(r, s)
    back = Emitter(s.span)
    start, stop = s.start, s.stop
    exits = _exits_of(setup)
    if exits is not None:
        start, stop = _bounds_of_trips(back, s, Var(exits))
    name = object()
    again = Twin(name, True) if exits is None else None
    back.add(For(s.target, start, stop, s.step, not s.backward, tuple(reverse), s.span, twin=again))
    undo(back)
    restore(back)
    loop = For(s.target, s.start, s.stop, s.step, s.backward, tuple(forward), s.span, twin=Twin(name, False))
    return [*before.block, *setup.block, loop], back.block, escapes


def _exits_of(setup: Emitter) -> str | None:
    last = setup.block[-1] if setup.block else None
    return last.target if isinstance(last, Assign) else None


def loop(r: Reverse, s: Loop) -> tuple[list[Statement], list[Statement], int]:
    """Both sweeps of a loop without a head."""
    setup, undo, forward, reverse, escapes = _turn(r, s)
    back = Emitter(s.span)
    exits = _exits_of(setup)
    assert exits is not None
    trips = back.op(builtins.len, Var(exits))
    back.add(For(back.temporary(), Lit(0), trips, Lit(1), False, tuple(reverse), s.span))
    undo(back)
    return [*setup.block, Loop(tuple(forward), s.span)], back.block, escapes
