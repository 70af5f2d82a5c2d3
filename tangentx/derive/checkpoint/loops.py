"""Reverse mode of a checkpointed loop: steps are not recorded, but repeated from snapshots.

The forward sweep takes snapshots as it goes, at the steps that `arrays.next_snapshot` says. In the reverse sweep each
step, last first, is run again from the last snapshot (which is kept once more, and others on the way, if steps lie
between the two), recording, and gone back over at once: so the tapes hold one step at a time.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence
from dataclasses import dataclass

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr
from tangentx.derive.checkpoint.reruns import Rerun
from tangentx.derive.checkpoint.states import State, state_of
from tangentx.derive.emit import SHADOW, VALUE, Emitter
from tangentx.derive.reverse.context import Reverse, Turn
from tangentx.derive.reverse.loops import falls_through, has_break, has_exit
from tangentx.derive.reverse.single_records import at_once
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import Atom, Block, For, If, Index, Key, Lit, Make, Note, Op, Return, Statement, Var
from tangentx.ir.rewrite import rename
from tangentx.ir.upward_exposed import assigned_before, exposed
from tangentx.ir.walk import reads, statements, writes


@dataclass(eq=False)
class Marks:
    """The variables that drive the schedule: the list of snapshots, the step of the next one, how many there may be."""

    kept: str
    place: str
    limit: Atom


def checkpointed(r: Reverse, s: For) -> tuple[list[Statement], list[Statement], int]:
    """Both sweeps of the loop, and the exit in it that leaves it: none."""
    _demand_no_return(s)
    before, back = Emitter(s.span), Emitter(s.span)
    restore = r.record(before, s.target)
    state, private = _state(r, s)
    turn = Turn(r.frame.names.fresh("exits") if has_exit(s.body) else None)
    r.loops.append(turn)
    tapes = len(r.tapes)
    forward, reverse, _ = r.block(s.body)
    r.loops.pop()
    carried = frozenset(spot.name for spot in state.bound)
    rerun = Rerun(r, s, tuple(forward), turn.exits, carried)
    ran = r.frame.names.fresh("ran") if has_break(s.body) else None
    kept, place = (r.frame.names.fresh(name) for name in ("kept", "place"))
    marks = Marks(kept, place, _limit(before, s))
    before.assign(marks.kept, Make(list, ()))
    before.assign(marks.place, s.start)
    if ran is not None:
        before.assign(ran, s.start)
    step = _snapshot(s, s.target, s.stop, marks, state, rerun)
    if ran is not None:
        step.assign(ran, Op(operator.add, (Var(s.target), Lit(1))))
    before.add(For(s.target, s.start, s.stop, s.step, False, (*step.block, *rerun.plain()), s.span))
    taken = r.once_more(before, marks.kept)(back)
    stop = s.stop if ran is None else r.once_more(before, ran)(back)
    back.assign(marks.kept, taken)
    marks = Marks(kept, place, _limit(back, s))
    rerun.hold(back)
    body = _back(r, s, marks, state, rerun, turn)
    _clear(r, body, private)
    block = at_once(r, (*body.block, *reverse), tapes)
    back.add(For(s.target, s.start, stop, s.step, True, block, s.span))
    rerun.release(back)
    restore(back)
    return before.block, back.block, 0


def _demand_no_return(s: For) -> None:
    for each in statements(s.body):
        if isinstance(each, Return):
            hint = "leave it with `break`, and return after it"
            raise UnsupportedSyntax("a checkpointed loop contains `return`", each.span, hint)


def _limit(emit: Emitter, s: For) -> Atom:
    """How many snapshots there may be at a time."""
    assert s.snapshots is not None
    return s.snapshots if s.snapshots != Lit(None) else emit.op(arrays.enough_snapshots, s.start, s.stop)


def _state(r: Reverse, s: For) -> tuple[State, list[str]]:
    """What one step hands to the next; and the names that live within one step.

    Those are bound before they are read, and read nowhere but in the loop.
    """
    bound = dict.fromkeys(name for each in statements(s.body) for name in writes(each))
    inside = list(statements(s.body))
    shown = exposed(s.body)
    params = {p.name for p in r.frame.function.params}
    elsewhere = params | {name for each in _others(r.frame.function.body, s) for name in (*reads(each), *writes(each))}
    private = [n for n in bound if n not in shown and n not in elsewhere]
    carried = [n for n in bound if n not in private and n not in r.again.names]
    used = dict.fromkeys(name for each in inside for name in sorted(reads(each)))
    names = [*carried, *(n for n in used if n not in bound and n != s.target)]
    for name in carried:
        r.unbound[name] = None
        if r.how(name) == SHADOW:
            r.unbound[r.frame.other(name)] = None
    sure = assigned_before(r.frame.function, s)
    return state_of(r, names, frozenset(carried), sure, s.body, s.span), private


def _others(body: Block, s: For) -> list[Statement]:
    """The statements of a function that do not stand in the loop."""
    inside = {id(each) for each in statements(s.body)}
    return [each for each in statements(body) if id(each) not in inside]


def _snapshot(s: For, step: str, stop: Atom | None, marks: Marks, state: State, rerun: Rerun) -> Emitter:
    """``if step == place: kept.append(...)``, and where the next one is taken: up to `stop`, or the step in hand."""
    emit, inner = Emitter(s.span), Emitter(s.span)
    held = inner.let(Make(tuple, (Var(step), *state.kept(inner), *rerun.states(inner))))
    inner.append(marks.kept, held)
    free = inner.op(operator.sub, marks.limit, inner.op(builtins.len, Var(marks.kept)))
    stop = inner.op(operator.add, Var(s.target), Lit(1)) if stop is None else stop
    inner.assign(marks.place, Op(arrays.next_snapshot, (Var(step), stop, free)))
    emit.add(If(emit.op(operator.eq, Var(step), Var(marks.place)), tuple(inner.block), (), s.span))
    return emit


def _back(r: Reverse, s: For, marks: Marks, state: State, rerun: Rerun, turn: Turn) -> Emitter:
    """Of the reverse sweep of a step what comes before it is gone back over: the step is run again, recording."""
    emit = Emitter(s.span)
    emit.add(Note(f"line {s.span.line}: {s.span.text.strip()}", s.span))
    found = state.cotangents(emit)
    top = emit.pop(marks.kept)
    first = emit.assign(r.frame.names.fresh("first"), Index(top, Key((Lit(0),))))
    taken = state.taken(emit, top, 1)
    states = rerun.taken(emit, top, 1 + len(taken))
    emit.assign(marks.place, first)
    ends = state.put_back(emit, taken)
    rerun.reset(emit, states)
    step = r.frame.names.fresh("earlier")
    inner = _snapshot(s, step, None, marks, state, rerun)
    again = rename(rerun.again(), {s.target: step})
    emit.add(For(step, first, Var(s.target), s.step, False, (*inner.block, *again), s.span))
    recorded = rerun.recorded()
    if turn.exits is None:
        emit.add(*recorded)
    else:
        emit.assign(turn.exits, Make(list, ()))
        tail = Emitter(s.span)
        if falls_through(s.body):
            tail.append(turn.exits, Lit(r.last))
        emit.add(For(emit.temporary(), Lit(0), Lit(1), Lit(1), False, (*recorded, *tail.block), s.span))
        emit.assign(f"{turn.exits}_code", emit.pop(turn.exits))
    state.hand_over(emit, found, ends)
    return emit


def _clear(r: Reverse, emit: Emitter, private: Sequence[str]) -> None:
    """Zero cotangents for what lives within one step, of the shapes that it has in this one."""
    for name in private:
        kind = r.frame.kinds[name]
        if r.how(name) == VALUE and isinstance(kind, Arr) and name not in r.local and name not in r.again.names:
            emit.assign(r.frame.other(name), r.frame.zero_value(Var(name), kind))
