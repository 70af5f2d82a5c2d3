"""Reverse mode of a checkpointed loop: three versions of its body, and snapshots from which steps are repeated."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tangentx import arrays
from tangentx.analysis.infer.opaque_calls import GENERATORS, Bound
from tangentx.analysis.infer.program import Instance
from tangentx.analysis.types.kinds import Arr, Kind, Obj
from tangentx.analysis.types.primitives import name_of
from tangentx.derive.checkpoint.states import State, state_of
from tangentx.derive.emit import SHADOW, VALUE, Emitter
from tangentx.derive.reverse import calls
from tangentx.derive.reverse.context import Reverse, Turn
from tangentx.derive.reverse.loops import falls_through, has_break, has_exit
from tangentx.derive.reverse.tape import at_once
from tangentx.errors import Span, UnsupportedSyntax
from tangentx.ir.nodes import (
    Append,
    Assign,
    Atom,
    Attr,
    Block,
    Call,
    Ext,
    For,
    Function,
    If,
    Index,
    Key,
    Lit,
    Make,
    Note,
    Op,
    Return,
    Statement,
    Var,
)
from tangentx.ir.opaque_ops import Attempt, Observed
from tangentx.ir.rewrite import map_blocks, rename
from tangentx.ir.upward_exposed import assigned_before, exposed
from tangentx.ir.walk import bound, reads, statements, writes

# The three versions of a checkpointed loop body: first run, repeated run, recorded run.
#
# Run again it shows nothing (prints, log lines), and draws the same random numbers: the states of the generators are
# part of each snapshot, and are what they were after the loop when the reverse sweep has left it.


class Rerun:
    """The forward sweep of one step, in its three forms, and the random generators that it draws from."""

    def __init__(self, r: Reverse, s: For, forward: Block, exits: str | None, carried: frozenset[str]) -> None:
        self.r = r
        self.span = s.span
        self.forward = forward
        self.carried = carried
        self.records = {*r.tapes, *([exits] if exits is not None else [])}
        self.generators = list(_Draws(r, s).found.values())
        self.now = r.frame.names.fresh("states") if self.generators else ""

    def plain(self) -> Block:
        """As it runs the first time: nothing is recorded."""
        return self._apart(self._changed(self.forward, records=False, shows=True))

    def again(self) -> Block:
        """As it is run again on the way to the step in hand."""
        return self._apart(self._changed(self.forward, records=False, shows=False))

    def recorded(self) -> Block:
        """As it is run again to be gone back over."""
        return self._changed(self.forward, records=True, shows=False)

    def _apart(self, block: Block) -> Block:
        """With temporaries of its own."""
        own = sorted(n for n in bound(block) if n.startswith("%") and n not in self.carried)
        return rename(block, dict(zip(own, (Emitter(self.span).temporary() for _ in own), strict=True)))

    def _changed(self, block: Block, records: bool, shows: bool) -> Block:
        out: list[Statement] = []
        for s in block:
            if not records and isinstance(s, Append) and isinstance(s.base, Var) and s.base.name in self.records:
                continue
            if not records and id(s) in self.r.primal:
                out += self.r.primal[id(s)]
            elif not shows and isinstance(s, Assign) and _shows(self.r.frame.kinds.get(s.target), s):
                out.append(Assign(s.target, Lit(None), s.span))
            else:
                inner = map_blocks(s, lambda b: self._changed(b, records, shows))
                out += [] if isinstance(inner, If) and not (inner.body or inner.orelse) else [inner]
        return tuple(out)

    def states(self, emit: Emitter) -> list[Atom]:
        """The states of the generators, for a snapshot."""
        return [emit.op(arrays.generator_states, *self.generators)] if self.generators else []

    def taken(self, emit: Emitter, snapshot: Var, place: int) -> list[Atom]:
        """Those states, from an item of a snapshot."""
        return [emit.item(snapshot, place)] if self.generators else []

    def reset(self, emit: Emitter, states: list[Atom]) -> None:
        """Gives the generators the states that a snapshot holds."""
        for each in states:
            emit.op(arrays.set_generators, each, *self.generators)

    def hold(self, emit: Emitter) -> None:
        """Before the reverse sweep of the loop: keeps the states that the generators have."""
        if self.generators:
            emit.assign(self.now, Op(arrays.generator_states, tuple(self.generators)))

    def release(self, emit: Emitter) -> None:
        """After it: gives them back."""
        if self.generators:
            emit.op(arrays.set_generators, Var(self.now), *self.generators)


def _shows(kind: Kind | None, s: Assign) -> bool:
    return isinstance(s.value, Op) and s.value.fn is operator.call and kind == Obj(None)


class _Draws:
    """The generators that a loop's body and what it calls draw from, as atoms of the function that the loop is in."""

    def __init__(self, r: Reverse, s: For) -> None:
        self.program = r.program
        self.loop = s
        self.found: dict[object, Atom] = {}
        function = r.frame.function
        for atom in self._of(r.instance, function, s.body, ()):
            if isinstance(atom, Ext):
                self.found[atom.path if atom.home is None else (atom.home, *atom.path)] = atom
            elif isinstance(atom, Var):
                self.found[atom.name] = atom

    def _of(self, instance: Instance, function: Function, block: Block, above: tuple[Instance, ...]) -> Iterator[Atom]:
        made = {s.target: s.value for s in statements(function.body) if isinstance(s, Assign)}
        outside = {p.name for p in function.params} | set(made) - bound(block) if not above else set()
        params = [p.name for p in function.params]
        for s in statements(block):
            value = s.value if isinstance(s, Assign) else None
            if isinstance(value, Op) and isinstance(value.fn, Attempt):
                raise _refused("`try`", s.span, "move it out of the loop")
            if isinstance(value, Op) and isinstance(value.fn, Observed):
                raise _refused("a call of code that may have side effects", s.span, "move the call out of the loop")
            if isinstance(value, Op) and value.fn is operator.call:
                drawn = self._drawn(instance, made, s, value, bool(above))
                if isinstance(drawn, Var) and drawn.name not in (params if above else outside):
                    raise _refused("a random generator that is made in it", s.span, "make it before the loop")
                if drawn is not None:
                    yield drawn
            if isinstance(value, Call):
                callee = calls.instance_of(self.program, value)
                inner = callee.link.function
                if inner is None or callee in above:
                    continue
                places = {p.name: a for p, a in zip(inner.params, value.args, strict=True)}
                for atom in self._of(callee, inner, inner.body, (*above, callee)):
                    given = places[atom.name] if isinstance(atom, Var) else atom
                    if isinstance(given, Var) and given.name not in (params if above else outside):
                        raise _refused("a random generator that is made in it", s.span, "make it before the loop")
                    yield given

    def _drawn(self, instance: Instance, made: dict[str, Any], s: Statement, value: Op, called: bool) -> Atom | None:
        """The generator that a call of unknown code draws from; None for one that only shows something."""
        assert isinstance(s, Assign)
        callee = value.args[0]
        kind = instance.kinds.get(callee.name) if isinstance(callee, Var) else None
        kind = self.program.external(callee) if isinstance(callee, Ext) else kind
        fn = kind.value if isinstance(kind, Obj) else None
        if instance.kinds[s.target] == Obj(None) and not _sets(fn):
            if called:
                raise _refused(f"`{name_of(fn)}` in a function that it calls", s.span, "print in the loop itself")
            return None
        if isinstance(fn, Bound) and issubclass(fn.owner, GENERATORS) and isinstance(callee, Var):
            attribute = made.get(callee.name)
            if isinstance(attribute, Attr) and isinstance(attribute.base, Var | Ext):
                return attribute.base
        if isinstance(callee, Ext) and isinstance(getattr(fn, "__self__", None), GENERATORS):
            return callee
        raise _refused("a call of code that may have side effects", s.span, "move the call out of the loop")


def _sets(fn: Any) -> bool:
    """Whether a function sets the state of a random generator."""
    return name_of(fn) in ("seed", "setstate", "set_state", "shuffle")


def _refused(what: str, span: Span, hint: str) -> UnsupportedSyntax:
    return UnsupportedSyntax(f"a checkpointed loop contains {what}", span, hint)


# Reverse mode of a checkpointed loop: steps are not recorded, but repeated from snapshots.
#
# The forward sweep takes snapshots as it goes, at the steps that `arrays.next_snapshot` says. In the reverse sweep
# each step, last first, is run again from the last snapshot (which is kept once more, and others on the way, if steps
# lie between the two), recording, and gone back over at once: so the tapes hold one step at a time.


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
