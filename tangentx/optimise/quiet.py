"""Products with a slope that may be infinite though the program is fine keep their guards, or get one.

A root has an infinite slope at 0, where it is computed without a warning, and what that is multiplied with on its way
may be 0, as in ``sqrt(x * x)``. NumPy would warn of the product, or raise where the user has asked for that, though the
program does not; guarded it is 0, as it is on Tensors. The slope of a quotient or a logarithm is infinite only where
the program has divided by 0 itself.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.program import Program
from tangentx.ir.change import map_blocks
from tangentx.ir.nodes import Assign, Atom, Block, Lit, Op, Statement, Var
from tangentx.ir.walk import statement_atoms
from tangentx.optimise.bounds import Unbounded, among
from tangentx.optimise.flow import sweeps
from tangentx.optimise.rewriting import is_number
from tangentx.optimise.unit import Unit

_PRODUCTS: frozenset[Any] = frozenset({operator.mul, np.multiply})
_ROOTS: frozenset[Any] = frozenset({np.sqrt, math.sqrt})
_SQUARES: frozenset[Any] = frozenset({np.square, np.abs, abs, operator.abs, math.fabs, np.fabs, np.exp, math.exp})
_KEEPING_SIGN: frozenset[Any] = frozenset({np.sum, np.ndarray.sum, np.mean, np.ndarray.mean})


class _Roots(Unbounded):
    """Names that may hold the slope of a root at 0, or what was computed with it."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self.known = {unit.link: _bindings(unit) for unit in units}
        super().__init__(units, of_primal=True, tied=False)

    def _result(self, unit: Unit, op: Op) -> bool:
        return any(self.holds(unit, a) for a in op.args) or self.is_slope(unit, op)

    def is_slope(self, unit: Unit, op: Op) -> bool:
        """Whether an operation gives a slope that is infinite where a root is 0."""
        known = self.known[unit.link]
        if op.fn is arrays.ratio:
            root = _of(known, op.args[1])
            if root is None or not among(root.fn, _ROOTS):
                return is_number(op.args[0], 0.5)  # of a root that was recorded
            return not _positive(known, root.args[0])
        if op.fn is not arrays.power_slope:
            return False
        y = op.args[1]
        return not isinstance(y, Lit) or (isinstance(y.value, float) and 0.0 < y.value < 1.0)


def _bindings(unit: Unit) -> dict[str, Op]:
    """What is bound once, and by an operation."""
    found: dict[str, list[Any]] = {}
    for s in unit.statements():
        if isinstance(s, Assign):
            found.setdefault(s.target, []).append(s.value)
    return {name: values[0] for name, values in found.items() if len(values) == 1 and isinstance(values[0], Op)}


def _of(known: dict[str, Op], atom: Atom) -> Op | None:
    return known.get(atom.name) if isinstance(atom, Var) else None


def _positive(known: dict[str, Op], atom: Atom) -> bool:
    """Whether a number, or each of an array, is larger than 0 by the way it is computed."""
    if isinstance(atom, Lit):
        return type(atom.value) in (int, float) and atom.value > 0  # type: ignore[operator]
    op = _of(known, atom)
    if op is None or op.fn not in (operator.add, np.add):
        return False
    a, b = op.args
    return any(_positive(known, x) and _no_less(known, y) for x, y in ((a, b), (b, a)))


def _no_less(known: dict[str, Op], atom: Atom) -> bool:
    """Whether a number, or each of an array, is no less than 0 by the way it is computed."""
    op = _of(known, atom)
    if op is None:
        return isinstance(atom, Lit) and type(atom.value) in (int, float) and atom.value >= 0  # type: ignore[operator]
    if among(op.fn, _SQUARES) or among(op.fn, _ROOTS):
        return True
    if among(op.fn, _PRODUCTS):
        return op.args[0] == op.args[1] or all(_no_less(known, a) for a in op.args)
    if op.fn is operator.pow:
        return isinstance(op.args[1], Lit) and op.args[1].value in (2, 4)
    if op.fn in (operator.add, np.add):
        return all(_no_less(known, a) for a in op.args)
    return among(op.fn, _KEEPING_SIGN) and _no_less(known, op.args[0])


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Guards the products that would warn where the program does not."""
    if not any(op.fn in (arrays.ratio, arrays.power_slope) for unit in units for op in _bindings(unit).values()):
        return False
    roots = _Roots(units)
    changed = False
    for unit in units if roots.found else ():
        body = _Silent(program, unit, roots).whole()
        if body is not unit.body:
            unit.body, changed = body, True
    return changed


class _Silent:
    """The products of one function; those that would warn are guarded."""

    def __init__(self, program: Program, unit: Unit, roots: _Roots) -> None:
        self.program, self.unit, self.roots = program, unit, roots
        self.reverse = False
        self.read = Counter(a.name for s in unit.statements() for a in statement_atoms(s) if isinstance(a, Var))
        params = unit.function.params
        self.seed = params[-1].name if unit.outer and params and params[-1].default == Lit(1.0) else None

    def whole(self) -> Block:
        """The body; in a forward sweep, and among tangents, products with a slope itself alone."""
        forward, reverse = sweeps(self.unit.function)
        first = self.block(forward)
        self.reverse = True
        second = self.block(reverse)
        return self.unit.body if first is forward and second is reverse else (*first, *second)

    def block(self, block: Block) -> Block:
        """The block with guarded products; the very same one if it has none that must be."""
        out: list[Statement] = []
        for s in block:
            match s:
                case Assign(value=Op(fn=fn, args=(a, b))) if among(fn, _PRODUCTS) and self._may_warn(a, b):
                    out += self._product(s, out, a, b)
                case _:
                    out.append(map_blocks(s, self.block))
        same = len(out) == len(block) and all(a is b for a, b in zip(block, out, strict=True))
        return block if same else tuple(out)

    def _may_warn(self, a: Atom, b: Atom) -> bool:
        """Whether one factor may be infinite, and the other one 0."""
        return any(self._is_infinite(x) and not self._is_whole(y) for x, y in ((a, b), (b, a)))

    def _is_infinite(self, atom: Atom) -> bool:
        if self.reverse:
            return self.roots.holds(self.unit, atom)
        slope = _of(self.roots.known[self.unit.link], atom)
        return slope is not None and self.roots.is_slope(self.unit, slope)

    def _is_whole(self, atom: Atom) -> bool:
        return isinstance(atom, Lit) or (isinstance(atom, Var) and atom.name == self.seed)

    def _product(self, s: Assign, out: list[Statement], a: Atom, b: Atom) -> list[Statement]:
        """The slope of a root times what it has just been made for is a silent quotient: ``0.5 * b / root``."""
        last = out[-1] if out else None
        if isinstance(last, Assign) and last.target == getattr(a, "name", "") and self.read[last.target] == 1:
            if isinstance(last.value, Op) and last.value.fn is arrays.ratio and isinstance(last.value.args[0], Lit):
                return self._quotient(s, out, last.value.args[0], b, last.value.args[1])
        return [replace(s, value=Op(arrays.guarded, (a, b)))]

    def _quotient(self, s: Assign, out: list[Statement], number: Lit, b: Atom, root: Atom) -> list[Statement]:
        last = out.pop()
        assert isinstance(last, Assign)
        if is_number(number, 1.0):
            return [replace(s, value=Op(arrays.ratio, (b, root)))]
        times = Op(operator.neg, (b,)) if is_number(number, -1.0) else Op(operator.mul, (number, b))
        self.unit.kinds[last.target] = self.unit.kind(self.program, b)
        return [replace(last, value=times), replace(s, value=Op(arrays.ratio, (Var(last.target), root)))]
