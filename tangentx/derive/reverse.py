"""Reverse mode by the general rule.

For each statement the forward sweep records what it overwrites, and the reverse sweep restores the state before the
statement, so that every name and every storage has its old content when the statement's own cotangents are given.
Nothing is evaluated again, nothing is left out: what nobody needs is the business of later passes.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tangentx.analysis.kinds import Arr, Num
from tangentx.analysis.program import Instance, Program
from tangentx.derive.emit import NONE, SHADOW, VALUE, Emitter, Frame, mode
from tangentx.derive.gifts import give
from tangentx.ir.nodes import (
    UNBOUND,
    Accumulate,
    Append,
    Assign,
    Atom,
    Block,
    Break,
    Continue,
    Delete,
    Expr,
    Ext,
    For,
    If,
    Lit,
    Loop,
    Note,
    Op,
    Raise,
    Return,
    Statement,
    Store,
    Var,
)
from tangentx.derive.trips import CHEAP, bound_once, trip_locals
from tangentx.ir.walk import statements

Sweeps = tuple[list[Statement], list[Statement]]


@dataclass(eq=False)
class Turn:
    """A loop in hand: the list of its exits, one entry a trip."""

    exits: str | None
    restores: list[Statement] = field(default_factory=list)
    stable: set[str] = field(default_factory=set)


@dataclass(eq=False)
class Reverse:
    """The two sweeps of one instance."""

    program: Program
    instance: Instance
    derive: Any
    frame: Frame = field(init=False)
    tapes: list[str] = field(default_factory=list)
    unbound: dict[str, None] = field(default_factory=dict)
    loops: list[Turn] = field(default_factory=list)
    exits: int = 0
    last: int = 0
    code: str | None = None
    seed: str = "ans_bar"
    named: str = ""
    local: frozenset[str] = frozenset()
    once: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.frame = Frame(self.program, self.instance, "_bar")
        body = self.frame.function.body
        self.local = trip_locals(body) if self.derive.proves("trips") else frozenset()
        self.once = bound_once(body, [p.name for p in self.frame.function.params])
        self.last = sum(isinstance(s, Break | Continue | Return) for s in statements(body)) + 1
        returns = [s for s in statements(body) if isinstance(s, Return)]
        if len(returns) > 1 or not (body and body[-1] in returns):
            self.code = self.frame.names.fresh("exit_code")
        self.named = self._returned_name(body)
        self.seed = self.frame.other(self.named) if self.named else self.frame.names.fresh("ans_bar")

    def _returned_name(self, body: Block) -> str:
        """The user's name of a number that is returned in one place, at the end: its cotangent is the seed."""
        last = body[-1] if body and self.code is None else None
        if isinstance(last, Return) and isinstance(last.value, Var) and not last.value.name.startswith("%"):
            name = last.value.name
            if isinstance(self.frame.kinds[name], Num) and mode(self.frame.kinds[name]) == VALUE:
                return name
        return ""

    def sweeps(self) -> Sweeps:
        """Forward and reverse sweep of the whole body; the forward one keeps its returns."""
        forward, reverse, _ = self.block(self.frame.function.body)
        return forward, reverse

    def tape(self, name: str) -> str:
        """A new tape, named after what it records."""
        tape = self.frame.names.fresh("tape" if name.startswith("%") else f"{name}_tape")
        self.tapes.append(tape)
        return tape

    def other(self, atom: Atom) -> Var:
        """The cotangent variable or shadow of a name."""
        assert isinstance(atom, Var)
        return Var(self.frame.other(atom.name))

    def shadow(self, emit: Emitter, atom: Atom) -> Atom:
        """The shadow of a storage; what has none (a constant, inactive data) gets one that nobody reads."""
        if self.frame.mode(atom) == SHADOW:
            return self.other(atom)
        from tangentx import arrays

        return emit.op(arrays.zero, atom)

    def give(self, emit: Emitter, atom: Atom, cotangent: Atom) -> None:
        """Adds a cotangent to that of an operand."""
        if self.frame.mode(atom) is not None:
            give(emit, self.frame.kind(atom), self.other(atom), atom, cotangent)

    # -- records -----------------------------------------------------------------------------------------------

    def record(self, forward: Emitter, name: str) -> Callable[[Emitter], None]:
        """Records what `name` (and its shadow) is bound to, before it is bound anew; returns what restores it."""
        if name not in self.frame.rebound:
            return lambda emit: None
        kind = self.frame.kinds[name]
        how = mode(kind)
        if name in self.local:
            return _nothing
        tape = self.tape(name)
        self.unbound[name] = None
        forward.append(tape, Var(name))
        shadow_tape: str | None = None
        other = self.frame.other(name) if how else ""
        if how == SHADOW:
            shadow_tape = self.tape(other)
            self.unbound[other] = None
            forward.append(shadow_tape, Var(other))

        def restore(emit: Emitter) -> None:
            emit.assign(name, emit.pop(tape))
            if shadow_tape is not None:
                emit.assign(other, emit.pop(shadow_tape))
            elif how == VALUE:
                emit.assign(other, self.frame.zero(emit, Var(name), kind))

        return restore

    def keep(self, forward: Emitter, s: Assign) -> None:
        """Records a name that lives within the trip in hand after it is bound; its reverse begins with restoring it.

        What can be evaluated again there, because nothing it reads has changed, is not recorded.
        """
        name = s.target
        if name not in self.local or name not in self.frame.rebound:
            return
        how = mode(self.frame.kinds[name])
        emit = Emitter(forward.span)
        if self.derive.proves("again") and how is None and self._is_stable(s.value):
            emit.assign(name, s.value)
            self.loops[-1].stable.add(name)
        else:
            for each in [name, self.frame.other(name)] if how == SHADOW else [name]:
                tape = self.tape(each)
                forward.append(tape, Var(each))
                emit.assign(each, emit.pop(tape))
        if how == VALUE:
            emit.assign(self.frame.other(name), self.frame.zero(emit, Var(name), self.frame.kinds[name]))
        self.loops[-1].restores += emit.block

    def _is_stable(self, value: Expr) -> bool:
        """Whether an expression is cheap, and all it reads is as it was where the reverse of the trip begins."""
        if not isinstance(value, Op) or value.kwargs or value.fn not in CHEAP:
            return False
        return all(self._is_fixed(atom, value.fn is builtins.len) for atom in value.args)

    def _is_fixed(self, atom: Atom, length: bool) -> bool:
        """Whether an atom is a number (or an array of whose length only is asked) that the loops in hand do not change."""
        if isinstance(atom, Ext):
            return False
        kind = self.frame.kind(atom)
        if not (isinstance(kind, Num) or (length and isinstance(kind, Arr) and not kind.loose)):
            return False
        if isinstance(atom, Lit) or atom.name not in self.frame.rebound:
            return True
        return any(atom.name in turn.stable for turn in self.loops)

    # -- blocks and exits --------------------------------------------------------------------------------------

    def block(self, block: Block) -> tuple[list[Statement], list[Statement], int]:
        """Both sweeps of a block, and the number of the last exit in it that leaves it (0 where none does)."""
        forward: list[Statement] = []
        groups: list[tuple[int, list[Statement]]] = []
        left = 0
        for s in block:
            f, r, escape = self.statement(s)
            forward += f
            groups.append((left, r))
            left = max(left, escape)
        reverse: list[Statement] = []
        code = self._code()
        for i in range(len(groups) - 1, -1, -1):
            guard, r = groups[i]
            if not r:
                continue
            reverse += _heading(block[i], block[i + 1] if i + 1 < len(block) else None)
            if guard:
                emit = Emitter(block[i].span)
                passed = emit.op(operator.gt, Var(code), Lit(guard))
                reverse += [*emit.block, If(passed, tuple(r), (), block[i].span)]
            else:
                reverse += r
        return forward, reverse, left

    def _code(self) -> str:
        """The name that holds the exit of the trip in hand, or of the function."""
        turn = self.loops[-1].exits if self.loops else None
        if turn is not None:
            return f"{turn}_code"
        return self.code or "%no_exit"

    def statement(self, s: Statement) -> tuple[list[Statement], list[Statement], int]:
        """Both sweeps of one statement, and the exit that leaves it."""
        match s:
            case If():
                return self._if(s)
            case For():
                return self._for(s)
            case Loop():
                return self._loop(s)
            case Break() | Continue() | Return():
                return self._exit(s)
            case Raise():
                return [s], [], 0
            case Note():
                return [], [], 0
        forward, reverse = Emitter(s.span), Emitter(s.span)
        from tangentx.derive import statements as rules

        rules.RULES[type(s)](self, s, forward, reverse)
        if isinstance(s, Assign):
            self.keep(forward, s)
        return forward.block, reverse.block, 0

    def _if(self, s: If) -> tuple[list[Statement], list[Statement], int]:
        f1, r1, e1 = self.block(s.body)
        f2, r2, e2 = self.block(s.orelse)
        reverse: list[Statement] = [If(s.test, tuple(r1), tuple(r2), s.span)] if r1 or r2 else []
        return [If(s.test, tuple(f1), tuple(f2), s.span)], reverse, max(e1, e2)

    def _exit(self, s: Break | Continue | Return) -> tuple[list[Statement], list[Statement], int]:
        self.exits += 1
        number = self.exits
        forward, reverse = Emitter(s.span), Emitter(s.span)
        turns = self.loops if isinstance(s, Return) else self.loops[-1:]
        for turn in reversed(turns):
            assert turn.exits is not None
            forward.append(turn.exits, Lit(number))
        if isinstance(s, Return):
            if self.code is not None:
                forward.assign(self.code, Lit(number))
            if mode(self.instance.result) == VALUE and not self.named:
                self.give(reverse, s.value, Var(self.seed))
        return [*forward.block, s], reverse.block, number

    # -- loops -------------------------------------------------------------------------------------------------

    def _turn(self, s: For | Loop) -> tuple[Emitter, Callable[[Emitter], None], list[Statement], list[Statement], int]:
        """The body of a loop: (set-up, its undoing, forward body, reverse body, exits that leave the loop)."""
        own = isinstance(s, Loop) or _has_exit(s.body)
        setup = Emitter(s.span)
        undo: Callable[[Emitter], None] = _nothing
        turn = Turn(None)
        if own:
            name = self.frame.names.fresh("exits")
            turn.exits = name
            if self.loops:
                tape = self.tape(name)
                self.unbound[name] = None
                setup.append(tape, Var(name))
                undo = _restorer(name, tape)
            from tangentx.ir.nodes import Make

            setup.assign(name, Make(list, ()))
        if isinstance(s, For) and s.target in self.once:
            turn.stable.add(s.target)
        self.loops.append(turn)
        forward, reverse, left = self.block(s.body)
        self.loops.pop()
        if turn.exits is not None:
            tail = Emitter(s.span)
            if _falls_through(s.body):
                tail.append(turn.exits, Lit(self.last))
            forward = [*forward, *tail.block]
            head = Emitter(s.span)
            head.assign(f"{turn.exits}_code", head.pop(turn.exits))
            reverse = [*head.block, *reverse]
        reverse = [*turn.restores, *reverse]
        escapes = _returns(s.body, left)
        return setup, undo, forward, reverse, escapes

    def _for(self, s: For) -> tuple[list[Statement], list[Statement], int]:
        before = Emitter(s.span)
        restore = self.record(before, s.target)
        setup, undo, forward, reverse, escapes = self._turn(s)
        back = Emitter(s.span)
        start, stop = s.start, s.stop
        exits = self._exits_of(setup)
        if exits is not None:
            start, stop = _bounds_of_trips(back, s, Var(exits))
        back.add(For(s.target, start, stop, s.step, not s.backward, tuple(reverse), s.span))
        undo(back)
        restore(back)
        loop = For(s.target, s.start, s.stop, s.step, s.backward, tuple(forward), s.span)
        return [*before.block, *setup.block, loop], back.block, escapes

    def _exits_of(self, setup: Emitter) -> str | None:
        last = setup.block[-1] if setup.block else None
        return last.target if isinstance(last, Assign) else None

    def _loop(self, s: Loop) -> tuple[list[Statement], list[Statement], int]:
        setup, undo, forward, reverse, escapes = self._turn(s)
        back = Emitter(s.span)
        exits = self._exits_of(setup)
        assert exits is not None
        trips = back.op(builtins.len, Var(exits))
        back.add(For(back.temporary(), Lit(0), trips, Lit(1), False, tuple(reverse), s.span))
        undo(back)
        return [*setup.block, Loop(tuple(forward), s.span)], back.block, escapes


