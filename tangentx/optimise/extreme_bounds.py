"""Larger and smaller of a number and a bound: ``if_above(t, x, 0.0)`` for what `x` gets of the cotangent of
``max(x, 0.0)``.

The general rule compares each of the operands with the result, and shares the cotangent among those that are equal to
it. Of two numbers the one is equal to the result where it lies on the right side of the other, or they are equal; only
where that is a bound which is certainly a number: a constant that is not nan, or a whole number.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Num
from tangentx.ir.nodes import Assign, Atom, Block, Index, Key, Lit, Make, Op, Statement, Var
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import blocks, writes
from tangentx.optimise.facts.unit import Unit, write_each

_FLOATS = (float, np.float64)
_SIDES: Mapping[Any, Callable[..., Any]] = {max: arrays.if_above, min: arrays.if_below}


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Compares with bounds alone; True if anything changed."""
    return write_each(units, lambda unit: _Bounds(program, unit).block(unit.body))


class _Bounds:
    """Writes the blocks of one function anew.

    `held` has the tuples of which the names have not been bound since, `holding` under each name those it stands in.
    """

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program, self.unit = program, unit
        self.read, bound = unit.counts()
        found = [s for s in unit.statements() if isinstance(s, Assign)]
        self.made = {s.target: s.value for s in found if bound[s.target] == 1}
        items = [(s.value.base, s.value.key) for s in found if isinstance(s.value, Index)]
        self.items = {base.name: key for base, key in items if isinstance(base, Var) and self.read[base.name] == 1}
        self.held: dict[str, Make] = {}
        self.holding: defaultdict[str, set[str]] = defaultdict(set)
        self.single: set[str] = set()

    def block(self, block: Block) -> Block:
        """The block, and the blocks inside it."""
        out: list[Statement] = []
        for s in block:
            self._forget(self.held.copy() if blocks(s) else ())
            new = self._statement(map_blocks(s, self.block))
            self._forget(self.held.copy() if blocks(s) else ())
            for name in writes(s):
                self._forget((name, *self.holding.pop(name, ())))
            if isinstance(new, Assign) and isinstance(new.value, Make):
                self._hold(new.target, new.value)
            out.append(new)
        return block if tuple(out) == block else tuple(out)

    def _hold(self, target: str, made: Make) -> None:
        self.held[target] = made
        for item in made.items:
            if isinstance(item, Var):
                self.holding[item.name].add(target)

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            made = self.held.pop(name, None)
            for item in made.items if made is not None else ():
                if isinstance(item, Var) and item.name in self.holding:
                    self.holding[item.name].discard(name)

    def _statement(self, s: Statement) -> Statement:
        match s:
            case Assign(value=Op(fn=arrays.take_best, args=(dots, best, args))):
                made = self._tangent(dots, best, args)
            case Assign(target=shares, value=Op(fn=arrays.give_best, args=(t, best, args))) if shares in self.made:
                key = self.items.get(shares)
                made = None if key is None else self._compared(t, best, args, key)
                if made is not None:
                    self.single.add(shares)
                    self.unit.kinds[shares] = self.unit.kind(self.program, made.args[1])
            case Assign(value=Index(base=Var(name=shares))) if shares in self.single:
                return Assign(s.target, Var(shares), s.span)
            case _:
                return s
        return s if made is None else Assign(s.target, made, s.span)

    def _tangent(self, dots: Atom, best: Atom, args: Atom) -> Op | None:
        """What the mean of the tangents of those that win is, where one of two operands has none."""
        made = self.held.get(dots.name) if isinstance(dots, Var) else None
        if made is None or len(made.items) != 2:
            return None
        still = [k for k, dot in enumerate(made.items) if isinstance(dot, Lit) and not dot.value]
        if len(still) != 1:
            return None
        moving = 1 - still[0]
        return self._compared(made.items[moving], best, args, Key((Lit(moving),)))

    def _compared(self, t: Atom, best: Atom, args: Atom, key: Key) -> Op | None:
        """What an operand gets of `t`, by comparing it with the other one."""
        how = self.made.get(best.name) if isinstance(best, Var) else None
        made = self.held.get(args.name) if isinstance(args, Var) else None
        side = _SIDES.get(how.fn) if isinstance(how, Op) and how.fn in (max, min) else None
        if side is None or made is None or len(made.items) != 2:
            return None
        place = key.parts[0].value if isinstance(key.parts[0], Lit) and not key.many else None
        if type(place) is not int or place not in (0, 1):
            return None
        x, bound = made.items[place], made.items[1 - place]
        return Op(side, (t, x, bound)) if self._is_bound(bound) and self._is_float(x) and self._is_float(t) else None

    def _is_bound(self, atom: Atom) -> bool:
        if isinstance(atom, Lit):
            return type(atom.value) in (int, float) and not math.isnan(atom.value)  # type: ignore[arg-type]
        kind = self.unit.kind(self.program, atom)
        return isinstance(kind, Num) and set(kind.exact) == {int} and not kind.none

    def _is_float(self, atom: Atom) -> bool:
        kind = self.unit.kind(self.program, atom)
        return isinstance(kind, Num) and all(each in _FLOATS for each in kind.exact) and not kind.none
