"""The batching transform: whatever differs between members gets a leading axis; keys become keys of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tangentx import arrays
from tangentx.analysis.batch.varying import SHAPING, STRUCTURAL, Batched, Unbatchable
from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import MISSING, Arr, Box, Kind, Num, Obj
from tangentx.analysis.types.primitives import hashable
from tangentx.analysis.types.selection import is_boolean
from tangentx.common.naming import Names
from tangentx.derive.batch.rules import NoRule, Operand, batched
from tangentx.derive.emit import NONE, Emitter
from tangentx.ir.nodes import (
    UNBOUND,
    Accumulate,
    Append,
    Assign,
    Atom,
    Attr,
    Block,
    Call,
    Expr,
    For,
    Function,
    If,
    Index,
    Key,
    Link,
    Lit,
    Loop,
    Make,
    Op,
    Param,
    Return,
    Slice,
    Statement,
    Store,
    Var,
)

# Subscripts in batched programs: members' keys as keys of the batch.


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


# The batching transform: whatever differs between members gets a leading axis.
#
# Control flow stays, so it must not depend on the batch. An operation without a rule runs in a loop over the members.


class Batch:
    """A program and its batched functions; `loops`: some run an operation for one member after the other."""

    def __init__(self, program: Program, root: Instance, params: Sequence[int], item: int | None = None) -> None:
        self.facts = Batched(program, root, params, item)
        self.root = root
        self.loops = False
        self.links: dict[Instance, Link] = {}
        self.pending: list[Instance] = []

    def function(self) -> Function:
        """The root: its first parameter is the number of members. Raises Unbatchable."""
        link = self.link(self.root)
        while self.pending:
            instance = self.pending.pop(0)
            self.links[instance].function = Writer(self, instance).function()
        assert link.function is not None
        return link.function

    def demand_single(self, item: int) -> None:
        """Refuses an item of the result that has become a batch with others."""
        result = self.root.result
        assert isinstance(result, Box)
        if self.facts.slot(result, item) or self.facts.within(result.region.get(item)):
            raise Unbatchable("the value shares memory with what moves", self.root.source.span)

    def link(self, instance: Instance) -> Link:
        """The batched function of an instance."""
        if instance not in self.links:
            self.links[instance] = Link(f"{instance.link.name}_batch")
            self.pending.append(instance)
        return self.links[instance]


class Writer(Keys):
    """One function with its batch axis."""

    def __init__(self, batch: Batch, instance: Instance) -> None:
        assert instance.link.function is not None
        super().__init__(batch.facts, instance, Var(Names(instance.kinds).fresh("count")))
        self.batch = batch
        self.source = instance.link.function

    def function(self) -> Function:
        """The function of the number of members, and of all parameters."""
        params = (Param(self.count.name), *(Param(p.name) for p in self.source.params))
        return Function(self.batch.links[self.instance].name, params, self.block(self.source.body), self.source.span)

    def block(self, block: Block) -> Block:
        """The statements, one after the other."""
        out: list[Statement] = []
        for s in block:
            emit = Emitter(s.span)
            try:
                self.statement(emit, s)
            except NoRule:
                raise Unbatchable("an array of unknown rank", s.span) from None
            out += emit.block
        return tuple(out)

    def statement(self, emit: Emitter, s: Statement) -> None:
        """One statement."""
        match s:
            case Assign():
                self._assign(emit, s)
            case Store() | Accumulate():
                self._store(emit, s)
            case Append(base=base, value=value):
                box = self.kind(base)
                assert isinstance(box, Box)
                item = box.region.any()
                batch = isinstance(item, Num | Arr) and self.facts.slot(box, MISSING)
                emit.add(replace(s, value=self.wanted(emit, value, batch)))
            case If():
                emit.add(replace(s, body=self.block(s.body), orelse=self.block(s.orelse)))
            case For() | Loop():
                emit.add(replace(s, body=self.block(s.body)))
            case Return(value=value):
                emit.add(replace(s, value=self.wanted(emit, value, self.instance in self.facts.results)))
            case _:
                emit.add(s)

    def _assign(self, emit: Emitter, s: Assign) -> None:
        wanted = self.holds(Var(s.target)) and s.value != Lit(UNBOUND)
        kind = self.instance.kinds[s.target]
        natural = self.facts.value(self.instance, s.value, kind, s.span)
        new = self._expr(emit, s.value, kind)
        if wanted and not natural or wanted and self._plain(s.value):
            if not isinstance(kind, Num | Arr):
                raise Unbatchable("a value that may be no number", s.span)
            new = Op(arrays.over, (emit.let(new), self.count))
        emit.add(Assign(s.target, new, s.span))

    def _plain(self, value: Expr) -> bool:
        """Whether an operation is of no batch, though its result becomes one by being written."""
        return isinstance(value, Op) and not any(self.facts.any(self.instance, a) for a in arguments(value))

    def _expr(self, emit: Emitter, value: Expr, kind: Kind) -> Expr:
        match value:
            case Index(base=base, key=key):
                return self._index(emit, base, key, kind)
            case Attr(base=base, name=name) if self.holds(base):
                if name == "shape":
                    return Op(arrays.each_shape, (base,))
                if name == "size":
                    return Op(arrays.each_size, (base,))
                if name == "T" and isinstance(kind, Arr) and kind.rank is not None:
                    axes = emit.let(Make(tuple, (Lit(0), *(Lit(i) for i in range(kind.rank, 0, -1)))))
                    return Op(np.transpose, (base, axes))
                if name in ("real", "imag", "dtype"):
                    return value
                raise Unbatchable(f"`.{name}` of a batch", emit.span)
            case Make(items=items, keys=keys) if isinstance(kind, Box):
                names = keys if keys is not None else tuple(range(len(items)))
                return replace(
                    value, items=tuple(self._item(emit, kind, k, a) for k, a in zip(names, items, strict=True))
                )
            case Call(link=link, args=args):
                return self._call(emit, link, args)
            case Op() if any(self.facts.any(self.instance, a) for a in arguments(value)):
                return self._op(emit, value, kind)
        return value

    def _item(self, emit: Emitter, box: Box, key: object, atom: Atom) -> Atom:
        item = box.region.get(key)
        return self.wanted(emit, atom, isinstance(item, Num | Arr) and self.facts.slot(box, key))

    def _call(self, emit: Emitter, link: Link, args: tuple[Atom, ...]) -> Expr:
        callee = self.facts.of_link[link]
        assert callee.link.function is not None
        names = [p.name for p in callee.link.function.params]
        given = [self.wanted(emit, a, self.facts.holds(callee, Var(n))) for a, n in zip(args, names, strict=True)]
        return Call(self.batch.link(callee), (self.count, *given))

    def _op(self, emit: Emitter, op: Op, kind: Kind) -> Expr:
        fn = op.fn
        operands = [self._operand(a) for a in op.args]
        named = {name: self._operand(a) for name, a in op.kwargs}
        if fn in hashable(_ASKING, fn):
            return Op(SHAPING[fn], op.args) if operands[0].batch else op
        if isinstance(kind, Box):
            return self._structure(emit, op, operands)
        if any(self.facts.within(o.kind) for o in (*operands, *named.values())):
            return self.of_list(emit, op, operands, kind)
        try:
            return batched(emit, op, operands, named, self.count, kind)
        except NoRule:
            self.batch.loops = True
            return self.one_by_one(emit, op, kind)

    def _operand(self, atom: Atom) -> Operand:
        return Operand(atom, self.holds(atom), self.kind(atom))

    def _structure(self, emit: Emitter, op: Op, operands: list[Operand]) -> Expr:
        """Copies of containers are those of the batches in them."""
        if op.fn is arrays.filled:
            node = operands[0].kind.region.root() if isinstance(operands[0].kind, Box) else None
            whole = node is not None and not node.open and not any(isinstance(k, Obj) for k in node.fields.values())
            if not whole:
                raise Unbatchable("a list with parts that do not move", emit.span)
            return operands[0].atom
        if op.fn not in STRUCTURAL:
            raise Unbatchable("an operation that gives a container", emit.span)
        return op

    def _index(self, emit: Emitter, base: Atom, key: Key, kind: Kind) -> Expr:
        if isinstance(self.kind(base), Box):
            return Index(base, key)
        item = Index(base, self.key(emit, key, self.holds(base)))
        held = self.kind(base)
        if isinstance(kind, Num) and self.holds(base) and isinstance(held, Arr) and held.region.root().written:
            return Op(np.copy, (emit.let(item),))  # a number does not change when its array is written
        return item

    def _store(self, emit: Emitter, s: Store | Accumulate) -> None:
        kind = self.kind(s.base)
        if isinstance(kind, Box):
            key = self.facts.key(self.instance, kind, s.key)
            item = kind.region.any() if key is MISSING else kind.region.get(key)
            batch = isinstance(item, Num | Arr) and self.facts.slot(kind, key)
            emit.add(replace(s, value=self.wanted(emit, s.value, batch)))
            return
        if not self.holds(s.base):
            emit.add(s)
            return
        key_ = self.key(emit, s.key, True)
        value = s.value
        if self.holds(value):
            missing = self.selected(emit, kind, s.key) - Operand(value, True, self.kind(value)).rank
            if missing > 0:
                axes: Atom = Lit(1) if missing == 1 else emit.let(Make(tuple, tuple(map(Lit, range(1, 1 + missing)))))
                value = emit.op(np.expand_dims, value, axes)
        emit.add(replace(s, key=key_, value=value))


_ASKING = frozenset(SHAPING)
