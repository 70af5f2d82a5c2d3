"""Propagation of zeros: a cotangent to which nothing has been added yet is left out of sums, products and writes."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence

import numpy as np

from tangentx import arrays, templates
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Box, Num
from tangentx.ir.nodes import Accumulate, Assign, Atom, Expr, Index, Link, Lit, Op, Statement, Store, Var
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import ADD, MUL, NEG, SUB, Rules, run_each

_MAKING = (arrays.zero, arrays.real_zero, arrays.zeros_as, np.zeros_like)
_FIRST = (NEG, np.negative, np.conj, np.real, operator.truediv, np.divide, arrays.unbroadcast, arrays.alike,
          arrays.spread, arrays.unreduce, arrays.clone, arrays.give_best)  # fmt: skip
_FLOATS = (float, np.float64)


class Zeros(Rules):
    """Zeros are known in the reverse sweep alone: what the user computes is left as it is."""

    tells_zeros = True

    @classmethod
    def ahead(cls, units: Sequence[Unit]) -> Mapping[Link, object]:
        """Positions of the parameters that every call gives a zero, by function."""
        given = _given_zero(units)
        return {unit.link: () if unit.outer else tuple(sorted(given.get(unit.link, ()))) for unit in units}

    def begin(self, known: object) -> None:
        """The parameters at those positions are zeros."""
        env = self.walk.env
        assert isinstance(known, tuple) and env is not None
        for i in known:
            name = self.unit.function.params[i].name
            env[name] = env[name]._replace(zero=True)

    def nothing(self, atom: Atom) -> bool:
        """Whether the atom is a known zero."""
        if isinstance(atom, Lit):
            return type(atom.value) is float and atom.value == 0.0
        return self.walk.fact(atom).zero

    def is_zero(self, s: Assign) -> bool:
        """Whether the statement binds a known zero that no write can reach."""
        return self._is_nothing(s.value) and self._keeps(s)

    def _is_nothing(self, value: Expr) -> bool:
        match value:
            case Var() | Lit():
                return self.nothing(value)
            case Index(base=base):
                return self.nothing(base) and isinstance(self.kind(base), Box)
            case Op(fn=fn, args=(a,)) if fn in _MAKING:
                return self.still(a) or isinstance(self.kind(a), Num)
            case Op(fn=np.zeros, args=(Lit(),), kwargs=()):
                return True
            case Op(fn=fn, args=(a, b)) if fn in (MUL, arrays.guarded):
                return self.nothing(a) or self.nothing(b)
            case Op(fn=fn, args=(a, b)) if fn in (ADD, SUB):
                return self.nothing(a) and self.nothing(b)
            case Op(fn=fn, args=(a, *_)) if fn in _FIRST:
                return self.nothing(a)
            case Op(fn=np.linalg.solve, args=(_, b), kwargs=()):
                return self.nothing(b)
            case Op(kwargs=()) if any(map(self.nothing, value.args)):
                return self._is_linear_in_nothing(value)
        return False

    def _is_linear_in_nothing(self, op: Op) -> bool:
        """Whether the operation is linear in zeros, by its template."""
        template = templates.find(op.fn)
        if template is None or template.kind not in ("linear", "bilinear"):
            return False
        if any(p.kind is p.VAR_POSITIONAL for p in template.params):
            return False
        active = [a for a, p in zip(op.args, template.params, strict=False) if p.name in template.cotangents]
        return (all if template.kind == "linear" else any)(map(self.nothing, active))

    def _keeps(self, s: Assign) -> bool:
        """Whether what is bound stays what it is: no write can reach it."""
        kind = self.kind(Var(s.target))
        made = isinstance(s.value, Op) and s.value.fn is arrays.give_best
        return made if isinstance(kind, Box) else self.still(Var(s.target))

    def write(self, s: Store | Accumulate) -> Sequence[Statement] | None:
        """A zero contributes nothing."""
        return () if type(s) is Accumulate and self.nothing(s.value) else None

    def operation(self, s: Assign, op: Op) -> Sequence[Statement] | None:
        """The statement without its known zeros."""
        if op.fn is ADD and len(op.args) == 2 and self._stays(s, *op.args):
            return ()
        new = self._less(s, op)
        return None if new is None else (new,)

    def _stays(self, s: Assign, a: Atom, b: Atom) -> bool:
        """Whether a zero is added to what the name is bound to already, and nothing writes into that."""
        return a == Var(s.target) and self.nothing(b) and self.still(a) and self._fits(a, b)

    def _less(self, s: Assign, op: Op) -> Statement | None:
        if isinstance(self.unit.kinds.get(s.target), Num) and self._is_nothing(op):
            return Assign(s.target, Lit(0.0), s.span)
        if op.fn not in (ADD, SUB) or len(op.args) != 2:
            return None
        a, b = op.args
        if self.nothing(b) and self._fits(a, b):
            return self.walk.equal(s, a)
        if self.nothing(a) and self._fits(b, a):
            return self.walk.equal(s, b) if op.fn is ADD else Assign(s.target, Op(NEG, (b,)), s.span)
        return None

    def _fits(self, atom: Atom, zero: Atom) -> bool:
        """Whether adding that zero to the atom changes neither its type nor its shape."""
        kind, other = self.kind(atom), self.kind(zero)
        if not self.real(atom):
            return False
        if isinstance(other, Num):
            alike = isinstance(kind, Num) and (kind.type is other.type or {kind.type, other.type} <= set(_FLOATS))
            return isinstance(zero, Lit) or alike
        shape = self.shape(zero)
        same = isinstance(kind, Arr) and isinstance(other, Arr) and kind.dtype == other.dtype
        return same and shape is not None and shape == self.shape(atom)


def _given_zero(units: Sequence[Unit]) -> dict[Link, set[int]]:
    """Positions of the parameters that every call gives a zero, by function."""
    found: dict[Link, set[int]] = {}
    for unit in units:
        for _, call in unit.calls():
            zeros = {i for i, a in enumerate(call.args) if isinstance(a, Lit) and repr(a.value) == "0.0"}
            found[call.link] = found[call.link] & zeros if call.link in found else zeros
    return found


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Leaves out what is known to be zero."""
    return run_each(program, units, Zeros)
