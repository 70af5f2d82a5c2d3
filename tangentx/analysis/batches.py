"""Which values differ from one member of a batch to the other: facts for the stage that gives them one more axis."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.batch_marks import Marks
from tangentx.analysis.kinds import MISSING, Arr, Box, Kind, Num
from tangentx.analysis.primitives import hashable
from tangentx.analysis.program import Instance, Program
from tangentx.errors import Span
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Attr,
    Call,
    Expr,
    Ext,
    For,
    If,
    Index,
    Key,
    Lit,
    Make,
    Op,
    Pop,
    Return,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import atoms, key_atoms, statements

SHAPES = ("shape", "size", "ndim", "dtype")


class Unbatchable(Exception):
    """What has no rule for batches; the program is run once for each member instead."""

    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span


class Batched(Marks):
    """The names, slots of containers and written arrays that hold one value for each member of a batch.

    An array that is written is batched as a whole, whatever name it goes by; a slot of a container by its key.
    `params` of the root are batched, and so is all of its result, or with `item` this item of it, and no other.
    """

    def __init__(self, program: Program, root: Instance, params: Sequence[int], item: int | None = None) -> None:
        super().__init__(program)
        for i in params:
            self.mark_all(root, root.link.function.params[i].name)  # type: ignore[union-attr]
        self._mark_result(root, item)
        while self.changed:
            self.changed = False
            for instance in self.of_link.values():
                assert instance.link.function is not None
                for s in statements(instance.link.function.body):
                    self._statement(instance, s)

    def _mark_result(self, root: Instance, item: int | None) -> None:
        result = root.result
        if not isinstance(result, Box):
            self.results.add(root)
        elif item is None:
            self.mark_items(result)
        elif isinstance(inner := result.region.get(item), Box):
            self.mark_items(inner)
        elif isinstance(inner, Num | Arr):
            self.mark_slot(result, item)

    def _statement(self, i: Instance, s: Statement) -> None:
        match s:
            case Assign(target=target, value=value):
                if self.value(i, value, i.kinds[target], s.span):
                    self.mark(i, target)
            case Store(base=base, key=key, value=value) | Accumulate(base=base, key=key, value=value):
                self._store(i, base, key, value)
            case Append(base=base, value=value):
                box = self.kind(i, base)
                if self.holds(i, value) and isinstance(box, Box):
                    self.mark_slot(box, MISSING)
            case If(test=test):
                self._demand_common(i, (test,), "a test depends on the batch", s.span)
            case For(start=start, stop=stop, step=step):
                self._demand_common(i, (start, stop, step), "the length of a loop depends on the batch", s.span)
            case Return(value=value):
                if self.holds(i, value) and i not in self.results:
                    self.add(self.results, i)

    def _demand_common(self, i: Instance, given: Sequence[Atom], reason: str, span: Span) -> None:
        if any(self.any(i, atom) for atom in given):
            raise Unbatchable(reason, span)

    def _store(self, i: Instance, base: Atom, key: Key, value: Atom) -> None:
        kind = self.kind(i, base)
        if isinstance(kind, Arr) and (self.holds(i, value) or any(self.holds(i, a) for a in key_atoms(key))):
            self.add(self.written, kind.region.root())
        elif isinstance(kind, Box) and self.holds(i, value):
            self.mark_slot(kind, self.key(i, kind, key))

    def value(self, i: Instance, value: Expr, kind: Kind, span: Span) -> bool:
        """Whether an expression gives one number or array for each member; notes what it makes."""
        match value:
            case Var() | Lit() | Ext():
                return self.holds(i, value)
            case Index(base=base, key=key):
                box = self.kind(i, base)
                if isinstance(box, Box):
                    self._demand_common(i, key_atoms(key), "the key of a container depends on the batch", span)
                    return isinstance(kind, Num | Arr) and self.slot(box, self.key(i, box, key))
                return any(self.any(i, atom) for atom in (base, *key_atoms(key)))
            case Attr(base=base, name=name):
                box = self.kind(i, base)
                if isinstance(box, Box):
                    return isinstance(kind, Num | Arr) and self.slot(box, name)
                return name not in SHAPES and self.holds(i, base)
            case Make(items=items, keys=keys):
                assert isinstance(kind, Box)
                for key_, item in zip(keys if keys is not None else range(len(items)), items, strict=True):
                    if self.holds(i, item):
                        self.mark_slot(kind, key_)
                return False
            case Pop(base=base):
                box = self.kind(i, base)
                return isinstance(box, Box) and isinstance(kind, Num | Arr) and self.slot(box, MISSING)
            case Call(link=link, args=args):
                return self._call(i, self.of_link[link], args)
            case Op():
                return self._op(i, value, kind, span)
        raise Unbatchable("this has no rule for batches", span)

    def _call(self, i: Instance, callee: Instance, args: Sequence[Atom]) -> bool:
        assert callee.link.function is not None
        for param, atom in zip(callee.link.function.params, args, strict=True):
            if self.holds(i, atom):
                self.mark(callee, param.name)
        return callee in self.results

    def _op(self, i: Instance, op: Op, kind: Kind, span: Span) -> bool:
        found = any(self.any(i, atom) for atom in atoms(op))
        if found and isinstance(kind, Box):
            if not (op.fn in hashable(_ASKING, op.fn) or self._made_like(i, op, kind)):
                raise Unbatchable(f"`{getattr(op.fn, '__name__', op.fn)}` of a batch gives several values", span)
            return False
        if isinstance(kind, Arr) and kind.region.root().written and kind.region.root() in self.written:
            return True
        return found and op.fn not in hashable(_ASKING, op.fn) and isinstance(kind, Num | Arr)

    def _made_like(self, i: Instance, op: Op, kind: Box) -> bool:
        """Marks what a copy of a container, or zeros like it, have for each member."""
        if op.fn not in hashable(_COPYING, op.fn) or len(op.args) < STRUCTURAL[op.fn] + 1:
            return False
        self.mark_like(self.kind(i, op.args[STRUCTURAL[op.fn]]), kind, ())
        return True


class Moving(Batched):
    """As `Batched`: the names, slots and written arrays that tangents flow into."""

    def _made_like(self, i: Instance, op: Op, kind: Box) -> bool:
        place = _TANGENTS.get(op.fn) if op.fn in hashable(_LAID_OUT, op.fn) else None
        if place is not None and len(op.args) > place:
            self.mark_like(self.kind(i, op.args[place]), kind, ())
        else:
            self.mark_items(kind)
        return True


SHAPING: dict[Any, Any] = {
    builtins.len: arrays.each_length,
    np.shape: arrays.each_shape,
    np.size: arrays.each_size,
}
"""Operations that ask an array for its shape, and what asks a batch for that of its members."""
STRUCTURAL: dict[Any, int] = {arrays.zero: 0, arrays.real_zero: 0, arrays.entry_copy: 0, arrays.filled: 0}
"""Operations whose result is a container like one of their arguments, at this position."""
_TANGENTS: dict[Any, int] = {**STRUCTURAL, arrays.tangent_as: 0, arrays.copied_tangent: 0}
"""As above, for the structures of tangents."""
_LAID_OUT = frozenset(_TANGENTS)
_ASKING = frozenset(SHAPING)
_COPYING = frozenset(STRUCTURAL)
