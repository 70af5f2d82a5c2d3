"""What a trip of a loop has computed and read already, where both sweeps are in it, is not computed or read again."""

from __future__ import annotations

from collections.abc import Sequence

from tangentx.analysis.infer.program import Program
from tangentx.ir.nodes import Assign, Block, Note, Statement
from tangentx.optimise.facts.summaries import summaries
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.value_numbering import Numbering


class _WayBack(Numbering):
    """The way there stays as it is; on the way back any name gives way to one that holds its value. It is ours, so that
    nobody asks there whether two arrays are one."""

    def __init__(self, program: Program, unit: Unit, turn: Note) -> None:
        super().__init__(program, unit, summaries(program, list(unit.others.values())))
        self.turn, self.turned = turn, False

    def rewrite(self, s: Statement) -> Sequence[Statement]:
        """As for `Numbering`."""
        self.turned = self.turned or s is self.turn
        return super().rewrite(s)

    def gives_way(self, s: Assign) -> bool:
        """Whatever is bound on the way back."""
        return self.turned

    def is_passed_on(self, target: str) -> bool:
        """Never to anybody who asks."""
        return False


def numbered(program: Program, unit: Unit, there: Block, turn: Note, back: Block) -> Block:
    """The trip, there and back, with names on the way back for what the way there has computed or read."""
    return _WayBack(program, unit, turn).block((*there, turn, *back))
