"""Normalisation of sums: negations become subtractions, and equal contributions to a cotangent one product.

``p * -t`` is ``-p * t``, ``x + -t`` is ``x - t``, ``-(p * (-q * t))`` is ``p * (q * t)``, ``x + t + t`` is
``x + 2.0 * t``. The first three are exact; the last rounds once where the other rounds twice.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Num, is_array
from tangentx.ir.nodes import Accumulate, Assign, Atom, Lit, Op, Statement, Store, Var
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import ADD, MUL, NEG, SUB, Rewriter, Rules, run_each, scaled

_PRODUCTS = (MUL, arrays.guarded, np.outer, operator.matmul, arrays.careful_matmul)
"""They are linear in each of two operands."""
_Around: TypeAlias = "tuple[Atom, Op, int, _Around] | None"
"""The product that a factor stands in, under which name and at which place, and what that stands in."""


class Signs(Rules):
    """The reverse sweep with signs where they are read first."""

    follows = True
    notes = True
    shapes = False

    def __init__(self, walk: Rewriter) -> None:
        super().__init__(walk)
        self._signed: dict[int, Op] = {}

    def note(self, s: Assign, op: Op) -> None:
        """Remembers which products have a sign in them: others are not searched, however many they are made of."""
        if op.fn is NEG or (op.fn in _PRODUCTS and any(map(self._has_sign, op.args))):
            self._signed[id(op)] = op

    def _has_sign(self, atom: Atom) -> bool:
        """Whether an atom is a negative number, a negation, or a product that one of these is a factor of."""
        if isinstance(atom, Lit):
            return type(atom.value) in (int, float) and atom.value < 0  # type: ignore[operator]
        return id(self.expr(atom)) in self._signed

    def operation(self, s: Assign, op: Op) -> Sequence[Statement] | None:
        """The statement, after those that make what it reads now."""
        if op.fn is NEG and len(op.args) == 1:
            return self._negated(s, op.args[0])
        if len(op.args) != 2 or op.kwargs:
            return None
        a, b = op.args
        if op.fn in _PRODUCTS:
            return self._product(s, op, a, b)
        return self._sum(s, op.fn is ADD, a, b) if op.fn in (ADD, SUB) else None

    def write(self, s: Store | Accumulate) -> Sequence[Statement] | None:
        """As above, for a contribution."""
        if not isinstance(s, Accumulate):
            return None
        inner = self._unsigned(s.value)
        if inner is None or not inner[0]:
            return None
        made, atom = inner
        negated = self._let(s, Op(NEG, (atom,)), s.value)
        return (*made, negated, Accumulate(s.base, s.key, Var(negated.target), s.span, s.repeats))

    def _let(self, s: Statement, value: Op, like: Atom) -> Assign:
        real = value.fn is MUL and any(isinstance(a, Lit) and type(a.value) is float for a in value.args)
        return self.let(s, value, scaled(self.kind(like), real))

    def _made_by(self, atom: Atom, fn: object) -> Op | None:
        """The operation whose result the atom is, if it is `fn` and nobody else reads the result."""
        made = self.expr(atom)
        if not (isinstance(made, Op) and made.fn is fn and not made.kwargs and self._alone(atom)):
            return None
        stays = all(self.still(a) for a in made.args) or self.current(atom) is made
        return made if stays and self.real(atom) else None

    def _negated(self, s: Assign, a: Atom) -> Sequence[Statement] | None:
        """``-(p * (-q * t))`` as ``p * (q * t)``."""
        inner = None if self._made_by(a, NEG) is not None else self._unsigned(a)
        if inner is None or not inner[0]:
            return None
        *before, last = (Assign(m.target, m.value, s.span) for m in inner[0])
        return (*before, Assign(s.target, last.value, s.span))

    def _alone(self, atom: Atom) -> bool:
        return isinstance(atom, Var) and self.count[atom.name] == 1 and self.bindings[atom.name] == 1

    def _product(self, s: Assign, op: Op, a: Atom, b: Atom) -> Sequence[Statement] | None:
        """``a * -c`` as ``-a * c``, but for an array and a number, whose sign costs nothing."""
        inner, first = self._made_by(b, NEG), self.expr(a)
        if inner is None or not self.still(a) or not (isinstance(a, Lit) or self.real(a)):
            return self._into_number(s, op, a, b) or self._both_turned(s, op, a, b)
        if isinstance(a, Lit) and type(a.value) in (int, float):
            assert isinstance(a.value, int | float)
            return (Assign(s.target, Op(op.fn, (Lit(-a.value), inner.args[0])), s.span),)
        if isinstance(first, Op) and first.fn is NEG and self.still(first.args[0]):
            return (Assign(s.target, Op(op.fn, (first.args[0], inner.args[0])), s.span),)
        if is_array(self.kind(a)) and isinstance(self.kind(b), Num):
            return None
        negated = self._let(s, Op(NEG, (a,)), a)
        return (negated, Assign(s.target, Op(op.fn, (Var(negated.target), inner.args[0])), s.span))

    def _into_number(self, s: Assign, op: Op, a: Atom, b: Atom) -> Sequence[Statement] | None:
        """``(2.0 * p) * (n * t)`` where `n` is ``-c`` as ``(-2.0 * p) * (c * t)``, and the like without a `p`."""
        factor = None if isinstance(a, Lit) else self._made_by(a, MUL)
        number = a if factor is None else factor.args[0]
        second = self._made_by(b, MUL)
        if second is None or not isinstance(number, Lit) or type(number.value) is not float:
            return None
        opposite = self._opposite(second.args[0])
        if opposite is None:
            return None
        right = self._let(s, Op(MUL, (opposite, second.args[1])), b)
        if factor is None:
            return right, Assign(s.target, Op(op.fn, (Lit(-number.value), Var(right.target))), s.span)
        left = self._let(s, Op(MUL, (Lit(-number.value), factor.args[1])), a)
        return left, right, Assign(s.target, Op(op.fn, (Var(left.target), Var(right.target))), s.span)

    def _both_turned(self, s: Assign, op: Op, a: Atom, b: Atom) -> Sequence[Statement] | None:
        """``-u * (p * n)`` of a number `n` as ``u * (p * -n)``, and ``-u * (p * -c)`` as ``u * (p * c)``."""
        first = self._made_by(a, NEG) if is_array(self.kind(a)) else None
        if first is None:
            return None
        inner = self._unsigned(b)
        if inner is not None and inner[0]:
            made = [Assign(m.target, m.value, s.span) for m in inner[0]]
            return (*made, Assign(s.target, Op(op.fn, (first.args[0], inner[1])), s.span))
        second = self._made_by(b, MUL)
        if second is None or not (isinstance(self.kind(second.args[1]), Num) and self.real(second.args[1])):
            return None
        number = self._let(s, Op(NEG, (second.args[1],)), second.args[1])
        right = self._let(s, Op(MUL, (second.args[0], Var(number.target))), b)
        return number, right, Assign(s.target, Op(op.fn, (first.args[0], Var(right.target))), s.span)

    def _unsigned(self, atom: Atom) -> tuple[list[Assign], Atom] | None:
        """`atom` with the opposite sign, where that is one sign less: what makes it, and what it is then.

        A product may have the sign in its first factor, at whatever depth, or else in its second.
        """
        waiting: list[tuple[Atom, _Around]] = [(atom, None)]
        while waiting:
            part, around = waiting.pop()
            if not self._has_sign(part):
                continue
            if (inner := self._made_by(part, NEG)) is not None:
                return self._with_factor(inner.args[0], around)
            product = next((made for fn in _PRODUCTS if (made := self._made_by(part, fn)) is not None), None)
            if product is None:
                continue
            first, second = product.args
            if (opposite := self._opposite(first)) is not None:
                return self._with_factor(opposite, (part, product, 0, around))
            if self.still(first):
                waiting.append((second, (part, product, 1, around)))
            waiting.append((first, (part, product, 0, around)))
        return None

    def _with_factor(self, factor: Atom, around: _Around) -> tuple[list[Assign], Atom]:
        """The products that a factor stands in, the innermost first, made with this one in its place."""
        made: list[Assign] = []
        while around is not None:
            like, product, place, around = around
            args = (factor, product.args[1]) if place == 0 else (product.args[0], factor)
            made.append(self._let(Assign("", Lit(None), self.unit.function.span), Op(product.fn, args), like))
            factor = Var(made[-1].target)
        return made, factor

    def _opposite(self, factor: Atom) -> Atom | None:
        """A number, or what the factor is the opposite of; a name of ours may have other readers."""
        if isinstance(factor, Lit) and type(factor.value) in (int, float):
            assert isinstance(factor.value, int | float)
            return Lit(-factor.value) if factor.value < 0 else None
        made = self.expr(factor)
        ours = isinstance(factor, Var) and (factor.name.startswith("%") or self._alone(factor))
        if not (ours and isinstance(made, Op) and made.fn is NEG):
            return None
        stays = self.still(made.args[0]) or self.current(factor) is made
        return made.args[0] if stays and self.real(factor) else None

    def _sum(self, s: Assign, plus: bool, a: Atom, b: Atom) -> Sequence[Statement] | None:
        if not (self.real(a) and self.real(b)):
            return None
        if (joined := self._twice(s, ADD if plus else SUB, a, b)) is not None:
            return joined
        inner = self._unsigned(b)
        if inner is not None:
            made, atom = inner
            made = [Assign(m.target, m.value, s.span) for m in made]
            return (*made, Assign(s.target, Op(SUB if plus else ADD, (a, atom)), s.span))
        if plus and (inner := self._unsigned(a)) is not None:
            made = [Assign(m.target, m.value, s.span) for m in inner[0]]
            return (*made, Assign(s.target, Op(SUB, (b, inner[1])), s.span))
        return None

    def _twice(self, s: Assign, fn: Callable[..., Any], a: Atom, t: Atom) -> Sequence[Statement] | None:
        """``x + t + t`` as ``x + 2.0 * t``, ``x - t - t`` as ``x - 2.0 * t``, ``t + t`` as ``2.0 * t``."""
        if not (self._doubles(t) and self.still(t)):
            return None
        if fn is ADD and self._alike(a, t):
            return self._doubled(s, fn, None, t)
        before = self._made_by(a, fn)
        if before is not None and self._alike(before.args[1], t):
            return self._doubled(s, fn, before.args[0], t)
        return None

    def _alike(self, a: Atom, b: Atom) -> bool:
        if a == b:
            return isinstance(a, Var)
        one, two = self.expr(a), self.expr(b)
        if not (isinstance(one, Op) and isinstance(two, Op)) or one.fn is not two.fn or one.kwargs or two.kwargs:
            return False
        if repr(one.args) == repr(two.args):
            as_now = self.current(a) is one and self.current(b) is two
            return as_now or all(self.still(x) for x in (*one.args, a))
        factors = self._factors(a)
        return one.fn is MUL and "" not in factors and factors == self._factors(b)

    def _factors(self, atom: Atom, depth: int = 3) -> list[str]:
        """The number and the names whose product an atom is, in order; "" among them where one may change."""
        if isinstance(atom, Lit):
            return [repr(atom.value)]
        made = self.expr(atom) if depth else None
        if isinstance(made, Op) and made.fn is MUL and all(self.still(x) for x in made.args):
            return sorted(f for x in made.args for f in self._factors(x, depth - 1))
        return [atom.name if isinstance(atom, Var) and self.still(atom) else ""]

    def _doubles(self, t: Atom) -> bool:
        kind = self.kind(t)
        if isinstance(kind, Num):
            return kind.type in (float, np.float64, complex, np.complex128)
        return isinstance(kind, Arr) and is_array(kind) and kind.rank not in (0, None)

    def _double(self, factor: Atom) -> Op:
        """Twice the factor; a number in it is doubled."""
        inner = self._made_by(factor, MUL)
        number = inner.args[0].value if inner is not None and isinstance(inner.args[0], Lit) else None
        if inner is None or type(number) is not float:
            return Op(MUL, (Lit(2.0), factor))
        return Op(MUL, (Lit(2.0 * number), inner.args[1]))

    def _doubled(self, s: Assign, fn: Callable[..., Any], base: Atom | None, t: Atom) -> Sequence[Statement]:
        product = self.expr(t)
        stays = isinstance(product, Op) and (all(map(self.still, product.args)) or self.current(t) is product)
        if isinstance(product, Op) and product.fn in _PRODUCTS and stays:
            factor = self._let(s, self._double(product.args[0]), product.args[0])
            value = Op(product.fn, (Var(factor.target), product.args[1]))
            made = [factor] if not isinstance(product.args[0], Lit) else []
            if not made:
                value = Op(MUL, (Lit(2.0 * product.args[0].value), product.args[1]))  # type: ignore[union-attr, operator]
        else:
            made, value = [], Op(MUL, (Lit(2.0), t))
        if base is None:
            return (*made, Assign(s.target, value, s.span))
        last = self._let(s, value, t)
        return (*made, last, Assign(s.target, Op(fn, (base, Var(last.target))), s.span))


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Moves signs to the front, and joins equal contributions."""
    return run_each(program, units, Signs)
