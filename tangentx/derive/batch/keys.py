"""Subscripts in batched programs: members' keys as keys of the batch."""

from __future__ import annotations

import numpy as np

from tangentx import arrays
from tangentx.analysis.batch.varying import Batched, Unbatchable
from tangentx.analysis.infer.program import Instance
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num
from tangentx.analysis.types.primitives import hashable
from tangentx.analysis.types.selection import is_boolean
from tangentx.derive.batch.operands import Operand
from tangentx.derive.emit import NONE, Emitter
from tangentx.ir.nodes import Append, Atom, Expr, For, Index, Key, Lit, Make, Op, Slice, Var


class Keys:
    """What is asked of the atoms of one function, and the keys in it."""

    def __init__(self, facts: Batched, instance: Instance, count: Var) -> None:
        self.facts = facts
        self.instance = instance
        self.count = count

    def holds(self, atom: Atom) -> bool:
        """Whether an atom is a batch."""
        return self.facts.holds(self.instance, atom)

    def kind(self, atom: Atom) -> Kind:
        """The kind of one member."""
        return self.facts.kind(self.instance, atom)

    def wanted(self, emit: Emitter, atom: Atom, batch: bool) -> Atom:
        """The atom as a batch, where one is wanted and it is none."""
        if not batch or self.holds(atom):
            return atom
        if not isinstance(self.kind(atom), Num | Arr):
            raise Unbatchable("a value that may be no number", emit.span)
        return emit.op(arrays.over, atom, self.count)

    def key(self, emit: Emitter, key: Key, batch: bool) -> Key:
        """A key of members as one of the batch, of which it takes all."""
        parts = [None if isinstance(p, Slice) else self.kind(p) for p in key.parts]
        given = [p for p in key.parts if not isinstance(p, Slice)]
        far = [i for i, k in enumerate(parts) if isinstance(k, Arr | Box)]
        if key.attribute or any(isinstance(k, Num) and is_boolean(k) for k in parts):
            raise Unbatchable("this index of a batch", emit.span)
        bounds = [a for p in key.parts if isinstance(p, Slice) for a in (p.start, p.stop, p.step)]
        if any(self.facts.any(self.instance, a) for a in bounds):
            raise Unbatchable("a slice that depends on the batch", emit.span)
        if any(self.facts.any(self.instance, p) for p in given):
            return self._own_places(emit, key, batch)
        if not batch or key.parts == (Lit(Ellipsis),):
            return key
        mixed = any(isinstance(k, Num) for k in parts)  # beside an array of indices a number is one, too
        if len(far) > 1 or (far and mixed) or any(self._masks(parts[i]) for i in far):
            raise Unbatchable("an index with several arrays", emit.span)
        return Key((Slice(), *key.parts), True)

    def _masks(self, kind: Kind | None) -> bool:
        return isinstance(kind, Arr) and kind.dtype.kind == "b" and kind.rank != 1

    def _own_places(self, emit: Emitter, key: Key, batch: bool) -> Key:
        """Each member's own elements: one whole number for each axis."""
        kinds = [None if isinstance(p, Slice) else self.kind(p) for p in key.parts]
        if any(not isinstance(k, Num) for k in kinds):
            raise Unbatchable("an index that depends on the batch", emit.span)
        if not batch:
            return key
        return Key((emit.op(np.arange, self.count), *key.parts), True)

    def selected(self, emit: Emitter, kind: Kind, key: Key) -> int:
        """The rank of what a key selects of a member."""
        if not isinstance(kind, Arr) or kind.rank is None:
            raise Unbatchable("an array of unknown rank", emit.span)
        rank = kind.rank
        for part in key.parts:
            inner = None if isinstance(part, Slice) else self.kind(part)
            if isinstance(inner, Num):
                rank -= 1
            elif part == NONE:
                rank += 1
            elif isinstance(inner, Arr):
                rank += (inner.rank or 0) - 1 if inner.dtype.kind != "b" else 1 - (inner.rank or 1)
        return rank

    def of_list(self, emit: Emitter, op: Op, operands: list[Operand], kind: Kind) -> Expr:
        """Numbers or arrays of a list of known length put together."""
        box = operands[0].kind
        rest = dict(op.kwargs)
        joins = op.fn in hashable(_JOINING, op.fn) and len(op.args) == 1 and not (set(rest) - {"axis"})
        if not (joins and isinstance(box, Box) and not box.region.root().open):
            raise Unbatchable(f"`{getattr(op.fn, '__name__', op.fn)}` of a list", emit.span)
        fields = list(box.region.root().fields)
        if any(not isinstance(box.region.get(k), Num | Arr) for k in fields):
            raise Unbatchable("a list of lists", emit.span)
        parts = []
        for key in fields:
            item = emit.item(operands[0].atom, key)
            parts.append(item if self.facts.slot(box, key) else emit.op(arrays.over, item, self.count))
        axis = rest.get("axis", Lit(0))
        if not (isinstance(axis, Lit) and isinstance(axis.value, int)):
            raise Unbatchable("an axis that is not known", emit.span)
        shifted = Lit(axis.value + 1 if axis.value >= 0 else axis.value)
        fn = np.concatenate if op.fn is np.concatenate else np.stack
        return Op(fn, (emit.let(Make(list, tuple(parts))),), (("axis", shifted),))

    def one_by_one(self, emit: Emitter, op: Op, kind: Kind) -> Expr:
        """The operation for each member, in a loop."""
        views = isinstance(kind, Arr) and kind.region.root().written
        if not isinstance(kind, Num | Arr) or views:
            raise Unbatchable(f"`{getattr(op.fn, '__name__', op.fn)}` of a batch", emit.span)
        found, place = emit.let(Make(list, ())), Var(emit.temporary())
        inner = Emitter(emit.span)
        one = {a: self._member(inner, a, place) for a in dict.fromkeys(arguments(op)) if self.holds(a)}
        args = tuple(one.get(a, a) for a in op.args)
        result = inner.let(Op(op.fn, args, tuple((name, one.get(a, a)) for name, a in op.kwargs)))
        inner.add(Append(found, result, emit.span))
        emit.add(For(place.name, Lit(0), self.count, Lit(1), False, tuple(inner.block), emit.span))
        return Op(np.stack, (found,))

    def _member(self, emit: Emitter, atom: Atom, place: Atom) -> Atom:
        """One member of a batch: a Python number where it is one by kind, which promotes nothing."""
        item, kind = emit.let(Index(atom, Key((place,)))), self.kind(atom)
        return emit.op(kind.type, item) if isinstance(kind, Num) and kind.type in (int, float, complex) else item


def arguments(op: Op) -> tuple[Atom, ...]:
    """All arguments, by position and by name."""
    return (*op.args, *(a for _, a in op.kwargs))


_JOINING = frozenset((np.stack, np.concatenate, np.array, np.asarray))
