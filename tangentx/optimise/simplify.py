"""Algebraic simplification: operations without effect, or with a simpler equivalent, for the kinds and shapes at
hand."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Num, Region, is_array, is_elsewhere
from tangentx.ir.nodes import Assign, Atom, If, Lit, Op, Statement, Var
from tangentx.ir.walk import atoms
from tangentx.optimise.facts.aliasing import viewed
from tangentx.optimise.facts.finite_values import bindings, no_less
from tangentx.optimise.facts.shape_arithmetic import Lengths
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import MUL, NEG, SUB, Rules, is_number, run_each

_VIEWS = (np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.ndarray.transpose, np.ndarray.swapaxes)
_FLOATS = (float, np.float64)
_COMPLEX = (complex, np.complex128, np.complex64)
Rule = Callable[["Simplify", Assign, Op], "Sequence[Statement] | Statement | None"]


class Simplify(Rules):
    """One rule for each operation; what the user computes is left as it is."""

    anywhere = True

    def is_viewed(self, region: Region) -> bool:
        """Whether anything takes views of the memory by strides."""
        return region.root() in self.walk.of_all(viewed)

    def branch(self, s: If) -> Sequence[Statement] | None:
        """The way that is always taken."""
        if not isinstance(s.test, Lit):
            return None
        return s.body if s.test.value else s.orelse

    def operation(self, s: Assign, op: Op) -> Sequence[Statement] | None:
        """The statement by the rule for its operation."""
        rule = None if op.kwargs else _rule(op.fn)
        if rule is None or not (self.walk.ours or rule in _ANYWHERE):
            return None
        new = rule(self, s, op)
        return new if new is None or isinstance(new, Sequence) else (new,)


def _mul(p: Simplify, s: Assign, op: Op) -> Sequence[Statement] | Statement | None:
    a, b = op.args
    if is_number(a, 1.0) and p.real(b):
        return p.same(s, b)
    if is_number(b, 1.0) and p.real(a):
        return p.same(s, a)
    if is_number(a, -1.0) and p.real(b):
        return replace(s, value=Op(NEG, (b,)))
    if isinstance(b, Lit) and not isinstance(a, Lit):
        return replace(s, value=Op(op.fn, (b, a)))
    return _scalar_factor(p, s, a, b)


def _scalar_factor(p: Simplify, s: Assign, a: Atom, b: Atom) -> Statement | None:
    """``a * b`` where `b` repeats a number over the shape of `a`: the number will do."""
    made, kind = p.expr(b), p.kind(a)
    if not (isinstance(made, Op) and made.fn is arrays.unreduce and is_array(kind) and isinstance(kind, Arr)):
        return None
    number = made.args[0]
    if p.shape(a) is None or p.shape(a) != p.shape(b) or kind.dtype != np.float64 or kind.rank == 0:
        return None
    plain = p.kind(number)
    if not (isinstance(plain, Num) and plain.type in _FLOATS):
        return None
    return replace(s, value=Op(s.value.fn if isinstance(s.value, Op) else MUL, (a, number)))


def _sub(p: Simplify, s: Assign, op: Op) -> Statement | None:
    a, b = op.args
    kind = p.kind(a)
    plain = isinstance(kind, Num) and kind.type in (int, *_FLOATS)
    return p.same(s, a) if plain and isinstance(b, Lit) and type(b.value) is int and b.value == 0 else None


def _neg(p: Simplify, s: Assign, op: Op) -> Statement | None:
    inner = p.expr(op.args[0])
    if isinstance(op.args[0], Lit) and type(op.args[0].value) in (int, float):
        return replace(s, value=Lit(-op.args[0].value))  # type: ignore[operator]
    if isinstance(inner, Op) and inner.fn is NEG and p.still(inner.args[0]):
        return p.same(s, inner.args[0])
    return None


def _guarded(p: Simplify, s: Assign, op: Op) -> Statement | None:
    partial, t = op.args
    if isinstance(partial, Lit) and partial.is_tame:
        return replace(s, value=Op(MUL, (partial, t)))
    return _scalar_factor(p, s, partial, t)


def _unbroadcast(p: Simplify, s: Assign, op: Op) -> Sequence[Statement] | Statement | None:
    t, like = op.args
    if not p.unit.exact:
        return None
    given, wanted = p.kind(t), p.kind(like)
    if isinstance(given, Num) and isinstance(wanted, Num):
        either = wanted.type in _COMPLEX and wanted.types  # where it is real, so is its cotangent
        return p.same(s, t) if _number_fits(given.type, wanted.type) and not either else None
    if isinstance(wanted, Num) and wanted.type in _FLOATS and isinstance(given, Arr) and _plain(given):
        if wanted.type is np.float64 or is_elsewhere(given):
            return replace(s, value=Op(np.sum, (t,)))
        total = p.let(s, Op(np.sum, (t,)), Num(np.float64))
        return (total, replace(s, value=Op(float, (Var(total.target),))))
    if not (is_array(given) and is_array(wanted) and isinstance(given, Arr) and isinstance(wanted, Arr)):
        return None
    shape = p.shape(like)
    if given.dtype != wanted.dtype or shape is None or shape != p.shape(t):
        return None
    return p.same(s, t) or p.walk.passed(s, t)


def _of_rule(p: Simplify, s: Assign, op: Op) -> Statement | None:
    """What a rule gives is not looked at where kinds and shapes show that it fits."""
    t, like = op.args[:2]
    numbers = isinstance(p.kind(t), Num) and isinstance(p.kind(like), Num)
    shape = p.shape(like) if is_array(p.kind(like)) and is_array(p.kind(t)) else None
    fits = numbers or (shape is not None and shape == p.shape(t))
    return replace(s, value=Op(arrays.unbroadcast, (t, like))) if fits else None


def _plain(kind: Arr) -> bool:
    return is_array(kind) and kind.dtype == np.float64


def _number_fits(given: type, wanted: type) -> bool:
    """Whether a number of that type is as good a cotangent as one of the type that is wanted."""
    if wanted is complex:
        return True
    if wanted in _FLOATS:
        return given in _FLOATS or (wanted is float and given in (int, np.float32, np.float16))
    return given is wanted


def _clone(p: Simplify, s: Assign, op: Op) -> Statement | None:
    """A number, and an array that nobody else has, are as good as a copy."""
    made, mine = p.kind(op.args[0]), p.unit.kinds.get(s.target)
    if isinstance(made, Num):
        return replace(s, value=op.args[0])
    if not (isinstance(made, Arr) and isinstance(mine, Arr) and made.sure and p.walk.own(op.args[0])):
        return None
    formed = p.expr(op.args[0])
    if formed is None or not all(isinstance(p.kind(a), Arr | Num) for a in atoms(formed)):
        return None  # a container may hold it
    mine.region.unite(made.region)
    return replace(s, value=op.args[0])


def _zero(p: Simplify, s: Assign, op: Op) -> Statement | None:
    kind, result = p.kind(op.args[0]), p.unit.kinds.get(s.target)
    if isinstance(kind, Num):
        return replace(s, value=Lit(0.0)) if kind.type in _FLOATS else None
    plain = isinstance(kind, Arr) and is_array(kind) and kind.dtype.kind in "fc"
    if not (plain and isinstance(kind, Arr) and isinstance(result, Arr)) or p.is_viewed(result.region):
        return None
    sizes = [n for n in shape if type(n) is int] if isinstance(shape := p.shape(op.args[0]), Lengths) else []
    if kind.dtype == np.float64 and sizes and len(sizes) == kind.rank:
        return replace(s, value=Op(np.zeros, (Lit(sizes[0] if len(sizes) == 1 else tuple(sizes)),)))
    return replace(s, value=Op(np.zeros_like, op.args))


def _ratio(p: Simplify, s: Assign, op: Op) -> Statement | None:
    a, b = op.args
    if isinstance(b, Lit) and type(b.value) in (int, float) and b.value != 0 and p.real(a):
        return replace(s, value=Op(operator.truediv, (a, b)))
    return None


def _power_slope(p: Simplify, s: Assign, op: Op) -> Sequence[Statement] | None:
    x, y = op.args
    single = s.target.startswith("%") and p.bindings[s.target] == 1
    if not (isinstance(y, Lit) and type(y.value) in (int, float) and single and p.real(x)):
        return None
    if y.value == 1:
        p.unit.kinds[s.target] = Num(float)
        return (replace(s, value=Lit(1.0)),)
    if y.value == 2:
        return (replace(s, value=Op(MUL, (Lit(2.0), x))),)
    exponent = float(y.value)  # type: ignore[arg-type]
    if exponent in (3, 4, 5):
        lower = p.let(s, Op(operator.pow, (x, Lit(int(exponent) - 1))), p.kind(Var(s.target)))
        return (lower, replace(s, value=Op(MUL, (Lit(exponent), Var(lower.target)))))
    return _slope_above_one(p, s, x, y.value) if 1 < exponent <= 32 else None  # type: ignore[arg-type]


def _slope_above_one(p: Simplify, s: Assign, x: Atom, exponent: float) -> Sequence[Statement] | None:
    """``1.5 * x ** 0.5`` for the slope of ``x ** 1.5``, which is infinite, or no real number, where the power is.

    A float below 0 would give a complex number, which the slope refuses. ``x ** 0.5`` of an array is its root, which is
    no power where an element is -inf.
    """
    kind, positive = p.kind(x), no_less(p.unit.found(bindings), x)
    number = isinstance(kind, Num) and not kind.none and kind.types in ((np.float64,), frozenset((np.float64,)))
    whole = isinstance(kind, Arr) and is_array(kind) and kind.sure and kind.dtype.kind == "f"
    if not (whole or number or (positive and isinstance(kind, Num) and kind.type in _FLOATS)):
        return None
    power = np.power if whole and exponent == 1.5 and not positive else operator.pow
    lower = p.let(s, Op(power, (x, Lit(exponent - 1))), p.kind(Var(s.target)))
    return (lower, replace(s, value=Op(MUL, (Lit(float(exponent)), Var(lower.target)))))


def _real_part(p: Simplify, s: Assign, op: Op) -> Statement | None:
    kind = p.kind(op.args[0])
    dtype = np.dtype(kind.type) if isinstance(kind, Num) else kind.dtype if isinstance(kind, Arr) else None
    if len(op.args) == 1 and dtype is not None and dtype.kind == "f":
        return p.same(s, op.args[0])
    return None


def _shares(p: Simplify, s: Assign, op: Op) -> Statement | None:
    new, base = op.args
    mine, theirs = p.kind(new), p.kind(base)
    if not (isinstance(mine, Arr) and isinstance(theirs, Arr)) or mine.region.root() is not theirs.region.root():
        return replace(s, value=Lit(False))
    made = p.expr(new)
    if isinstance(made, Op) and made.fn in _VIEWS and made.args[0] == base and is_array(theirs):
        return replace(s, value=Lit(True))
    return None


def _power(p: Simplify, s: Assign, op: Op) -> Statement | None:
    return p.same(s, op.args[0]) if is_number(op.args[1], 1) and p.real(op.args[0]) else None


def _real_power(p: Simplify, s: Assign, op: Op) -> Statement | None:
    """A power of what is no less than 0 is real."""
    return replace(s, value=Op(operator.pow, op.args)) if no_less(p.unit.found(bindings), op.args[0]) else None


_RULES: dict[Any, Rule] = {
    MUL: _mul,
    np.multiply: _mul,
    SUB: _sub,
    NEG: _neg,
    operator.pow: _power,
    arrays.guarded: _guarded,
    arrays.unbroadcast: _unbroadcast,
    arrays.of_rule: _of_rule,
    arrays.clone: _clone,
    arrays.zero: _zero,
    arrays.real_zero: _zero,
    arrays.ratio: _ratio,
    arrays.quotient: _ratio,
    arrays.power_slope: _power_slope,
    arrays.real_power: _real_power,
    np.conj: _real_part,
    np.real: _real_part,
    arrays.shares: _shares,
}
_ANYWHERE = (_clone, _zero, _shares, _unbroadcast, _guarded, _ratio, _power_slope, _real_power)


def _rule(fn: Any) -> Rule | None:
    try:
        return _RULES.get(fn)
    except TypeError:
        return None


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Writes operations more plainly."""
    return run_each(program, units, Simplify)
