"""Signs and finiteness: names that may hold an infinity, and values that are never negative."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Call,
    Expr,
    Index,
    Lit,
    Make,
    Op,
    Pop,
    Return,
    Store,
    Var,
)
from tangentx.ir.walk import atoms
from tangentx.optimise.facts.unit import Unit
from tangentx.templates import silent_slope

# Finiteness: names that may hold an infinity although all arguments are finite.

BOUNDED: frozenset[Any] = frozenset({
    operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.abs, abs, np.add, np.subtract,
    np.multiply, np.negative, np.absolute, np.square, np.sin, np.cos, np.tanh, np.arctan, np.sign, np.conj, np.real,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.floordiv, operator.not_,
    len, range, int, float, np.shape, np.size, np.zeros_like, np.ones_like, np.zeros, np.ones, np.full, np.full_like,
    np.sum, np.ndarray.sum, np.mean, np.ndarray.mean, np.dot, np.matmul, operator.matmul, bool, np.transpose,
    np.ndarray.transpose, np.swapaxes, np.expand_dims, np.reshape, np.ndarray.reshape, np.ravel, np.ndarray.ravel,
    np.copy, np.ndarray.copy, np.outer, np.arange, arrays.clone, arrays.zero, arrays.real_zero, arrays.zeros_as,
    arrays.guarded, arrays.careful_matmul, arrays.unbroadcast, arrays.alike, arrays.unreduce, arrays.entry_copy,
    arrays.entry_copies,
    arrays.count_reduced, arrays.finish, math.sin, math.cos, math.tanh, math.atan, math.exp, math.expm1, math.sinh,
    math.cosh, math.fabs,
})  # fmt: skip
"""What gives finite numbers for finite numbers, overflow aside (`math` raises there), and uses every element."""
_FINITE: frozenset[Any] = BOUNDED | {
    max, min, np.maximum, np.minimum, np.max, np.min, np.ndarray.max, np.ndarray.min, np.fmax, np.fmin, np.clip,
    np.ndarray.clip, np.where, arrays.share, arrays.ties,
    math.sin, math.cos, math.tanh, math.atan, math.fabs, math.exp, math.expm1, math.log, math.log1p, math.sqrt,
}  # fmt: skip
"""As well what may leave elements out, and functions that raise an exception where they would overflow."""
_QUOTIENTS: frozenset[Any] = frozenset(
    {operator.truediv, np.true_divide, arrays.ratio, arrays.over_root, arrays.quotient}
)
_POWERS: frozenset[Any] = frozenset({operator.pow, np.power})


def among(fn: Any, group: frozenset[Any]) -> bool:
    """Whether the function, which need not be hashable, is in the group."""
    try:
        return fn in group
    except TypeError:
        return False


_PARTIALS: frozenset[Any] = frozenset({arrays.ratio, arrays.over_root, arrays.power_slope})
"""Partials that may be infinite where what they belong to is finite."""


class Unbounded:
    """Names of all functions of a program that may hold an infinity, or a value of which nothing is known.

    `of_primal`: where all that the user's own program computes is finite; else it has no derivative anyway.
    `tied`: the arguments of functions that are called from outside, but for the first, may be infinite, too.
    """

    def __init__(self, units: Sequence[Unit], of_primal: bool = False, tied: bool = True) -> None:
        self.of_primal = of_primal
        self.found: set[tuple[Unit, str]] = set()
        self.returned: set[Any] = set()
        self.units = {unit.link: unit for unit in units}
        others = [unit for unit in units if unit.outer][1:] if tied else []
        self.found.update((unit, p.name) for unit in others for p in unit.function.params)
        before = -1
        while before != len(self.found) + len(self.returned):
            before = len(self.found) + len(self.returned)
            for unit in units:
                self._walk(unit)

    def holds(self, unit: Unit, atom: Atom) -> bool:
        """Whether the atom may be infinite."""
        if isinstance(atom, Lit):
            return isinstance(atom.value, float) and not np.isfinite(atom.value)
        return isinstance(atom, Var) and (unit, atom.name) in self.found

    def _walk(self, unit: Unit) -> None:
        for s in unit.statements():
            if isinstance(s, Assign) and self._open(unit, s.value):
                self.found.add((unit, s.target))
            elif isinstance(s, Append | Store | Accumulate) and isinstance(s.base, Var) and self.holds(unit, s.value):
                self.found.add((unit, s.base.name))
            elif isinstance(s, Return) and self.holds(unit, s.value):
                self.returned.add(unit.link)

    def _open(self, unit: Unit, value: Expr) -> bool:
        match value:
            case Op():
                return self._result(unit, value)
            case Call(link=link, args=args):
                callee = self.units[link]
                pairs = zip(callee.function.params, args, strict=True)
                self.found.update((callee, p.name) for p, a in pairs if self.holds(unit, a))
                return link in self.returned
            case Pop() | Index():
                return self.holds(unit, value.base)
            case Var() | Lit():
                return self.holds(unit, value)
            case Make(items=items):
                return any(self.holds(unit, a) for a in items)
        return not self.of_primal

    def _result(self, unit: Unit, op: Op) -> bool:
        if any(self.holds(unit, a) for a in atoms(op)):
            return True
        last = op.args[-1] if op.args else None
        number = last.value if isinstance(last, Lit) and type(last.value) in (int, float) else None
        if number is not None and len(op.args) == 2 and not op.kwargs:
            assert isinstance(number, int | float)
            if (among(op.fn, _QUOTIENTS) and number != 0) or (among(op.fn, _POWERS) and number >= 0):
                return False
            if op.fn is arrays.power_slope and (number >= 1 or number == 0):
                return False
        return among(op.fn, _PARTIALS) if self.of_primal else not among(op.fn, _FINITE)


# Nonnegative values, by the way they are computed.

PRODUCTS: frozenset[Any] = frozenset({operator.mul, np.multiply})
_SQUARES: frozenset[Any] = frozenset({np.square, np.abs, abs, operator.abs, math.fabs, np.fabs, np.exp, math.exp})
_KEEPING_SIGN: frozenset[Any] = frozenset({np.sum, np.ndarray.sum, np.mean, np.ndarray.mean})


def bindings(unit: Unit) -> dict[str, Op]:
    """What is bound once, and by an operation."""
    found: dict[str, list[Any]] = {param.name: [None] for param in unit.function.params}
    for s in unit.statements():
        if isinstance(s, Assign):
            found.setdefault(s.target, []).append(s.value)
    return {name: values[0] for name, values in found.items() if len(values) == 1 and isinstance(values[0], Op)}


def made_by(known: dict[str, Op], atom: Atom) -> Op | None:
    """The operation that an atom is the result of, where that is known."""
    return known.get(atom.name) if isinstance(atom, Var) else None


def positive(known: dict[str, Op], atom: Atom) -> bool:
    """Whether a number, or each of an array, is larger than 0 by the way it is computed."""
    if isinstance(atom, Lit):
        return type(atom.value) in (int, float) and atom.value > 0  # type: ignore[operator]
    op = made_by(known, atom)
    if op is None or op.fn not in (operator.add, np.add):
        return False
    a, b = op.args
    return any(positive(known, x) and no_less(known, y) for x, y in ((a, b), (b, a)))


def no_less(known: dict[str, Op], atom: Atom) -> bool:
    """Whether a number, or each of an array, is no less than 0 by the way it is computed."""
    op = made_by(known, atom)
    if op is None:
        return isinstance(atom, Lit) and type(atom.value) in (int, float) and atom.value >= 0  # type: ignore[operator]
    if among(op.fn, _SQUARES) or silent_slope(op.fn) == "square root":
        return True
    if among(op.fn, PRODUCTS):
        return op.args[0] == op.args[1] or all(no_less(known, a) for a in op.args)
    if op.fn is operator.pow:
        return isinstance(op.args[1], Lit) and op.args[1].value in (2, 4)
    if op.fn in (operator.add, np.add):
        return all(no_less(known, a) for a in op.args)
    return among(op.fn, _KEEPING_SIGN) and no_less(known, op.args[0])
