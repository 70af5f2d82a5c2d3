"""Strength reduction and reassociation: ``t / y`` is ``t * r`` where ``r = 1.0 / y``, and ``c * (x * t)`` is ``p *
t`` where ``p = c * x``. ``2.0 * (c * x)`` is a multiple of `x` itself, and ``(2.0 * x) * n`` of an array and a
number is ``(2.0 * n) * x``.

The first two save a pass over an array and a name in the reverse sweep, and round as often as what they stand for or
once more; the third saves a name and the last a pass, and they round alike.
What is at hand was computed before, of the same operands, and is out of reach of every write, or was computed by the
statement before.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Kind, Num, is_array
from tangentx.ir.nodes import Assign, Atom, Lit, Op, Statement, Var
from tangentx.optimise import rewriting
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import MUL, Rewriter, Rules, is_number, run_each


class Factors(Rules):
    """`made` lists the names that were bound to a reciprocal or to a multiple of a name, by that name."""

    follows = True
    notes = True

    def __init__(self, walk: Rewriter) -> None:
        super().__init__(walk)
        self.made: dict[tuple[object, str], list[str]] = {}

    def note(self, s: Assign, op: Op) -> None:
        """Notes reciprocals and multiples."""
        if op.fn is not operator.truediv and op.fn is not MUL:
            return
        match op:
            case Op(fn=operator.truediv, args=(one, Var(name=name)), kwargs=()) if is_number(one, 1.0):
                self.made.setdefault((operator.truediv, name), []).append(s.target)
            case Op(fn=operator.mul, args=(Lit(), Var(name=name)), kwargs=()):
                self.made.setdefault((MUL, name), []).append(s.target)

    def operation(self, s: Assign, op: Op) -> Sequence[Statement] | None:
        """The statement with what is at hand."""
        if op.fn is not operator.truediv and op.fn is not MUL:
            return None
        match op:
            case Op(fn=operator.truediv, args=(t, Var() as y), kwargs=()):
                return self._times(s, t, self.at_hand(Op(operator.truediv, (Lit(1.0), y)), y), y)
            case Op(fn=operator.mul, args=(Var() as u, Var() as v), kwargs=()):
                return self._numbers_joined(s, u, v) or self._number_scaled(s, u, v) or self._number_scaled(s, v, u)
            case Op(fn=operator.mul, args=(Lit() as c, Var() as u), kwargs=()):
                inner = self.expr(u)
                if not (isinstance(inner, Op) and inner.fn is MUL and not inner.kwargs):
                    return None
                d, x = inner.args
                number = _exact_product(c.value, d) if self._is_spared(u, x) else None
                if number is not None and self.still(x):
                    return (Assign(s.target, Op(MUL, (Lit(number), x)), s.span),)
                if self.count[u.name] == 1:
                    for x, t in (inner.args, inner.args[::-1]):
                        if isinstance(x, Var) and (p := self.at_hand(Op(MUL, (c, x)), x)) is not None:
                            return self._times(s, t, p, x)
        return None

    def _is_spared(self, u: Var, x: Atom) -> bool:
        """Whether a multiple of a temporary, itself a multiple of `x`, may be written as one of `x`.

        Where others read the temporary too, an array, and `x` is a copy, that saves nothing and keeps the copy. In the
        reverse of ``u[1:-1] += 0.1 * (u[:-2] - 2.0 * u[1:-1] + u[2:])`` the one product ``0.1 * u_bar[1:-1]`` serves
        all three terms, and nothing is copied.
        """
        if not u.name.startswith("%"):
            return False
        made = self.expr(x) if isinstance(x, Var) else None
        is_copy = isinstance(made, Op) and made.fn is arrays.clone
        return not is_copy or self.count[u.name] == 1 or not is_array(self.kind(u))

    def _numbers_joined(self, s: Assign, u: Var, v: Var) -> Sequence[Statement] | None:
        """``(2.0 * x) * (0.5 * t)`` as ``x * t``, and the like."""
        one, two = self.expr(u), self.expr(v)
        if not (isinstance(one, Op) and isinstance(two, Op) and one.fn is two.fn is MUL):
            return None
        (c, x), (d, t) = one.args, two.args
        number = _exact_product(c.value, d) if isinstance(c, Lit) else None
        if number is None or one.kwargs or two.kwargs or not all(map(self.still, (x, t))):
            return None
        if self.count[u.name] != 1 or self.count[v.name] != 1:
            return None
        if number == 1.0 and self.real(x):
            return (Assign(s.target, Op(MUL, (x, t)), s.span),)
        scaled = self.let(s, Op(MUL, (Lit(number), x)), rewriting.scaled(self.kind(u)))
        return scaled, Assign(s.target, Op(MUL, (Var(scaled.target), t)), s.span)

    def _number_scaled(self, s: Assign, u: Var, n: Var) -> Sequence[Statement] | None:
        """``(2.0 * x) * n`` for an array and a number, as ``(2.0 * n) * x``."""
        made = self.expr(u)
        if not isinstance(made, Op) or made.fn is not MUL or self.count[u.name] != 1:
            return None
        c, x = made.args
        if not isinstance(c, Lit) or _exact_product(c.value, Lit(1.0)) is None:
            return None
        if not (self.still(x) or self.current(u) is made):
            return None
        if not (is_array(self.kind(x)) and self.real(x) and isinstance(self.kind(n), Num) and self.real(n)):
            return None
        scaled = self.let(s, Op(MUL, (c, n)), rewriting.scaled(self.kind(n)))
        return scaled, Assign(s.target, Op(MUL, (Var(scaled.target), x)), s.span)

    def at_hand(self, wanted: Op, x: Var) -> Var | None:
        """The name that holds the result of the operation."""
        for name in self.made.get((wanted.fn, x.name), ()):
            if self.expr(Var(name)) == wanted and self.still(Var(name)) and self.still(x):
                return Var(name)
        return None

    def _times(self, s: Assign, t: Atom, factor: Var | None, x: Var) -> Sequence[Statement] | None:
        """``factor * t``, if it is of the type that the statement gives now."""
        if factor is None or factor.name == s.target or not self.still(t):
            return None
        kinds = [self.kind(a) for a in (factor, x, t, Var(s.target))]
        alike = len({_type(k) for k in kinds}) == 1 and all(isinstance(k, Num) or is_array(k) for k in kinds)
        return (Assign(s.target, Op(MUL, (factor, t)), s.span),) if alike else None


def _exact_product(c: object, d: Atom) -> float | None:
    """The product of two numbers of which the first is a power of two: ``c * (d * x)`` is that times `x`, exactly."""
    if type(c) is not float or not isinstance(d, Lit) or type(d.value) is not float:
        return None
    return c * d.value if math.frexp(c)[0] == 0.5 and c * d.value / c == d.value else None


def _type(kind: Kind) -> object:
    """What of a kind decides the type of a product."""
    if isinstance(kind, Num):
        return float if kind.type is np.float64 else kind.type
    return (kind.dtype, kind.rank) if isinstance(kind, Arr) else kind


def _is_concerned(unit: Unit) -> bool:
    """Whether there is a reciprocal or a multiple of a name."""
    values = (s.value for s in unit.statements() if type(s) is Assign and type(s.value) is Op)
    return any(op.fn in (MUL, operator.truediv) and type(op.args[0]) is Lit for op in values)


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Uses factors that are at hand."""
    return run_each(program, [unit for unit in units if unit.found(_is_concerned)], Factors)
