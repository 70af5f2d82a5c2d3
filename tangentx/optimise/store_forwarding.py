"""Store forwarding: a store of zeros, followed by an addition to the same place, is one store of what was added.

``t = b[k]; b[k] = 0.0; ...; b[k] += t`` is nothing at all, ``b[k] = 0.0; ...; b[k] += v`` is ``b[k] = v``, and
``b = zeros_like(a); b[...] += v`` is ``b = v``, or a copy of `v` where others have it, where nothing in between looks
into the memory. Other contributions to it in between are sums too, so that their order is free.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import BOTTOM, Arr, Num, Region, is_array
from tangentx.analysis.types.primitives import has_effect
from tangentx.common.forks import once
from tangentx.ir.nodes import (
    WHOLE,
    Accumulate,
    Assign,
    Atom,
    Block,
    Call,
    For,
    If,
    Index,
    Lit,
    Loop,
    Note,
    Op,
    Pop,
    Slice,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import key_atoms, reads, statement_atoms, writes
from tangentx.optimise.facts import memory
from tangentx.optimise.facts.aliasing import viewed
from tangentx.optimise.facts.unit import Unit, write_each
from tangentx.optimise.facts.uses import reading
from tangentx.optimise.rewriting import Rewriter


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Joins zeros with what is added to them; True if anything changed."""
    if memory.is_opaque(units):
        return False

    def written(unit: Unit) -> Block:
        fitting = _Fitting(program, unit)
        fitting.whole()
        return _Stores(program, unit, fitting).block(unit.body)

    return write_each(units, written)


class _Fitting(Rewriter):
    """Finds the sums over whole arrays whose addend has a new array of the same shape and dtype."""

    def __init__(self, program: Program, unit: Unit) -> None:
        super().__init__(program, unit)
        self.found: set[int] = set()
        self.shared: set[int] = set()
        """Those whose addend others may hold, too."""

    @once
    def viewed(self) -> frozenset[Region]:
        """Memory of which anything takes views by strides."""
        return viewed(self.program)

    def rewrite(self, s: Statement) -> Sequence[Statement]:
        """The same statement, looked at."""
        if isinstance(s, Accumulate) and s.key == WHOLE and self._fits(s):
            (self.found if self.own(s.value) else self.shared).add(id(s))
        return (s,)

    def _fits(self, s: Accumulate) -> bool:
        to, new = self.kind(s.base), self.kind(s.value)
        if not (isinstance(to, Arr) and isinstance(new, Arr) and is_array(to) and is_array(new)):
            return False
        shape = self.shape(s.base)
        alike = to.dtype == new.dtype and to.rank == new.rank and to.rank not in (0, None)
        return alike and to.region.root() not in self.viewed and shape is not None and shape == self.shape(s.value)


