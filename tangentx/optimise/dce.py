"""Dead code elimination: statements, tapes with their appends and pops, loops, parameters and items of tuples that
nothing needs.

An argument or an item that nobody reads is replaced by None; `slots` takes the place of it away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM
from tangentx.ir.nodes import Assign, Atom, Block, Call, For, If, Lit, Loop, Make, Note, Return, Statement
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.liveness import Liveness
from tangentx.optimise.facts.unit import Unit

NONE = Lit(None)


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Deletes in all functions; True if anything changed."""
    if memory.is_opaque(units):
        return False
    facts = Liveness(program, units)
    changed = False
    for unit in units:
        sweep = _Sweep(facts, unit)
        body = sweep.block(unit.body) if facts.summaries[unit.link].reached else _nothing(unit)
        if sweep.changed or len(body) != len(unit.body):
            unit.body = body
            changed = True
    return changed


def _nothing(unit: Unit) -> Block:
    """The body of a function that nobody calls any more."""
    return (Return(NONE, unit.function.span),)


class _Sweep:
    """Writes one function again without what nobody needs."""

    def __init__(self, facts: Liveness, unit: Unit) -> None:
        self.facts = facts
        self.unit = unit
        self.changed = False

    def block(self, block: Block) -> Block:
        """What is left of a block."""
        kept = tuple(self._statement(s) for s in block if isinstance(s, Note) or self.facts.needs(self.unit, s))
        self.changed = self.changed or len(kept) != len(block)
        return kept

    def _statement(self, s: Statement) -> Statement:
        match s:
            case If():
                return replace(s, body=self.block(s.body), orelse=self.block(s.orelse))
            case For() | Loop():
                return replace(s, body=self.block(s.body))
            case Return() if not self.facts.summaries[self.unit.link].result:
                return replace(s, value=self._none(s.value))
            case Assign(value=Call(link=link, args=args)):
                items = tuple(a if self.facts.needs_param(link, i) else self._none(a) for i, a in enumerate(args))
                return s if items == args else replace(s, value=Call(link, items))
            case Assign(value=Make() as made) if memory.is_tuple(made):
                node = memory.region(self.unit.kinds.get(s.target, BOTTOM))
                assert node is not None
                items = tuple(a if self.facts.needs_slot(node, i) else self._none(a) for i, a in enumerate(made.items))
                return s if items == made.items else replace(s, value=replace(made, items=items))
        return s

    def _none(self, atom: Atom) -> Atom:
        self.changed = self.changed or atom != NONE
        return NONE
