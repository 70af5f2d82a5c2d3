"""Elimination of guards: a product is guarded against ``0 * inf`` only where a cotangent may be exactly 0 because an
element was not selected, or was overwritten.

The product of a cotangent with a partial is guarded against ``0 * inf``. Three cases, from the most careful:

* something selects (`where`, a mask, a maximum): the arguments themselves may hold infinities in the elements that are
  not selected, so every guard stays;
* a cotangent may be exactly 0 by structure, after an overwrite, a branch that was not taken, a part of an array that
  was not read, an operation of which that is not known, or because the seed is not one number: the guards of those
  partials stay that may be infinite for finite arguments;
* neither: no guard is needed.

None is needed either, whatever else the program does, where a cotangent is full (see `dense`). The weights of a maximum
are finite; they need a guard where what they choose from may be infinite for finite arguments.

In forward mode of a program that selects nothing, a partial that is infinite only where the result is infinite too, as
that of a quotient, needs none: there is no tangent of such a result.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Block,
    Call,
    Delete,
    Expr,
    For,
    If,
    Index,
    Key,
    Lit,
    Loop,
    Make,
    Op,
    Return,
    Slice,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import atoms, reads, statement_atoms, statements
from tangentx.optimise.facts.dataflow import sweeps
from tangentx.optimise.facts.finite_values import BOUNDED, Unbounded, among
from tangentx.optimise.facts.nonzero_cotangents import Dense, weights
from tangentx.optimise.facts.tangent_names import of_tangents
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import is_number

_NAMES = (
    "where select choose ptp nanmax nanmin nansum nanmean nanprod "
    "nanstd nanvar nanmedian nanquantile nanpercentile nancumsum nancumprod sort partition argsort argpartition median "
    "percentile quantile "
    "compress extract piecewise nan_to_num nonzero flatnonzero argwhere isnan isfinite isinf"
).split()
_METHODS = ("sort", "partition", "choose", "compress", "nonzero", "argsort")
SELECTING: frozenset[Any] = (
    frozenset(getattr(np, name) for name in _NAMES)
    | frozenset(getattr(np.ndarray, name) for name in _METHODS)
    | {arrays.share, arrays.ties, arrays.give_best, arrays.take_best, arrays.winners, arrays.put_along}
    | {arrays.unsort, arrays.sorted_as, arrays.unrun, arrays.running_as, arrays.at_quantile, arrays.from_quantile}
)
"""A maximum that a cotangent passes through leaves its weights in the reverse sweep; one that none does is harmless."""
_HARMLESS: frozenset[Any] = BOUNDED | {
    operator.truediv, operator.pow, np.true_divide, np.power, np.sqrt, np.cbrt, np.exp, np.expm1, np.log, np.log1p,
    np.log2, np.log10, np.exp2, np.sinh, np.cosh, np.tan, np.arcsin, np.arccos, np.reciprocal, np.var, np.std,
    arrays.ratio, arrays.over_root, arrays.quotient, arrays.power_slope, math.sqrt, math.log, math.log2,
    math.log10, math.log1p, math.asin, math.acos, math.tan,
}  # fmt: skip
"""What gives every element of its operands a part in the result, so that no cotangent is 0 by its structure."""
_ZEROS = (arrays.zero, arrays.real_zero, arrays.zeros_as, np.zeros_like, np.zeros)


def _ops(units: Sequence[Unit]) -> Iterator[Op]:
    for unit in units:
        for s in unit.statements():
            if isinstance(s, Assign) and isinstance(s.value, Op):
                yield s.value


def _selects(program: Program, units: Sequence[Unit]) -> bool:
    """Whether anything chooses among elements: an operation, a mask."""
    if any(among(op.fn, SELECTING) for op in _ops(units)):
        return True
    return any(_is_mask(program, unit, key) for unit in units for _, key in _keys(unit))


_DROPPING: frozenset[Any] = frozenset(
    getattr(np, name)
    for name in (
        "where select choose compress extract piecewise nan_to_num nansum nanmean nanprod nanmax nanmin nanstd nanvar "
        "nancumsum nancumprod nonzero flatnonzero argwhere isnan isfinite isinf fmax fmin"
    ).split()
)
"""What leaves out elements whatever they are, or asks which are finite."""


def drops(units: Sequence[Unit]) -> bool:
    """Whether anything leaves out elements that may be infinite or no numbers: `where` and its like, a mask."""
    if any(among(op.fn, _DROPPING) for op in _ops(units)):
        return True
    parts = (unit.kinds.get(part.name) for unit in units for _, key in _keys(unit) for part in _names(key))
    return any(isinstance(kind, Arr) and kind.dtype.kind == "b" for kind in parts)


def _names(key: Key) -> Iterator[Var]:
    return (part for part in key.parts if isinstance(part, Var))


def _keys(unit: Unit) -> Iterator[tuple[Statement, Key]]:
    for s in unit.statements():
        if isinstance(s, Store | Accumulate | Delete):
            yield s, s.key
        elif isinstance(s, Assign) and isinstance(s.value, Index):
            yield s, s.value.key


def _is_mask(program: Program, unit: Unit, key: Key) -> bool:
    kinds = [unit.kind(program, part) for part in key.parts if not isinstance(part, Slice)]
    return any(isinstance(k, Arr) and k.dtype.kind == "b" for k in kinds)


def _may_be_zero(program: Program, units: Sequence[Unit]) -> bool:
    """Whether some cotangent may be exactly 0 by the structure of the program."""
    params = units[0].function.params
    if not (params and params[-1].default == Lit(1.0)):
        return True  # the seed is given from outside, and may be a unit vector
    if any(not among(op.fn, _HARMLESS) for op in _ops(units)):
        return True
    return any(_takes_part(program, unit) or _has_zeros(unit) for unit in units)


def _takes_part(program: Program, unit: Unit) -> bool:
    """Whether an element of an array or container is written over; or read alone, out of an array."""
    for s, key in _keys(unit):
        base = s.value.base if isinstance(s, Assign) and isinstance(s.value, Index) else getattr(s, "base", Lit(None))
        if isinstance(s, Store) or (isinstance(unit.kind(program, base), Arr) and key.parts != (Lit(Ellipsis),)):
            return True
    return False


def _has_zeros(unit: Unit) -> bool:
    """Whether a zero may be taken for a cotangent; one that a sum starts from, and that is given back, is none."""
    forward, reverse = sweeps(unit.function)
    names = {s.target for s in statements(reverse) if isinstance(s, Assign) and _is_zero(s)}
    every = unit.statements()
    if any(isinstance(s, Assign) and isinstance(s.value, Op) and s.value.fn in _ZEROS for s in statements(forward)):
        return True
    handed = [s for s in every if isinstance(s, Append | Store) or _hands_on(s)]
    if any(is_number(atom, 0.0) for s in handed for atom in statement_atoms(s)):
        return True
    return any(names & reads(s) and not (unit.outer and _sums(s, names)) for s in every)


def _is_zero(s: Assign) -> bool:
    if isinstance(s.value, Op):
        return among(s.value.fn, frozenset(_ZEROS))
    return isinstance(s.value, Lit) and is_number(s.value, 0.0)


def _hands_on(s: Statement) -> bool:
    return isinstance(s, Assign) and isinstance(s.value, Make | Call)


def _sums(s: Statement, names: set[str]) -> bool:
    """``x_bar = x_bar + t``, or the result."""
    if isinstance(s, Return):
        return True
    if not isinstance(s, Assign):
        return False
    if isinstance(s.value, Make):
        return s.value.cls is tuple and s.target.startswith("%")
    read = [a.name for a in atoms(s.value) if isinstance(a, Var) and a.name in names]
    if isinstance(s.value, Op) and s.value.fn is arrays.finish:
        return read == [s.target]
    return isinstance(s.value, Op) and s.value.fn in (operator.add, operator.sub) and len(read) == 1


def concerns(units: Sequence[Unit]) -> bool:
    """Whether any product is guarded."""
    return any(op.fn is arrays.guarded for op in _ops(units))


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Makes plain products of those guarded ones that need no guard."""
    if not concerns(units):
        return False
    changed = _of_full_cotangents(program, units[0])
    selects = _selects(program, units)
    of_primal = units[0].function.notes.get("of primal", False)
    infinite = Unbounded(units) if selects or _may_be_zero(program, units) else None
    risky = Unbounded(units, of_primal) if of_primal and infinite is not None else infinite
    for unit in units:
        needed = _Needed(unit, risky, infinite, selects, of_primal)
        forward, reverse = sweeps(unit.function)
        parts = [_plain(forward, needed) if of_primal or needed.tangents else forward, _plain(reverse, needed)]
        if parts[0] is not forward or parts[1] is not reverse:
            unit.body, changed = (*parts[0], *parts[1]), True
    return changed


