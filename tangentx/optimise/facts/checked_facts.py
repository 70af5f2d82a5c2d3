"""Checked mode: the shape and zero facts of an unoptimised program, as assertions.

Checked mode runs the derivative without any proof beside the one that ships, and asserts there what the walk of the
rewriting passes knows at each statement: which arrays have equal shapes, and what is zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import is_array
from tangentx.ir.nodes import Assign, Op, Statement, Var
from tangentx.ir.walk import atoms
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import Rewriter
from tangentx.optimise.zero_propagation import Zeros

MOST = 3  # names of an equal shape that are told for one statement


class Witness(Rewriter):
    """The walk of the rewriting passes, which changes nothing; `zero` and `alike` tell what is known, by statement.

    A loop is walked until nothing more is found, so what is told last counts.
    """

    def __init__(self, program: Program, unit: Unit) -> None:
        super().__init__(program, unit, [Zeros])
        self.zero: dict[int, bool] = {}
        self.alike: dict[int, tuple[str, ...]] = {}

    def rewrite(self, s: Statement) -> Iterable[Statement]:
        """The very same statement."""
        super().rewrite(s)  # whether it is ours; what the rule would write is not asked for
        return (s,)

    def after(self, s: Statement) -> None:
        """Tells what is known of the name that is bound."""
        super().after(s)
        if type(s) is not Assign:
            return
        name = Var(s.target)
        self.zero[id(s)] = self.fact(name).zero
        self.alike[id(s)] = ()
        if is_array(self.kind(name)) and type(s.value) is Op:
            others = [a.name for a in atoms(s.value) if type(a) is Var and a != name and is_array(self.kind(a))]
            shape = self.shape(name)
            stated = others[1:] if s.value.fn is arrays.alike else []
            known = [o for o in others if o in stated or (shape is not None and shape == self.shape(Var(o)))]
            self.alike[id(s)] = tuple(dict.fromkeys(known))[:MOST]


def told(program: Program, units: Sequence[Unit]) -> tuple[dict[int, bool], dict[int, tuple[str, ...]]]:
    """What binds a known zero, and which names have the shape of what is bound, by the identity of statements."""
    zero: dict[int, bool] = {}
    alike: dict[int, tuple[str, ...]] = {}
    ahead = Zeros.ahead(units)
    for unit in units:
        walk = Witness(program, unit)
        for each in walk.rules:
            each.begin(ahead.get(unit.link))
        walk.whole()
        zero |= walk.zero
        alike |= walk.alike
    return zero, alike