def _heading(s: Statement, after: Statement | None) -> list[Statement]:
    """The comment above the reverse of a line of the user's; one for all that the line was taken apart into."""
    if isinstance(s, If | For | Loop) or (after is not None and _same_line(s, after)):
        return []
    return [Note(f"line {s.span.line}: {s.span.text.strip()}", s.span)]


def _same_line(s: Statement, after: Statement) -> bool:
    plain = not isinstance(after, If | For | Loop)
    return plain and (s.span.file, s.span.line) == (after.span.file, after.span.line)


def _nothing(emit: Emitter) -> None:
    return None


def _restorer(name: str, tape: str) -> Callable[[Emitter], None]:
    def restore(emit: Emitter) -> None:
        emit.assign(name, emit.pop(tape))

    return restore


def _bounds_of_trips(emit: Emitter, s: For, exits: Atom) -> tuple[Atom, Atom]:
    """Start and stop of the range over the trips that were made."""
    trips = emit.op(builtins.len, exits)
    if not s.backward:
        return s.start, emit.op(operator.add, s.start, emit.op(operator.mul, trips, s.step))
    every = emit.op(builtins.len, emit.op(range, s.start, s.stop, s.step))
    skipped = emit.op(operator.sub, every, trips)
    start = emit.op(operator.add, s.start, emit.op(operator.mul, skipped, s.step))
    return start, emit.op(operator.add, s.start, emit.op(operator.mul, every, s.step))


