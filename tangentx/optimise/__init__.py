"""Shorter programs of the same meaning: one small pass a file, each of which can be switched off."""

from __future__ import annotations

from tangentx.analysis.program import Instance, Program
from tangentx.ir.check import check
from tangentx.ir.nodes import Function
from tangentx.optimise import coalesce, copies, dead, guards, memory, signatures, simplify, sink, slots, zeros
from tangentx.optimise.notes import tidy
from tangentx.optimise.unit import Pass, Unit

PASSES: dict[str, Pass] = {
    "dead": dead.run,
    "copies": copies.run,
    "zeros": zeros.run,
    "simplify": simplify.run,
    "guards": guards.run,
    "slots": slots.run,
    "signatures": signatures.run,
    "sink": sink.run,
    "coalesce": coalesce.run,
}
LAST = ("coalesce",)  # for the reader: the kinds of variables do not hold after it
LIMIT_ROUNDS = 8


def optimise(program: Program, root: Instance, off: frozenset[str]) -> list[Function]:
    """The functions of the program, the root first, after every pass that is not switched off.

    The passes run in order, round after round, until none changes anything.
    """
    units = [Unit(i.link, i.kinds, i.result) for i in program.reached()]
    chosen = [run for name, run in PASSES.items() if name not in off and name not in LAST]
    for _ in range(LIMIT_ROUNDS):
        changed = False
        for run in chosen:
            changed = run(program, units) or changed
        for unit in memory.reached(units)[:1]:
            check(unit.function, closed=True)
        if not changed:
            break
    for name in LAST:
        if name not in off:
            PASSES[name](program, units)
    for unit in units:
        unit.body = tidy(unit.body)
    return [unit.function for unit in memory.reached(units)]
