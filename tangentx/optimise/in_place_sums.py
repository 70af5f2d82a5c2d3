"""Accumulation in place: sums over the trips of a loop are added up in one array.

    w_bar = np.zeros_like(w)
    for ...:
        w_bar += x.T @ t                # for w_bar = w_bar + x.T @ t

The array is one that the function has made, before any loop, and to which no other name, view or container ever refers:
all that is read of it goes into new arrays, or is given back at the end. What is added has its shape and its dtype, so
that the sum has them, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, is_array
from tangentx.analysis.types.primitives import makes_new
from tangentx.ir.nodes import WHOLE, Accumulate, Assign, Atom, Expr, For, Loop, Make, Op, Return, Statement, Var
from tangentx.ir.walk import reads, statements, writes
from tangentx.optimise.facts.shape_arithmetic import Lengths
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import ADD, NEG, SUB, Rewriter

_ZEROS = (np.zeros, np.zeros_like, arrays.real_zero, arrays.zero)


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Adds up in place; True if anything changed."""
    changed = False
    for unit in units:
        if names := _own(unit):
            body = _Sums(program, unit, names).whole()
            changed = changed or body is not unit.body
            unit.body = body
    return changed


def _own(unit: Unit) -> frozenset[str]:
    """The names of arrays of the function's own that loops add to, and nothing else refers to."""
    inside = {id(s) for loop in unit.statements() if isinstance(loop, For | Loop) for s in statements(loop.body)}
    found, other = set[str](), {param.name for param in unit.function.params}
    returned = {name for s in unit.statements() if isinstance(s, Return) for name in reads(s)}
    read, bound = unit.counts()
    made = {
        s.target: s.value for s in unit.statements() if isinstance(s, Assign) and bound[s.target] == read[s.target] == 1
    }
    for s in unit.statements():
        value = s.value if isinstance(s, Assign) else None
        if isinstance(s, Assign) and bound[s.target] > 1 and _adds_to(s.value, s.target, made):  # once: it has no sum
            found.add(s.target)
        elif not (isinstance(value, Op) and value.fn in _ZEROS and id(s) not in inside):
            other.update(writes(s))
        harmless = isinstance(s, Return) or (isinstance(value, Op) and makes_new(value.fn))
        if not (harmless or (isinstance(value, Make) and isinstance(s, Assign) and s.target in returned)):
            other.update(reads(s))
    kinds = {name: unit.kinds.get(name) for name in found - other}
    return frozenset(
        n for n, k in kinds.items() if is_array(k) and isinstance(k, Arr) and k.dtype == np.float64 and k.rank
    )


def _adds_to(value: Expr | None, name: str, made: Mapping[str, Expr]) -> bool:
    """Whether it is a sum that begins with the name, of which what comes before the last term is read by it alone."""
    for _ in range(len(made) + 1):  # names of a program that cannot run may be made of one another in a circle
        if not (isinstance(value, Op) and value.fn in (ADD, SUB) and len(value.args) == 2 and not value.kwargs):
            return False
        first, last = value.args
        if last == Var(name):
            return value.fn is ADD and first != last
        if not isinstance(first, Var):
            return False
        if first.name == name:
            return True
        value = made.get(first.name)
    return False


class _Sums(Rewriter):
    """Writes sums in loops as contributions."""

    def __init__(self, program: Program, unit: Unit, names: frozenset[str]) -> None:
        super().__init__(program, unit)
        self.names = names

    def rewrite(self, s: Statement) -> Iterable[Statement]:
        """The statement, in place where it is in a loop."""
        if not (self.in_loop and isinstance(s, Assign) and s.target in self.names):
            return (s,)
        whole, terms = Var(s.target), list[tuple[bool, Atom]]()
        if not self._collect(s.value, whole, terms) or not all(self._fits(t, whole) for _, t in terms):
            return (s,)
        kind = self.kind(whole)
        assert isinstance(kind, Arr)
        kind.region.root().written = True
        made, total = self._total(s, terms)
        return *made, Accumulate(whole, WHOLE, total, s.span)

    def _total(self, s: Assign, terms: Sequence[tuple[bool, Atom]]) -> tuple[list[Assign], Atom]:
        """What makes the sum of the terms, and its name."""
        (plus, total), *others = terms
        made: list[Assign] = []

        def let(fn: object, *args: Atom) -> Atom:
            made.append(self.let(s, Op(fn, args), self.kind(args[0])))  # type: ignore[arg-type]
            return Var(made[-1].target)

        for sign, t in others:
            if plus == sign:
                total = let(ADD, total, t)
            else:
                total = let(SUB, total, t) if plus else let(SUB, t, total)
            plus = plus or sign
        return made, total if plus else let(NEG, total)

    def _collect(self, value: Expr | None, whole: Var, terms: list[tuple[bool, Atom]]) -> bool:
        """The terms that are added to an array, each with whether it is added; False where it is no such sum."""
        if not (isinstance(value, Op) and value.fn in (ADD, SUB) and len(value.args) == 2):
            return False
        first, last = value.args
        if last == whole:
            terms.append((True, first))
            return value.fn is ADD
        if first != whole and not self._collect(self.current(first), whole, terms):
            return False
        terms.append((value.fn is ADD, last))
        return True

    def _fits(self, t: Atom, whole: Var) -> bool:
        """Whether what is added has the shape and the dtype of the array."""
        given, kind, shape = self.kind(t), self.kind(whole), self.shape(t)
        alike = is_array(given) and isinstance(given, Arr) and isinstance(kind, Arr) and given.dtype == kind.dtype
        return alike and isinstance(shape, Lengths) and shape == self.shape(whole)
