"""The reverse-mode walk: applies the general rule to each statement, and assembles the blocks."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from tangentx import arrays
from tangentx.analysis.types.kinds import Num
from tangentx.derive.checkpoint.loops import checkpointed
from tangentx.derive.emit import VALUE, Emitter, Frame, mode
from tangentx.derive.reverse.bindings import RULES
from tangentx.derive.reverse.context import Reverse
from tangentx.derive.reverse.item_cotangents import seeds_of
from tangentx.derive.reverse.lists import fresh_items, stacks, summed_lists
from tangentx.derive.reverse.loops import for_, loop
from tangentx.derive.reverse.operand_lists import operand_lists, read_for
from tangentx.derive.reverse.rematerialise import plan
from tangentx.derive.reverse.shadows import filling, set_apart
from tangentx.derive.reverse.tape import block_locals, form, keep
from tangentx.derive.reverse.tuple_results import Parts
from tangentx.ir.nodes import (
    Assign,
    Block,
    Break,
    Continue,
    For,
    If,
    Lit,
    Loop,
    Make,
    Note,
    Op,
    Raise,
    Return,
    Statement,
    Twin,
    Var,
)
from tangentx.ir.walk import statements

# Assembles the reverse of a block: its statement groups, last first, with line comments.

Group: TypeAlias = tuple[int, list[Statement]]
"""Statements of the reverse sweep, and the number of the last exit before what they reverse (0: none)."""


def guarded(groups: Iterable[Group], code: str) -> list[Statement]:
    """The groups in order, each only where the passage went beyond the exits before it; `code` names its own exit."""
    reverse: list[Statement] = []
    for guard, several in itertools.groupby((g for g in groups if g[1]), key=operator.itemgetter(0)):
        inner = [s for _, group in several for s in group]
        if guard:
            emit = Emitter(inner[0].span)
            passed = emit.op(operator.gt, Var(code), Lit(guard))
            inner = [*emit.block, If(passed, tuple(inner), (), inner[0].span)]
        reverse += inner
    return reverse


def headed(block: Block, groups: list[Group]) -> Iterator[Group]:
    """The groups, last first, with a comment above those of each line; a line was taken apart into several."""
    above = None
    for s, (guard, r) in zip(reversed(block), reversed(groups), strict=True):
        line = None if isinstance(s, If | For | Loop) else (s.span.file, s.span.line)
        if r and line is not None and line != above:
            r = [Note(f"line {s.span.line}: {s.span.text.strip()}", s.span), *r]
        above = line if r else above
        yield guard, r


# The reverse-mode walk: applies the general rule to each statement.
#
# For each statement the forward sweep records what it overwrites, and the reverse sweep restores the state before the
# statement, so that every name and every storage has its old content when the statement's own cotangents are given.
# Nothing is evaluated again, nothing is left out: what nobody needs is the business of later passes.

Sweeps = tuple[list[Statement], list[Statement]]


@dataclass(eq=False)
class Walker(Reverse):
    """The two sweeps of one instance, statement by statement."""

    def __post_init__(self) -> None:
        self.frame = Frame(self.program, self.instance, "_bar")
        body = self.frame.function.body
        if self.derive.proves("apart"):
            set_apart(self.frame)
        self.parts = self.derive.results.parts.get(self.instance.link, Parts())
        if self.derive.proves("operands"):
            self.parts = replace(self.parts, operands=operand_lists(self.frame), summed=summed_lists(self.frame))
        if self.derive.proves("present"):
            self.fresh = fresh_items(body)
        if self.derive.proves("stacks"):
            self.stacks = stacks(self.frame)
        if self.derive.proves("trips"):
            self.local = block_locals(body, [p.name for p in self.frame.function.params])
        if self.derive.proves("again"):
            read, fits = read_for(self.parts.operands), self.derive.fits if self.derive.exact else frozenset()
            self.again = plan(self.frame, self.paired, self.derive.proves, read, fits)
        if self.derive.proves("fits"):
            self.filling = filling(body)
        self.last = sum(isinstance(s, Break | Continue | Return) for s in statements(body)) + 1
        returns = [s for s in statements(body) if isinstance(s, Return)]
        if len(returns) > 1 or not (body and body[-1] in returns):
            self.code = self.frame.names.fresh("exit_code")
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
        begin = Emitter(self.frame.function.span)
        for name, stack in self.stacks.items():
            left = Make(list, ()) if stack.is_emptied else Op(arrays.zero, (Var(name),))
            begin.assign(self.frame.other(name), left)
        return forward, [*begin.block, *reverse]

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
