"""Reverse mode by the general rule.

For each statement the forward sweep records what it overwrites, and the reverse sweep restores the state before the
statement, so that every name and every storage has its old content when the statement's own cotangents are given.
Nothing is evaluated again, nothing is left out: what nobody needs is the business of later passes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tangentx import arrays
from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import Arr, Kind, Num, is_inexact
from tangentx.derive.checkpoint.loops import checkpointed
from tangentx.derive.emit import NONE, SHADOW, VALUE, Emitter, Frame, mode
from tangentx.derive.reverse.accumulate import give
from tangentx.derive.reverse.assemble import Group, guarded, headed
from tangentx.derive.reverse.bindings import RULES
from tangentx.derive.reverse.block_locals import block_locals
from tangentx.derive.reverse.in_place_results import filling
from tangentx.derive.reverse.loops import Turn, for_, loop, nothing
from tangentx.derive.reverse.rematerialise import Again, plan
from tangentx.derive.reverse.tape import back_to_zero, form, keep
from tangentx.derive.reverse.tuple_results import Parts, seeds_of
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
    Note,
    Raise,
    Return,
    Statement,
    Twin,
    Var,
)
from tangentx.ir.walk import statements

Sweeps = tuple[list[Statement], list[Statement]]


@dataclass(eq=False)
class Reverse:
    """The two sweeps of one instance."""

    program: Program
    instance: Instance
    derive: Any
    paired: bool = False
    frame: Frame = field(init=False)
    again: Again = field(default_factory=Again)
    parts: Parts = field(default_factory=Parts)
    seeds: tuple[str, ...] = ()
    tapes: list[str] = field(default_factory=list)
    unbound: dict[str, None] = field(default_factory=dict)
    loops: list[Turn] = field(default_factory=list)
    exits: int = 0
    last: int = 0
    code: str | None = None
    seed: str = "ans_bar"
    named: str = ""
    local: frozenset[str] = frozenset()
    primal: dict[int, tuple[Statement, ...]] = field(default_factory=dict)
    filling: dict[int, Atom] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.frame = Frame(self.program, self.instance, "_bar")
        body = self.frame.function.body
        if self.derive.proves("trips"):
            self.local = block_locals(body, [p.name for p in self.frame.function.params])
        if self.derive.proves("again"):
            self.again = plan(self.frame, self.paired, self.derive.proves)
        if self.derive.proves("fits"):
            self.filling = filling(body)
        self.last = sum(isinstance(s, Break | Continue | Return) for s in statements(body)) + 1
        returns = [s for s in statements(body) if isinstance(s, Return)]
        if len(returns) > 1 or not (body and body[-1] in returns):
            self.code = self.frame.names.fresh("exit_code")
        self.parts = self.derive.results.parts.get(self.instance.link, Parts())
        self.seeds = seeds_of(self)
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

    def shadows(self) -> dict[str, str]:
        """The names of the user's storages by those of their shadows."""
        pairs = ((n, k) for n, k in self.frame.kinds.items() if not n.startswith("%") and mode(k) == SHADOW)
        return {self.frame.other(name): name for name, _ in pairs}

    def tape(self, name: str) -> str:
        """A new tape, named after what it records."""
        tape = self.frame.names.fresh("tape" if name.startswith("%") else f"{name}_tape")
        self.tapes.append(tape)
        return tape

    def other(self, atom: Atom) -> Var:
        """The cotangent variable or shadow of a name."""
        assert isinstance(atom, Var)
        return Var(self.frame.other(atom.name))

    def how(self, name: str) -> str | None:
        """The mode of a name; a result that is taken apart has none of its own."""
        return None if name in self.parts else mode(self.frame.kinds[name])

    def shadow(self, emit: Emitter, atom: Atom) -> Atom:
        """The shadow of a storage; what has none (a constant, inactive data) gets one that nobody reads."""
        if self.frame.mode(atom) == SHADOW:
            return self.other(atom)
        kind = self.frame.kind(atom)
        if isinstance(kind, Arr) and not is_inexact(kind):  # whole numbers, where reals stand otherwise
            return emit.op(arrays.real_zero, atom)
        return atom if atom == NONE else emit.zero(atom, kind)

    def is_alike(self, made: Kind, given: Kind) -> bool:
        """Whether both are arrays of one rank and dtype for certain."""
        if not (isinstance(made, Arr) and isinstance(given, Arr) and made.sure and given.sure):
            return False
        if made.dtypes or given.dtypes:
            return False
        exact = self.derive.exact and self.derive.proves("fits")
        return exact and made.dtype == given.dtype and made.rank == given.rank and given.rank is not None

    def give(self, emit: Emitter, atom: Atom, cotangent: Atom, fits: bool = False) -> None:
        """Adds a cotangent to that of an operand; `fits`: it is known to have the operand's shape and dtype."""
        if self.frame.mode(atom) is not None:
            give(emit, self.frame.kind(atom), self.other(atom), atom, cotangent, fits)

    def record(self, forward: Emitter, name: str) -> Callable[[Emitter], None]:
        """Records what `name` (and its shadow) is bound to, before it is bound anew; returns what restores it."""
        if name not in self.frame.rebound:
            return nothing
        kind = self.frame.kinds[name]
        how = self.how(name)
        if name in self.local:
            return nothing
        if name in self.again.names:
            return back_to_zero(self, name) if how == VALUE else nothing
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

    def block(self, block: Block) -> tuple[list[Statement], list[Statement], int]:
        """Both sweeps of a block, and the number of the last exit in it that leaves it (0 where none does)."""
        forward: list[Statement] = []
        kept: list[Group] = []
        groups: list[Group] = []
        left = 0
        for s in block:
            f, r, escape = self.statement(s)
            forward += f
            if isinstance(s, Assign):
                record, restore = keep(self, s)
                forward += record
                kept.append((left, restore))
            groups.append((left, r))
            left = max(left, escape)
        if any(isinstance(s, Raise) for s in block):  # what leads to `raise` alone is never gone back
            kept, groups = ([(guard, r if guard != left else []) for guard, r in each] for each in (kept, groups))
        return forward, guarded([*kept, *headed(block, groups)], self._code()), left

    def once_more(self, forward: Emitter, name: str) -> Callable[[Emitter], Atom]:
        """Records what only the reverse of the statement in hand asks for, bound just now; returns what reads it."""
        if not self.loops:
            return lambda emit: Var(name)
        tape = self.tape(name)
        forward.append(tape, Var(name))
        return lambda emit: emit.pop(tape)

    def _code(self) -> str:
        """The name that holds the exit of the trip in hand, or of the function."""
        turn = self.loops[-1].exits if self.loops else None
        if turn is not None:
            return f"{turn}_code"
        return self.code or "%no_exit"

    def statement(self, s: Statement) -> tuple[list[Statement], list[Statement], int]:
        """Both sweeps of one statement, and the exit that leaves it."""
        forward, reverse, escape = self._sweeps_of(s)
        early = Emitter(s.span)
        form(self, early, self.again.early.get(id(s), ()))
        return forward, [*early.block, *reverse], escape

    def _sweeps_of(self, s: Statement) -> tuple[list[Statement], list[Statement], int]:
        match s:
            case If():
                return self._if(s)
            case For(snapshots=None):
                return for_(self, s)
            case For():
                return checkpointed(self, s)
            case Loop():
                return loop(self, s)
            case Break() | Continue() | Return():
                return self._exit(s)
            case Raise():
                return [s], [], 0
            case Note():
                return [], [], 0
        forward, reverse = Emitter(s.span), Emitter(s.span)
        RULES[type(s)](self, s, forward, reverse)
        return forward.block, reverse.block, 0

    def _if(self, s: If) -> tuple[list[Statement], list[Statement], int]:
        f1, r1, e1 = self.block(s.body)
        f2, r2, e2 = self.block(s.orelse)
        name = object()
        reverse: list[Statement] = [If(s.test, tuple(r1), tuple(r2), s.span, Twin(name, True))] if r1 or r2 else []
        return [If(s.test, tuple(f1), tuple(f2), s.span, Twin(name, False))], reverse, max(e1, e2)

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
                self.give(
                    reverse, s.value, Var(self.seed), self.is_alike(self.instance.result, self.frame.kind(s.value))
                )
        return [*forward.block, s], reverse.block, number
