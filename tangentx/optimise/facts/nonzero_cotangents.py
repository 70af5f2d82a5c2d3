"""Structural nonzeros: cotangents without an element that is zero by the program's structure.

What a selection, a mask, an overwrite or a branch leaves out is zero in a cotangent, and so is what has not been given
anything yet. A sum is full where one of its terms is; any other operation where all that it is made of is. Facts hold
along the way: a storage that a full array has been added to as a whole is full until something in it is overwritten.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Box, Num, Region
from tangentx.analysis.types.primitives import has_effect
from tangentx.ir.nodes import (
    WHOLE,
    Accumulate,
    Assign,
    Atom,
    Block,
    Call,
    Delete,
    Expr,
    Index,
    Lit,
    Op,
    Pop,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import atoms, blocks, key_atoms
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.dataflow import Flow, sweeps
from tangentx.optimise.facts.finite_values import BOUNDED, among
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.facts.uses import reading
from tangentx.optimise.rewriting import is_number

_SUMS = (operator.add, operator.sub)
_QUOTIENTS = (operator.truediv, arrays.quotient, arrays.ratio, arrays.over_root)
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
        self.mended = _mended(program, unit)
        self._full: dict[Region | None, set[str]] = defaultdict(set)
        self._depth = 0
        self.env = {}
        for param in unit.function.params:
            self._fill(param.name)

    def whole(self) -> Block:
        """The body with fewer guards; the very same one if nothing changed."""
        forward, reverse = sweeps(self.unit.function)
        first = self.block(forward)
        self.reverse = True
        second = self.block(reverse) if self.env is not None else reverse
        return self.unit.body if first is forward and second is reverse else (*first, *second)

    def block(self, block: Block) -> Block:
        """Walks a block; notes how deep in others it is."""
        self._depth += 1
        written = super().block(block)
        self._depth -= 1
        return written

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
                    self._fill(s.target)
            case Accumulate(base=Var(name=name), key=key, value=value):
                if key == WHOLE and self.is_full(value) and self.env is not None:
                    self._fill(name)
                if id(s) in self.mended and not self.is_full(value):
                    self._overwritten(Var(name))
            case Store(base=base) | Delete(base=base):
                if not (id(s) in self.mended or isinstance(s, Store) and self._is_whole(s)):
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
                kind = self.unit.kind(self.program, base)
                return (isinstance(kind, Arr) or isinstance(kind, Box) and kind.cls is tuple) and self.is_full(base)
            case Op(fn=fn) if not self.reverse:
                chosen = among(fn, self.selecting) or among(fn, _EMPTY)
                return not chosen and (fn is not operator.mul or all(map(self.is_full, value.args)))
            case Op(fn=fn, args=(a, b), kwargs=()) if fn in _SUMS:
                return self.is_full(a) or self.is_full(b)
            case Op(fn=fn, args=(a, _), kwargs=()) if fn in _QUOTIENTS:
                return self.is_full(a)
            case Op(fn=fn):
                known = (among(fn, self.passing) or among(fn, BOUNDED)) and not among(fn, _EMPTY | self.selecting)
                return known and all(self.is_full(a) for a in atoms(value))
        return False

    def _is_whole(self, s: Store) -> bool:
        """Whether an element of an array is written over with a number that is not 0 by structure."""
        return isinstance(self.unit.kind(self.program, s.value), Num) and self.is_full(s.value)

    def _fill(self, name: str) -> None:
        """The name is full from here on."""
        assert self.env is not None
        self.env[name] = True
        for region in self._held(name):
            self._full[region].add(name)

    def _overwritten(self, base: Atom | None) -> None:
        """Nothing that shares memory with the array is known to be full any more; with None nothing that is written.

        Names that refer to nobody knows what are never full after it.
        """
        regions: list[Region | None] = [None]
        if base is None:
            regions += [region for region in self._full if region is not None and region.written]
        elif (region := memory.region(self.unit.kind(self.program, base))) is not None:
            regions.append(region)
        for each in regions:
            for name in self._full.get(each, ()):
                self.kill(name)
            if self._depth == 1:  # on other ways to what comes after a branch or a loop they may still be full
                self._full.pop(each, None)

    def _held(self, name: str) -> Sequence[Region | None]:
        """The memory that a name may refer to; None stands for what is not known."""
        return memory.reach([self.unit.kinds[name]]) if name in self.unit.kinds else (None,)


def _mended(program: Program, unit: Unit) -> frozenset[int]:
    """Zeros where something is added at once, and these sums, by identity: ``b[k] = 0.0; b[k] += v``."""
    found: set[int] = set()
    todo = [unit.body]
    while todo:
        block = todo.pop()
        for i, s in enumerate(block):
            todo += blocks(s)
            if isinstance(s, Store) and is_number(s.value, 0.0):
                found.update(id(each) for each in _sum_after(program, unit, block[i:]))
    return frozenset(found)


def _sum_after(program: Program, unit: Unit, block: Block) -> tuple[Statement, ...]:
    """The zero that the block begins with, and the sum that comes before anything looks into the memory."""
    zero = block[0]
    assert isinstance(zero, Store)
    region = memory.region(unit.kind(program, zero.base))
    held = {a.name for a in (zero.base, *key_atoms(zero.key)) if isinstance(a, Var)}
    for s in block[1:]:
        if isinstance(s, Accumulate) and (s.base, repr(s.key)) == (zero.base, repr(zero.key)):
            return zero, s
        if isinstance(s, Accumulate):
            continue
        if not isinstance(s, Assign) or isinstance(s.value, Call | Pop) or s.target in held or has_effect(s.value):
            return ()
        if region in reading(program, unit, s).live:
            return ()
    return ()


def weights(unit: Unit) -> frozenset[str]:
    """Names of the weights of maxima and minima, and of products of them."""
    found: set[str] = set()
    _, times = unit.counts()
    for s in unit.statements():
        if isinstance(s, Assign) and isinstance(s.value, Op) and times[s.target] == 1:
            read = [a.name for a in s.value.args if isinstance(a, Var)]
            if s.value.fn is arrays.share or (s.value.fn is operator.mul and not found.isdisjoint(read)):
                found.add(s.target)
    return frozenset(found)
