"""Elimination of explicit broadcasts, and of sums that undo them, where NumPy's own broadcasting does the same.

A number or a row that a reduction's adjoint repeats need not be repeated where it meets an array of that shape. What
undoes a broadcasting along known axes is a sum over these.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Program
from tangentx.analysis.types.kinds import Arr, Kind, Num, is_array, is_elsewhere
from tangentx.ir.nodes import Accumulate, Assign, Atom, Expr, Index, Key, Lit, Op, Slice, Statement, Store, Var
from tangentx.optimise.facts import shape_arithmetic
from tangentx.optimise.facts.shape_arithmetic import Lengths, Shape, is_long, is_single
from tangentx.optimise.facts.unit import Unit
from tangentx.optimise.rewriting import ADD, MUL, NEG, SUB, Rules, run_each

_MEETING: tuple[Any, ...] = (ADD, SUB, MUL, operator.truediv, arrays.guarded, np.where)
_REPEATING: tuple[Any, ...] = (arrays.unreduce, arrays.unbroadcast, np.full)
_FLOATS = (float, np.float64)


_REPEATING = (arrays.unreduce, np.full)
"""What makes arrays that repeat a number or a row."""


class Spreads(Rules):
    """The reverse sweep without arrays that repeat a number or a row."""

    follows = True

    def write(self, s: Store | Accumulate) -> Sequence[Statement] | None:
        """A number is written, or added, as it is."""
        number = self.number(s.value) or self._alone(s.value)
        return None if number is None else (replace(s, value=number),)

    def operation(self, s: Assign, op: Op) -> Sequence[Statement] | None:
        """The statement, after those that make what it reads now."""
        if op.kwargs:
            return None
        if op.fn is arrays.unbroadcast:
            return self._summed(s, *op.args)
        return self._plainer(s, op) or self._repeated(s, op)

    def _before(self, s: Assign, value: Expr, kind: Kind) -> Var:
        """A new temporary; the statement that binds it comes before the one in hand, whose readers may read it."""
        made = self.let(s, value, kind, 1 + self.count[s.target])
        self.before.append(made)
        return Var(made.target)

    def number(self, atom: Atom) -> Atom | None:
        """The number that the array repeats over all its axes."""
        made = self.expr(atom)
        if not (isinstance(made, Op) and _is_plain(self.kind(atom)) and self.still(atom)) or made.kwargs:
            return None
        whole = made.fn is arrays.unreduce and len(made.args) > 2 and made.args[2] == Lit(None)
        if made.fn is arrays.unreduce and not whole and is_array(self.kind(made.args[0])):
            return self.number(made.args[0])
        number = made.args[0] if whole else made.args[1] if made.fn is np.full and len(made.args) == 2 else None
        return number if number is not None and self._is_float(number) else None

    def _alone(self, atom: Atom) -> Atom | None:
        """As `number`, an array on a device without axes: where it meets another array, it is a number there too."""
        made = self.expr(atom)
        whole = isinstance(made, Op) and made.fn is arrays.unreduce and len(made.args) > 2 and made.args[2] == Lit(None)
        if not whole or not _is_plain(self.kind(atom)) or not self.still(atom):
            return None
        assert isinstance(made, Op)
        kind = self.kind(made.args[0])
        alone = isinstance(kind, Arr) and is_elsewhere(kind) and kind.rank == 0 and kind.dtype == np.float64
        return made.args[0] if alone and kind.sure and self.still(made.args[0]) else None  # type: ignore[union-attr]

    def _is_float(self, atom: Atom) -> bool:
        kind = self.kind(atom)
        return isinstance(kind, Num) and kind.type in _FLOATS

    def _row(self, s: Assign, atom: Atom) -> Atom | None:
        """What the array repeats along one axis, in a shape that broadcasts to that of the array."""
        made, kind = self.expr(atom), self.kind(atom)
        if not (isinstance(made, Op) and made.fn is arrays.unreduce and len(made.args) == 4 and self.still(atom)):
            return None
        row, _, axis, keep = made.args
        inner = self.kind(row)
        if not (isinstance(axis, Lit) and type(axis.value) is int and isinstance(keep, Lit) and self.still(row)):
            return None
        if not (_is_plain(kind) and _is_plain(inner) and isinstance(kind, Arr) and isinstance(inner, Arr)):
            return None
        rank = kind.rank
        if rank is None or inner.rank != (rank if keep.value else rank - 1):
            return None
        place = axis.value % rank
        if keep.value or place == 0:
            return row
        key = Key((*(Slice(),) * place, Lit(None)) if place < rank - 1 else (Lit(Ellipsis), Lit(None)), True)
        return self._before(s, Index(row, key), replace(inner, rank=rank))

    def _plainer(self, s: Assign, op: Op) -> Sequence[Statement] | None:
        """An operation with an array of the same shape."""
        if op.fn not in _MEETING:
            return None
        for i, atom in enumerate(op.args):
            made, shape = self.expr(atom), self.shape(atom)
            if not (isinstance(made, Op) and made.fn in _REPEATING and isinstance(shape, Lengths)):
                continue
            others = [a for j, a in enumerate(op.args) if j != i and is_array(self.kind(a)) and self._stays(a)]
            self.before: list[Statement] = []
            covered = any(_covers(self.shape(a), shape) for a in others)
            plain = (self.number(atom) or self._alone(atom)) if covered else None
            plain = plain or (self._row(s, atom) if any(self._fills(a, atom, shape) for a in others) else None)
            if plain is not None:
                args = (*op.args[:i], plain, *op.args[i + 1 :])
                return (*self.before, replace(s, value=Op(op.fn, args)))
        return None

    def _fills(self, other: Atom, repeated: Atom, shape: Lengths) -> bool:
        """Whether an array has the length of another along the axis along which that repeats a row, and broadcasts to
        its shape."""
        made, have = self.expr(repeated), self.shape(other)
        if have == shape:
            return True
        if not (isinstance(made, Op) and made.fn is arrays.unreduce and len(made.args) == 4):
            return False
        axis = made.args[2].value if isinstance(made.args[2], Lit) else None
        if not isinstance(have, Lengths) or len(have) != len(shape) or type(axis) is not int:
            return False
        return have[axis] == shape[axis] and all(h in (n, 1) for h, n in zip(have, shape))

    def _stays(self, atom: Atom) -> bool:
        """Whether an array gives the result its shape and, with a number, its dtype."""
        kind = self.kind(atom)
        return isinstance(kind, Arr) and kind.rank != 0 and kind.dtype in (np.float64, np.bool_)

    def _repeated(self, s: Assign, op: Op) -> Sequence[Statement] | None:
        """The number first, and then repeated; a number repeated is written as NumPy has it."""
        self.before = []
        if op.fn is NEG and (number := self.number(op.args[0])) is not None:
            made, value = op.args[0], Op(NEG, (number,))
        elif op.fn in (MUL, operator.truediv) and (number := self.number(op.args[0])) and self._is_float(op.args[1]):
            made, value = op.args[0], Op(op.fn, (number, op.args[1]))
        elif op.fn is MUL and (number := self.number(op.args[1])) and self._is_float(op.args[0]):
            made, value = op.args[1], Op(op.fn, (op.args[0], number))
        elif op.fn is arrays.unreduce and len(op.args) > 2 and op.args[2] == Lit(None):
            number, kind = op.args[0], self.kind(Var(s.target))
            full = self._is_float(number) and _is_plain(kind) and isinstance(kind, Arr) and bool(kind.rank)
            return (replace(s, value=Op(np.full, (op.args[1], number))),) if full else None
        else:
            return None
        origin = self.expr(made)
        assert isinstance(origin, Op)
        shape = origin.args[1] if origin.fn is arrays.unreduce else origin.args[0]
        first = self._before(s, value, Num(float))
        return (*self.before, replace(s, value=Op(np.full, (shape, first))))

    def _summed(self, s: Assign, t: Atom, like: Atom) -> Sequence[Statement] | None:
        """The sum over the axes along which `like` was broadcast."""
        have, want = self.shape(t), self.shape(like)
        given, wanted = self.kind(t), self.kind(like)
        if not (self.unit.exact and isinstance(have, Lengths) and isinstance(want, Lengths) and want):
            return None
        if not (is_array(given) and is_array(wanted) and isinstance(given, Arr) and isinstance(wanted, Arr)):
            return None
        lead = len(have) - len(want)
        if lead < 0 or given.dtype != wanted.dtype:
            return None
        pairs = zip(have[lead:], want, strict=True)
        axes = [lead + i for i, (h, w) in enumerate(pairs) if h != w]
        if not all(is_single(want[i - lead]) and is_long(have[i]) for i in axes) or bool(lead) == bool(axes):
            return None
        shape_arithmetic.rely(self.program, self.unit, (*have, *want))
        over = axes or list(range(lead))
        keep = (("keepdims", Lit(True)),) if axes else ()
        return (replace(s, value=Op(np.sum, (t,), (("axis", Lit(over[0] if len(over) == 1 else tuple(over))), *keep))),)


def _covers(have: Shape, shape: Lengths) -> bool:
    """Whether what has a shape has it still when it is broadcast with an array of another one."""
    if not isinstance(have, Lengths) or len(have) != len(shape):
        return False
    return all(one in (n, 1) for n, one in zip(have, shape, strict=True))


def _is_plain(kind: Kind) -> bool:
    return is_array(kind) and isinstance(kind, Arr) and kind.dtype == np.float64


def _is_concerned(unit: Unit) -> bool:
    """Whether anything repeats, or undoes a broadcasting."""
    return any(type(s) is Assign and type(s.value) is Op and s.value.fn in _REPEATING for s in unit.statements())


def run(program: Program, units: Sequence[Unit]) -> bool:
    """Leaves broadcasting to NumPy."""
    return run_each(program, [unit for unit in units if unit.found(_is_concerned)], Spreads)
