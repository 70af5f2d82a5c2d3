"""What a callee gives back is what it was given: ``u = step(u)`` becomes ``step(u)`` where `step` always returns `u`.

A helper that writes into its argument and returns it, as many do, binds no new array in its caller. So there is none to
record, and the array has one cotangent. It is done before a function is differentiated::

    def step(u, c):            for n in range(steps):         for n in range(steps):
        u[1:] -= c * u[:-1]        u = step(u, c)        ->       %t = step(u, c)
        return u
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tangentx.analysis.infer.calling_conventions import SETTLED
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Box, Kind
from tangentx.ir.nodes import Assign, Atom, Block, Call, Function, Link, Return, Statement, Var
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import bound, statements
from tangentx.optimise.facts.unit import Unit


def returned_parameter(function: Function) -> int | None:
    """The position of the parameter that a function returns wherever it ends; None where it may return another value,
    or where the parameter is bound anew."""
    found = tuple(dict.fromkeys(s.value for s in statements(function.body) if isinstance(s, Return)))
    names = [p.name for p in function.params]
    value = found[0] if len(found) == 1 else None
    if not isinstance(value, Var) or value.name not in names or value.name in bound(function.body):
        return None
    return names.index(value.name) if _ends_by_return(function.body) else None


def _ends_by_return(block: Block) -> bool:
    """Whether the last statement returns; one that falls off its end returns None."""
    return bool(block) and isinstance(block[-1], Return)


class _Calls:
    """The calls of one function, of which `positions` tells which argument each gives back."""

    def __init__(self, unit: Unit, positions: Mapping[Link, int]) -> None:
        self.kinds, self.positions = unit.kinds, positions
        self.changed = False

    def block(self, block: Block) -> Block:
        """The block with the arguments in place of the results."""
        out: list[Statement] = []
        for s in block:
            given = self._given_back(s)
            if given is None or not isinstance(s, Assign):
                out.append(map_blocks(s, self.block))
                continue
            self.changed = True
            name = f"%given{len(self.kinds)}"
            self.kinds[name] = self.kinds[s.target]
            out.append(Assign(name, s.value, s.span))
            out += [] if given == Var(s.target) else [Assign(s.target, given, s.span)]
        return tuple(out)

    def _given_back(self, s: Statement) -> Atom | None:
        if not isinstance(s, Assign) or not isinstance(s.value, Call) or s.value.link not in self.positions:
            return None
        given = s.value.args[self.positions[s.value.link]]
        alike = isinstance(given, Var) and _is_same(self.kinds.get(given.name), self.kinds.get(s.target))
        return given if alike else None


def _is_same(given: Kind | None, result: Kind | None) -> bool:
    """Whether both are arrays or containers of one kind and in one memory."""
    if isinstance(given, Arr):
        return given == result
    if not (isinstance(given, Box) and isinstance(result, Box)):
        return False
    return (given.cls, given.none, given.region.root()) == (result.cls, result.none, result.region.root())


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Takes arguments for what is given back; True if there was any.

    Not from a step that is solved, whose result is the answer and not what it was given, nor from what is checkpointed,
    whose second run has arguments of its own.
    """
    plain = [u for u in units if not u.function.notes.get(SETTLED) and u.link not in program.checkpoints.links]
    found = {unit.link: returned_parameter(unit.function) for unit in plain}
    positions = {link: at for link, at in found.items() if at is not None}
    changed = False
    for unit in units if positions else ():
        calls = _Calls(unit, positions)
        body = calls.block(unit.body)
        if calls.changed:
            unit.body, changed = body, True
    return changed