def _has_exit(body: Block, outer: bool = True) -> bool:
    """Whether a trip of the loop with this body may end before the end of the body."""
    for s in body:
        if isinstance(s, Return) or (outer and isinstance(s, Break | Continue)):
            return True
        if isinstance(s, If) and (_has_exit(s.body, outer) or _has_exit(s.orelse, outer)):
            return True
        if isinstance(s, For | Loop) and _has_exit(s.body, False):
            return True
    return False


def _returns(body: Block, left: int) -> int:
    """The exits in a loop's body that leave the loop too: those of its returns."""
    return left if any(isinstance(s, Return) for s in statements(body)) else 0


def _falls_through(body: Block) -> bool:
    """Whether the end of the block can be reached."""
    if not body:
        return True
    match body[-1]:
        case Break() | Continue() | Return() | Raise():
            return False
        case If(body=a, orelse=b):
            return _falls_through(a) or _falls_through(b)
        case Loop(body=inner):
            return _breaks(inner)
    return True


def _breaks(body: Block) -> bool:
    for s in body:
        if isinstance(s, Break) or (isinstance(s, If) and (_breaks(s.body) or _breaks(s.orelse))):
            return True
    return False


__all__ = ["NONE", "UNBOUND", "Accumulate", "Append", "Delete", "Op", "Reverse", "Store"]
