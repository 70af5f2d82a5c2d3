"""Strong liveness of a whole program: the statements that contribute to what callers see.

Backward over the structured text, over names (one web each) and over the content of the regions that anything writes,
with one summary a function for all its calls. Everything starts as not needed and only grows, so when a round changes
nothing, what was found needed needs nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Arr, Region
from tangentx.analysis.types.primitives import has_effect
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Block,
    Break,
    Call,
    Continue,
    Delete,
    For,
    If,
    Loop,
    Make,
    Op,
    Pop,
    Raise,
    Return,
    Statement,
    Store,
)
from tangentx.ir.walk import atoms, key_atoms, statement_atoms
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.summaries import Live, Summary, summaries
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.facts.uses import Reading, reading

LIMIT_DEPTH = 20  # callees that are walked inside one another, at their calls


@dataclass(eq=False)
class Turn:
    """A loop in hand: what is live after it and at its head."""

    id: int
    after: Live
    head: Live


class Liveness:
    """The needed statements (`needs`), slots of tuples (`slots`, `wholes`) and parameters of a program."""

    def __init__(self, program: Program, units: Sequence[Unit]) -> None:
        self.program = program
        self.summaries = summaries(program, units)
        self.written: Live = set().union(*(summary.writes for summary in self.summaries.values()))
        seen = [unit.kinds.get(p.name, BOTTOM) for unit in memory.entries(units) for p in unit.function.params]
        outside = [kind for _, kind in program.externals.values()]
        self.visible: Live = self.written.intersection(memory.reach([*seen, *outside]))
        self.slots: set[tuple[Region, int]] = set()
        self.wholes: Live = set(memory.reach(outside, arrays_too=False))  # what is put in there is seen, every item
        self.loops: list[Turn] = []
        self.found: dict[int, tuple[Live, Reading]] = {}
        every = list(self.summaries.values())
        self.at, self.depth = every[0], 0
        while not all(map(self._settled, every)):
            for summary in every:
                self._settle(summary)
            every.reverse()  # along chains of calls that are longer than what is walked at once

    def needs(self, unit: Unit, s: Statement) -> bool:
        """Whether the statement of the function contributes."""
        return id(s) in self.summaries[unit.link].needed

    def needs_slot(self, node: Region, position: int) -> bool:
        """Whether anything reads the item at the position of the tuples of the region."""
        return node in self.wholes or (node, position) in self.slots

    def needs_param(self, link: Any, position: int) -> bool:
        """Whether the function reads what it is given at the position."""
        summary = self.summaries[link]
        return summary.entry or summary.unit.function.params[position].name in summary.starts

    def _settled(self, summary: Summary) -> bool:
        """Whether a walk of the function would find nothing new: nothing of what the last went by has grown."""
        return not summary.reached or (
            summary.settled == (len(summary.ends), summary.result)
            and all(len(callee.starts) == known for callee, known in summary.calls.values())
            and not any(self.needs_slot(*slot) for slot in summary.unread)
        )

    def _settle(self, summary: Summary) -> None:
        """Walks the function if that may find anything new; not in a walk of it, nor too deep in calls."""
        if summary.walked or self.depth >= LIMIT_DEPTH or self._settled(summary):
            return
        caller, loops = self.at, self.loops
        self.at, self.loops = summary, []
        summary.walked = True
        self.depth += 1
        if summary.entry:
            summary.ends |= self.visible
        summary.settled = len(summary.ends), summary.result
        summary.unread.clear()
        summary.starts |= self._block(summary.unit.body, set())
        summary.walked = False
        self.depth -= 1
        self.at, self.loops = caller, loops

    def _block(self, block: Block, after: Live) -> Live:
        live = set(after)  # its own, so that statements may change it in place
        for s in reversed(block):
            live = self._statement(s, live)
        return live

    def _mark(self, s: Statement) -> None:
        if id(s) not in self.at.needed:  # else the loops around it are marked, too
            self.at.needed.update((id(s), *[turn.id for turn in self.loops]))

    def _statement(self, s: Statement, live: Live) -> Live:
        if type(s) is Assign:
            return self._assign(s, live)
        match s:
            case Store() | Accumulate() | Append() | Delete():
                return self._write(s, live)
            case If():
                return self._if(s, live)
            case For() | Loop():
                return self._loop(s, live)
            case Break() | Continue():
                turn = self.loops[-1]
                if turn.id in self.at.needed:
                    self._mark(s)
                return set(turn.after if isinstance(s, Break) else turn.head)
            case Return(value=value):
                self._mark(s)
                live = set(self.at.ends)
                if self.at.result:
                    live.update(memory.names((value,)))
                if self.at.entry:
                    self._read_deep((value,), live)
                return live
            case Raise():
                self._mark(s)
                return {*self.visible, *memory.names(statement_atoms(s))}
        return live

    def _read_deep(self, found: Iterable[Atom], live: Live) -> None:
        """All that the atoms reach is read: names, contents, every item."""
        found = tuple(found)
        kinds = [self.at.unit.kind(self.program, atom) for atom in found]
        live.update(memory.names(found), self.written.intersection(memory.reach(kinds)))
        self.wholes.update(memory.reach(kinds, arrays_too=False))

    def _assign(self, s: Assign, live: Live) -> Live:
        value = s.value
        if type(value) is Call:
            return self._call(s, value, live)
        used = s.target in live
        if type(value) is Op and has_effect(value):
            self._mark(s)
            self._read_deep(atoms(value), live)
            return live
        if type(value) is Pop:
            used = used or memory.region(self.at.unit.kind(self.program, value.base)) in live
        if not used:
            return live
        self._mark(s)
        live.discard(s.target)
        self._read(s, live)
        return live

    def _read(self, s: Assign, live: Live) -> None:
        if type(s.value) is Make and s.value.cls is tuple:
            node = memory.region(self.at.unit.kinds.get(s.target, BOTTOM))
            assert node is not None
            needed = [self.needs_slot(node, i) for i in range(len(s.value.items))]
            self.at.unread.update((node, i) for i, is_needed in enumerate(needed) if not is_needed)
            live.update(memory.names(compress(s.value.items, needed)))
            return
        if id(s) not in self.found:
            found = reading(self.program, self.at.unit, s)
            self.found[id(s)] = {x for x in found.live if type(x) is str or x in self.written}, found
        read, found = self.found[id(s)]
        live.update(read)
        self.wholes.update(found.wholes)
        self.slots.update(found.slots)

    def _call(self, s: Assign, call: Call, live: Live) -> Live:
        callee = self.summaries[call.link]
        used = s.target in live
        if not (used or callee.raises or callee.writes & live):
            return live
        self._mark(s)
        callee.reached = True
        callee.result = callee.result or used
        callee.ends.update(callee.writes & live)
        self._settle(callee)
        self.at.calls[id(s)] = callee, len(callee.starts)
        live.discard(s.target)
        live.update(callee.memory())
        live.update(memory.names(a for i, a in enumerate(call.args) if self.needs_param(call.link, i)))
        return live

    def _write(self, s: Store | Accumulate | Append | Delete, live: Live) -> Live:
        kind = self.at.unit.kind(self.program, s.base)
        node = memory.region(kind)
        assert node is not None
        if node not in live:
            return live
        self._mark(s)
        live.update(memory.names(statement_atoms(s)))
        if not isinstance(s, Append):
            self._read_deep(key_atoms(s.key), live)
        if isinstance(kind, Arr) and isinstance(s, Store | Accumulate):
            self._read_deep((s.value,), live)
        return live

    def _if(self, s: If, live: Live) -> Live:
        body, orelse = self._block(s.body, live), self._block(s.orelse, live)
        result = body | orelse
        if not any(id(inner) in self.at.needed for inner in (*s.body, *s.orelse)):
            return result
        self._mark(s)
        self._read_deep((s.test,), result)
        return result

    def _loop(self, s: For | Loop, after: Live) -> Live:
        head = self.at.heads.setdefault(id(s), set())
        turn = Turn(id(s), after, head)
        if isinstance(s, For) and s.target in after:
            self._mark(s)
        if isinstance(s, For):
            head |= after
        while True:
            before = len(head), len(self.at.needed)
            self.loops.append(turn)
            body = self._block(s.body, head)
            self.loops.pop()
            head |= body - {s.target} if isinstance(s, For) else body
            if (len(head), len(self.at.needed)) == before:
                break
        if id(s) not in self.at.needed:
            return after
        self._mark(s)
        return head | set(memory.names(statement_atoms(s)))