def _of_full_cotangents(program: Program, unit: Unit) -> bool:
    """Takes guards of full cotangents away; the seed of a gradient is one number."""
    params = unit.function.params
    if not (params and params[-1].default == Lit(1.0) and concerns((unit,))):
        return False
    if any(isinstance(s, Assign) and _guards(s.value) for s in statements(sweeps(unit.function)[0])):
        return False  # what a derivative inside gives is a value here, and full of nothing
    body = Dense(program, unit, SELECTING, _HARMLESS).whole()
    if body is unit.body:
        return False
    unit.body = body
    return True


def _guards(value: Expr) -> bool:
    return isinstance(value, Op) and value.fn is arrays.guarded


class _Needed:
    """Which guards of a function are needed. Those in a forward sweep are of a derivative inside, for which all of them
    that were not needed have gone already; unless they are of tangents."""

    def __init__(
        self, unit: Unit, risky: Unbounded | None, infinite: Unbounded | None, selects: bool, of_primal: bool
    ) -> None:
        self.tangents, self.of_primal = unit.found(of_tangents), of_primal
        self.unit, self.risky, self.infinite, self.selects = unit, risky, infinite, selects
        self.weights = weights(unit)

    def may_go(self, target: str) -> bool:
        """Whether the guard that gives a name is one of the derivative that is made here."""
        return self.of_primal or not self.tangents or target in self.tangents

    def guard(self, a: Atom, t: Atom) -> bool:
        """Whether ``guarded(a, t)`` has to stay."""
        if self.infinite is not None and isinstance(a, Var) and a.name in self.weights:
            return self.infinite.holds(self.unit, t)
        return self.selects or (self.risky is not None and self.risky.holds(self.unit, a))


def _plain(block: Block, needed: _Needed) -> Block:
    out: list[Statement] = []
    for s in block:
        match s:
            case Assign(target, Op(fn=arrays.guarded, args=(a, t))) if needed.may_go(target) and not needed.guard(a, t):
                out.append(replace(s, value=Op(operator.mul, (a, t))))
            case If():
                body, orelse = _plain(s.body, needed), _plain(s.orelse, needed)
                same = body is s.body and orelse is s.orelse
                out.append(s if same else replace(s, body=body, orelse=orelse))
            case For() | Loop():
                body = _plain(s.body, needed)
                out.append(s if body is s.body else replace(s, body=body))
            case _:
                out.append(s)
    return block if all(a is b for a, b in zip(block, out, strict=True)) else tuple(out)
