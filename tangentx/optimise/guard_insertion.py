"""Products and sums with slopes that may be infinite though the program is fine keep their guards, or get one.

A root has an infinite slope at 0, where it is computed without a warning, and what that is multiplied with on its way
may be 0, as in ``sqrt(x * x)``. NumPy would warn of the product, or raise where the user has asked for that, though the
program does not; guarded it is 0, as it is on Tensors. The slope of a quotient or a logarithm is infinite only where
the program has divided by 0 itself. Where two infinite slopes meet, as in ``sqrt(v) + x * sqrt(v)``, their sum is
nan: no number for what the maximum in ``v = max(u, 0)`` drops, and nothing to warn of.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Num
from tangentx.ir.nodes import Assign, Atom, Block, Lit, Op, Statement, Var
from tangentx.ir.rewrite import map_blocks
from tangentx.ir.walk import statement_atoms
from tangentx.optimise.facts.dataflow import sweeps
from tangentx.optimise.facts.finite_values import PRODUCTS, Unbounded, among, bindings, made_by, positive
from tangentx.optimise.facts.tangent_names import of_tangents
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import is_number
from tangentx.templates import silent_slope

_KEEPING_ZERO = PRODUCTS | {operator.neg, np.negative, operator.pow, np.power, np.square, np.sum, np.ndarray.sum}
_QUIET = {
    operator.add: arrays.quiet_sum,
    np.add: arrays.quiet_sum,
    operator.sub: arrays.quiet_difference,
    np.subtract: arrays.quiet_difference,
}
_SUMS = frozenset(_QUIET)
_SHIFTS = (operator.neg, operator.add, operator.sub)


class _Roots(Unbounded):
    """Names that may hold the slope of a root at 0, or what was computed with it."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self.known = {unit.link: bindings(unit) for unit in units}
        super().__init__(units, of_primal=True, tied=False)

    def _result(self, unit: Unit, op: Op) -> bool:
        return any(self.holds(unit, a) for a in op.args) or self.is_slope(unit, op)

    def is_slope(self, unit: Unit, op: Op) -> bool:
        """Whether an operation gives a slope that is infinite where a root is 0."""
        known = self.known[unit.link]
        if op.fn in (arrays.ratio, arrays.over_root):
            root = made_by(known, op.args[1])
            if root is not None and among(root.fn, PRODUCTS):  # of a cube root
                made = [made_by(known, a) for a in root.args]
                return any(each is not None and silent_slope(each.fn) == "cube root" for each in made)
            if root is None or silent_slope(root.fn) != "square root":
                return is_number(op.args[0], 0.5)  # of a root that was recorded
            return not positive(known, root.args[0])
        if op.fn is not arrays.power_slope:
            logarithm = len(op.args) == 2 and isinstance(op.args[0], Lit) and silent_slope(op.fn) == "logarithm"
            return logarithm and not positive(known, op.args[1])
        y = op.args[1]
        if isinstance(y, Lit):
            return isinstance(y.value, float) and 0.0 < y.value < 1.0
        kind = unit.kinds.get(y.name) if isinstance(y, Var) else None
        return not (isinstance(kind, Num) and set(kind.exact) <= {int, bool})


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Guards the products that would warn where the program does not."""
    slopes = (arrays.ratio, arrays.over_root, arrays.power_slope)
    every = (op for unit in units for op in bindings(unit).values())
    if not any(op.fn in slopes or silent_slope(op.fn) == "logarithm" for op in every):
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
        self.known = roots.known[unit.link]
        self.tangents = unit.found(of_tangents)
        self.read = Counter(a.name for s in unit.statements() for a in statement_atoms(s) if isinstance(a, Var))
        params = unit.function.params
        self.seed = params[-1].name if unit.outer and params and params[-1].default == Lit(1.0) else None

    def whole(self) -> Block:
        """The body. In a forward sweep, and among tangents, products with a slope itself alone, with the tangent of a
        root, and of tangents with what is 0 where the root is."""
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
                case Assign(target, Op(fn=fn, args=(a, b))) if among(fn, PRODUCTS) and self._may_warn(target, a, b):
                    out += self._product(s, out, a, b)
                case Assign(value=Op(fn=fn, args=(a, b))) if (
                    self.reverse and among(fn, _SUMS) and self._both_slopes(a, b)
                ):
                    out.append(replace(s, value=Op(_QUIET[fn], (a, b))))
                case _:
                    out.append(map_blocks(s, self.block))
        same = len(out) == len(block) and all(a is b for a, b in zip(block, out, strict=True))
        return block if same else tuple(out)

    def _both_slopes(self, a: Atom, b: Atom) -> bool:
        """Whether both operands may be infinite: their sum is nan then, and dropped where the program is fine."""
        return self.roots.holds(self.unit, a) and self.roots.holds(self.unit, b)

    def _may_warn(self, target: str, a: Atom, b: Atom) -> bool:
        """Whether one factor may be infinite, and the other one 0."""
        pairs = [(x, y) for x, y in ((a, b), (b, a)) if not self._is_whole(y)]
        if self.reverse:
            return any(self.roots.holds(self.unit, x) for x, _ in pairs)
        if any(self._is_slope(x) for x, _ in pairs):
            return True
        return target in self.tangents and any(
            self._is_tangent(x) or (self._vanishes(y) and self.roots.holds(self.unit, x)) for x, y in pairs
        )

    def _is_slope(self, atom: Atom) -> bool:
        """Whether it is a slope, or a slope with another sign or a number added."""
        slope = made_by(self.known, atom)
        if slope is not None and slope.fn in _SHIFTS:
            return any(map(self._is_slope, slope.args))
        return slope is not None and self.roots.is_slope(self.unit, slope)

    def _is_tangent(self, atom: Atom) -> bool:
        """Whether it is a slope times the tangent of what the root is taken of."""
        op = made_by(self.known, atom)
        return op is not None and (op.fn is arrays.guarded or among(op.fn, PRODUCTS)) and self._is_slope(op.args[0])

    def _vanishes(self, atom: Atom) -> bool:
        """Whether it is 0 where a root is: the root itself, and products with it."""
        op = made_by(self.known, atom)
        if op is None:
            return False
        if silent_slope(op.fn) == "cube root":
            return True
        if silent_slope(op.fn) == "square root":
            return not positive(self.known, op.args[0])
        return among(op.fn, _KEEPING_ZERO) and any(map(self._vanishes, op.args))

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
            return [replace(s, value=Op(arrays.over_root, (b, root)))]
        times = Op(operator.neg, (b,)) if is_number(number, -1.0) else Op(operator.mul, (number, b))
        self.unit.kinds[last.target] = self.unit.kind(self.program, b)
        return [replace(last, value=times), replace(s, value=Op(arrays.over_root, (Var(last.target), root)))]