class _Stores:
    """Writes the blocks of one function anew."""

    def __init__(self, program: Program, unit: Unit, fitting: _Fitting) -> None:
        self.program = program
        self.unit = unit
        self.fitting = fitting
        self.bound = Counter(name for s in unit.statements() for name in writes(s))
        self.read = unit.counts()[0]

    def block(self, block: Block) -> Block:
        """The block, and the blocks inside it."""
        out = [self._inside(s) for s in block]
        i = 0
        while i < len(out):
            s = out[i]
            if isinstance(s, Store) and self._is_zero(s):
                self._after_zero(out, i, s)
            elif isinstance(s, Assign) and isinstance(s.value, Op) and s.value.fn in (np.zeros_like, np.zeros):
                self._after_new(out, i, s)
            i += 1
        return tuple(out)

    def _inside(self, s: Statement) -> Statement:
        match s:
            case If():
                return replace(s, body=self.block(s.body), orelse=self.block(s.orelse))
            case For() | Loop():
                return replace(s, body=self.block(s.body))
        return s

    def _region(self, atom: Atom) -> Region | None:
        return memory.region(self.unit.kind(self.program, atom))

    def _is_zero(self, s: Store) -> bool:
        """Whether a number or a slice of an array, or all of it, is set to zero."""
        kind = self.unit.kind(self.program, s.base)
        if not (isinstance(kind, Arr) and isinstance(s.base, Var) and repr(s.value) == repr(Lit(0.0))):
            return False
        parts = [p for p in s.key.parts if s.key != WHOLE and not isinstance(p, Slice)]
        numbers = [self.unit.kind(self.program, p) for p in parts]
        return all(isinstance(k, Num) and k.type not in (bool, np.bool_) for k in numbers)

    def _after_zero(self, out: list[Statement], i: int, zero: Store) -> None:
        matches = self._sums(out, i, zero)
        taken = self._taken(out, i, zero)
        for j in matches:
            s = out[j]
            if taken and isinstance(s, Accumulate) and s.value in taken:
                del out[j], out[i]
                return
        if matches:
            j = matches[0]
            s = out[j]
            assert isinstance(s, Accumulate)
            between = out[i + 1 : j]
            others = [
                b for b in between if isinstance(b, Accumulate) and self._region(b.base) is self._region(zero.base)
            ]
            first = [b for b in between if b not in others]
            if any(self._is_late(other, between) for other in others):
                return
            out[i : j + 1] = [*first, Store(s.base, s.key, s.value, s.span), *others]

    def _is_late(self, other: Statement, between: list[Statement]) -> bool:
        """Whether a contribution reads a name that is bound anew after it."""
        after = between[between.index(other) :]
        return any(name in reads(other) for s in after for name in writes(s) if s is not other)

    def _sums(self, out: list[Statement], i: int, zero: Store) -> list[int]:
        """Places of contributions to the same element, before anything looks into the memory."""
        region = self._region(zero.base)
        fixed = reads(zero)
        found: list[int] = []
        for j in range(i + 1, len(out)):
            s = out[j]
            if isinstance(s, Accumulate):
                if any(self._region(a) is region for a in statement_atoms(s) if a != s.base):
                    break
                if s.base == zero.base and repr(s.key) == repr(zero.key) and not s.repeats:
                    found.append(j)
                continue
            if isinstance(s, Note):
                continue
            if not isinstance(s, Assign) or isinstance(s.value, Call | Pop) or has_effect(s.value):
                break
            looks = reading(self.program, self.unit, s).live if not memory.is_tuple(s.value) else frozenset()
            held = memory.region(self.unit.kinds.get(s.target, BOTTOM))
            if region in looks or held is region or s.target in fixed:
                break
        return found

    def _taken(self, out: list[Statement], i: int, zero: Store) -> tuple[Atom, ...]:
        """The name that holds the number, or a copy of the numbers, that stood there until then."""
        copies: dict[str, str] = {}
        for j in range(i - 1, -1, -1):
            s = out[j]
            if not isinstance(s, Assign) or isinstance(s.value, Call | Pop) or self.bound[s.target] != 1:
                return ()
            if isinstance(s.value, Index) and s.value.base == zero.base and repr(s.value.key) == repr(zero.key):
                if isinstance(self.unit.kinds.get(s.target), Num):
                    return (Var(s.target),)
                return (Var(copies[s.target]),) if s.target in copies else ()
            if isinstance(s.value, Op) and s.value.fn is arrays.clone and isinstance(s.value.args[0], Var):
                copies[s.value.args[0].name] = s.target
            if s.target in reads(zero):
                return ()
        return ()

    def _after_new(self, out: list[Statement], i: int, made: Assign) -> None:
        """``b = zeros_like(a)``, or ``b = zeros(3)``: what is added first is what it becomes."""
        b, gone = Var(made.target), [i]
        for j in range(i + 1, len(out)):
            s = out[j]
            if isinstance(s, Accumulate) and s.base == b and id(s) in self.fitting.found:
                if isinstance(s.value, Var) and self.bound[s.value.name] == 1:
                    self._unite(b.name, s.value)
                    out[j] = Assign(b.name, s.value, s.span)
                    self._remove(out, gone)
                return
            if self._renames(s, b) and len(gone) == 1:
                b = Var(s.target)  # type: ignore[union-attr]
                gone.append(j)
            elif isinstance(s, If | For | Loop) or b.name in reads(s) | writes(s):
                break
        self._after_copy(out, i, made)

    def _after_copy(self, out: list[Statement], i: int, made: Assign) -> None:
        """Likewise, where what is added has other readers: a copy of it, to which is added what came before it."""
        b, first, gone = Var(made.target), 0, [i]
        for j in range(i + 1, len(out)):
            s = out[j]
            if isinstance(s, Accumulate) and s.base == b:
                v, first = s.value, first or j
                if id(s) in self.fitting.shared and isinstance(v, Var) and v != b:
                    if self._is_as_it_was(out[first:j], v, b):
                        out[first : j + 1] = [Assign(b.name, Op(arrays.clone, (v,)), s.span), *out[first:j]]
                        self._remove(out, gone)
                    return
                if b in (*key_atoms(s.key), v):
                    return
            elif self._renames(s, b) and len(gone) == 1 and not first:
                b = Var(s.target)  # type: ignore[union-attr]
                gone.append(j)
            elif isinstance(s, If | For | Loop) or b.name in reads(s) | writes(s):
                return

    def _remove(self, out: list[Statement], gone: list[int]) -> None:
        """Takes statements out, and those before the first that do nothing but ask for its shape."""
        asked = reads(out[gone[0]])
        for k in reversed(gone):
            del out[k]
        k = gone[0] - 1
        while k >= 0 and isinstance(s := out[k], Assign) and s.target in asked and self.read[s.target] == 1:
            if isinstance(s.value, Call | Pop) or has_effect(s.value):
                return
            asked |= reads(s)
            del out[k]
            k -= 1

    def _renames(self, s: Statement, b: Var) -> bool:
        """Whether the statement gives the array another name, by which alone it is known from there on."""
        return isinstance(s, Assign) and s.value == b and self.read[b.name] == 1

    def _is_as_it_was(self, between: list[Statement], v: Var, b: Var) -> bool:
        """Whether the statements leave an array alone, which is not `b` and may have a view or another name."""
        region = self._region(v)
        for s in between:
            if isinstance(s, Note) or (isinstance(s, Accumulate) and s.base == b):
                continue
            if isinstance(s, Store | Accumulate):
                if self._region(s.base) is region or region is None:
                    return False
            elif (
                not isinstance(s, Assign)
                or isinstance(s.value, Call | Pop)
                or has_effect(s.value)
                or s.target == v.name
            ):
                return False
        return True

    def _unite(self, name: str, value: Atom) -> None:
        old, new = self.unit.kinds[name], self.unit.kind(self.program, value)
        assert isinstance(old, Arr) and isinstance(new, Arr)
        old.region.unite(new.region)
