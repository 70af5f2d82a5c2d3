"""Guards of products: needed where a cotangent is exactly 0 because an element was not chosen or was overwritten.

The product of a cotangent with a partial is guarded against ``0 * inf``. A cotangent is exactly 0 by structure only
after a selection, a mask, an overwrite, or a read of a part of an array; a program without any needs no guard. What
selects leaves its mark in the reverse sweep (weights, masks, stores of zero), unless no cotangent passes through it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.kinds import Arr, Box
from tangentx.analysis.program import Program
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Block,
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
    Pop,
    Slice,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import atoms, statements
from tangentx.optimise.unit import Unit

_NAMES = (
    "where select choose nanmax nanmin nansum nanmean nanprod ptp sort partition median percentile quantile compress "
    "extract take_along_axis nan_to_num triu tril"
).split()
SELECTING: frozenset[Any] = (
    frozenset(getattr(np, name) for name in _NAMES)
    | frozenset(getattr(np.ndarray, name) for name in ("sort", "partition", "choose", "compress"))
    | {arrays.share, arrays.ties, arrays.give_best, arrays.take_best, arrays.winners}
)
_BOUNDED: frozenset[Any] = frozenset({
    operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.abs, abs, np.add, np.subtract,
    np.multiply, np.negative, np.absolute, np.square, np.sin, np.cos, np.tanh, np.arctan, np.sign, np.conj, np.real,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, len, range, int, float,
    np.shape, np.size, np.zeros_like, np.ones_like, np.zeros, np.ones, np.sum, np.mean, np.dot, np.matmul,
    operator.matmul, bool, np.transpose, np.reshape, np.arange, arrays.clone, arrays.zero, arrays.real_zero,
    arrays.guarded,
    arrays.unbroadcast, arrays.unreduce, arrays.entry_copy, arrays.count_reduced,
})  # fmt: skip


def _in(fn: Any, group: frozenset[Any]) -> bool:
    try:
        return fn in group
    except TypeError:
        return False


def _ops(units: Sequence[Unit]) -> Iterator[Op]:
    for unit in units:
        for s in statements(unit.body):
            if isinstance(s, Assign) and isinstance(s.value, Op):
                yield s.value


def _selects(program: Program, units: Sequence[Unit]) -> bool:
    """Whether anything chooses among elements: an operation, a mask."""
    if any(_in(op.fn, SELECTING) for op in _ops(units)):
        return True
    return any(_is_mask(program, unit, key) for unit in units for _, key in _keys(unit))


def _keys(unit: Unit) -> Iterator[tuple[Statement, Key]]:
    for s in statements(unit.body):
        if isinstance(s, Store | Accumulate | Delete):
            yield s, s.key
        elif isinstance(s, Assign) and isinstance(s.value, Index):
            yield s, s.value.key


def _is_mask(program: Program, unit: Unit, key: Key) -> bool:
    kinds = [unit.kind(program, part) for part in key.parts if not isinstance(part, Slice)]
    return any(isinstance(k, Arr) and k.dtype.kind == "b" for k in kinds)


def _overwrites(program: Program, units: Sequence[Unit]) -> bool:
    """Whether an element of an array or container is written over; or read alone, out of an array."""
    for unit in units:
        for s, key in _keys(unit):
            holder = s.value if isinstance(s, Assign) else s
            kind = unit.kind(program, getattr(holder, "base", Lit(None)))
            if isinstance(s, Store) or (isinstance(kind, Arr) and key.parts != (Lit(Ellipsis),)):
                return True
    return False


class _Unbounded:
    """Names of one function that may hold an infinity, or a value of which nothing is known."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program, self.unit = program, unit
        self.names: set[str] = set()
        every = list(statements(unit.body))
        params = {p.name for p in unit.function.params}
        while True:
            before = len(self.names)
            for s in every:
                if isinstance(s, Assign) and self._open(s.value, params):
                    self.names.add(s.target)
                elif isinstance(s, Append | Store | Accumulate) and isinstance(s.base, Var) and self.holds(s.value):
                    self.names.add(s.base.name)
            if len(self.names) == before:
                break

    def holds(self, atom: Atom) -> bool:
        return isinstance(atom, Var) and atom.name in self.names

    def _open(self, value: Expr, params: set[str]) -> bool:
        match value:
            case Op(fn=fn):
                return not _in(fn, _BOUNDED) or any(self.holds(a) for a in atoms(value))
            case Index(base=Var(name=name)) if name in params and isinstance(self.unit.kinds.get(name), Box):
                return True
            case Pop() | Index():
                return self.holds(value.base)
            case Var():
                return self.holds(value)
            case Make(items=items):
                return any(self.holds(a) for a in items)
            case Lit():
                return isinstance(value.value, float) and not np.isfinite(value.value)
        return True


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Makes plain products of those guarded ones that need no guard."""
    if not any(op.fn is arrays.guarded for op in _ops(units)) or _selects(program, units):
        return False
    careful = _overwrites(program, units) and any(not _in(op.fn, _BOUNDED) for op in _ops(units))
    changed = False
    for unit in units:
        risky = _Unbounded(program, unit) if careful else None
        body = _plain(unit.body, risky)
        if body is not unit.body:
            unit.body, changed = body, True
    return changed


def _plain(block: Block, risky: _Unbounded | None) -> Block:
    out: list[Statement] = []
    for s in block:
        match s:
            case Assign(value=Op(fn=arrays.guarded, args=(partial, t))) if risky is None or not risky.holds(partial):
                out.append(replace(s, value=Op(operator.mul, (partial, t))))
            case If():
                body, orelse = _plain(s.body, risky), _plain(s.orelse, risky)
                same = body is s.body and orelse is s.orelse
                out.append(s if same else replace(s, body=body, orelse=orelse))
            case For() | Loop():
                body = _plain(s.body, risky)
                out.append(s if body is s.body else replace(s, body=body))
            case _:
                out.append(s)
    return block if all(a is b for a, b in zip(block, out, strict=True)) else tuple(out)


