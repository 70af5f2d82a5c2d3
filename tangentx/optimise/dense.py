"""Cotangents of which no element is zero by the structure of the program.

What a selection, a mask, an overwrite or a branch leaves out is zero in a cotangent, and so is what has not been given
anything yet. A sum is full where one of its terms is; any other operation where all that it is made of is. Facts hold
along the way: a storage that a full array has been added to as a whole is full until something in it is overwritten.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.kinds import Arr
from tangentx.analysis.program import Program
from tangentx.ir.nodes import (
    Accumulate,
    Assign,
    Atom,
    Block,
    Call,
    Delete,
    Expr,
    Index,
    Key,
    Lit,
    Op,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import atoms, statements
from tangentx.optimise import memory
from tangentx.optimise.bounds import BOUNDED, among
from tangentx.optimise.flow import Flow, sweeps
from tangentx.optimise.unit import Unit

_WHOLE = Key((Lit(Ellipsis),))
_SUMS = (operator.add, operator.sub)
_EMPTY: frozenset[Any] = frozenset({arrays.zero, arrays.real_zero, arrays.zeros_as, np.zeros_like, np.zeros})


class Dense(Flow[bool]):
    """The names that are full; plain products in the place of those that guard a full cotangent."""

    def __init__(self, program: Program, unit: Unit, selecting: frozenset[Any], passing: frozenset[Any]) -> None:
        super().__init__()
        self.program = program
        self.unit = unit
        self.selecting = selecting
        self.passing = passing
        self.reverse = False
        self.weights = weights(unit)
        self.env = {p.name: True for p in unit.function.params}

    def whole(self) -> Block:
        """The body with fewer guards; the very same one if nothing changed."""
        forward, reverse = sweeps(self.unit.function)
        first = self.block(forward)
        self.reverse = True
        second = self.block(reverse) if self.env is not None else reverse
        return self.unit.body if first is forward and second is reverse else (*first, *second)

    def rewrite(self, s: Statement) -> Sequence[Statement]:
        """The statement without its guard."""
        match s:
            case Assign(value=Op(fn=arrays.guarded, args=(a, t))) if self.reverse and self.is_full(t):
                if not (isinstance(a, Var) and a.name in self.weights):
                    return (replace(s, value=Op(operator.mul, (a, t))),)
        return (s,)

    def after(self, s: Statement) -> None:
        """Brings the facts up to date."""
        match s:
            case Assign():
                full = self._gives_full(s.value)
                if isinstance(s.value, Call):
                    self._overwritten(None)
                self.kill(s.target)
                if full and self.env is not None:
                    self.env[s.target] = True
            case Accumulate(base=Var(name=name), key=key, value=value):
                if key == _WHOLE and self.is_full(value) and self.env is not None:
                    self.env[name] = True
            case Store(base=base) | Delete(base=base):
                self._overwritten(base)

    def is_full(self, atom: Atom) -> bool:
        """Whether no element is zero by structure."""
        if isinstance(atom, Var):
            kind = self.unit.kinds.get(atom.name)
            mask = isinstance(kind, Arr) and kind.dtype.kind == "b"
            return self.env is not None and atom.name in self.env and not mask
        return isinstance(atom, Lit) and (type(atom.value) is not float or atom.value != 0.0)

    def _gives_full(self, value: Expr) -> bool:
        match value:
            case Var() | Lit():
                return self.is_full(value)
            case Index(base=base):
                return isinstance(self.unit.kind(self.program, base), Arr) and self.is_full(base)
            case Op(fn=fn) if not self.reverse:
                chosen = among(fn, self.selecting) or among(fn, _EMPTY)
                return not chosen and (fn is not operator.mul or all(map(self.is_full, value.args)))
            case Op(fn=fn, args=(a, b), kwargs=()) if fn in _SUMS:
                return self.is_full(a) or self.is_full(b)
            case Op(fn=fn):
                known = (among(fn, self.passing) or among(fn, BOUNDED)) and not among(fn, _EMPTY | self.selecting)
                return known and all(self.is_full(a) for a in atoms(value))
        return False

    def _overwritten(self, base: Atom | None) -> None:
        """Nothing that shares memory with the array is known to be full any more; with None nothing that is written."""
        region = None if base is None else memory.region(self.unit.kind(self.program, base))
        for name in list(self.env or ()):
            own = memory.region(self.unit.kinds.get(name, self.unit.result))
            if own is not None and (own is region if base is not None else own.written):
                self.kill(name)


def weights(unit: Unit) -> frozenset[str]:
    """Names of the weights of maxima and minima, and of products of them."""
    found: set[str] = set()
    _, times = unit.counts()
    for s in statements(unit.body):
        if isinstance(s, Assign) and isinstance(s.value, Op) and times[s.target] == 1:
            read = [a.name for a in s.value.args if isinstance(a, Var)]
            if s.value.fn is arrays.share or (s.value.fn is operator.mul and not found.isdisjoint(read)):
                found.add(s.target)
    return frozenset(found)
