"""Nonnegative values, by the way they are computed."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from tangentx.ir.nodes import Assign, Atom, Lit, Op, Var
from tangentx.optimise.facts.finite_values import among
from tangentx.optimise.facts.unit import Unit
from tangentx.templates import silent_slope

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
