"""Forward mode: beside each statement, the statement of the tangents.

A value's tangent is a variable, a storage's is a storage of the same layout, aliased and written as the primal is.
Where a statement reads what it overwrites, the new value and its tangent are found before either name is bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tangentx import arrays, templates
from tangentx.analysis.kinds import Arr, Box, Kind
from tangentx.analysis.primitives import is_constant, makes_new
from tangentx.analysis.program import Instance
from tangentx.analysis.selection import is_basic, known_key
from tangentx.derive.calls import instance_of
from tangentx.derive.emit import NONE, SHADOW, Emitter, Frame, item_at, motion, shadow_key
from tangentx.derive.tangents import fresh, notes_of, stored_copy
from tangentx.ir.nodes import (
    Accumulate,
    Append,
    Assign,
    Atom,
    Attr,
    Block,
    Call,
    Delete,
    Expr,
    Ext,
    For,
    Function,
    If,
    Index,
    Key,
    Lit,
    Loop,
    Make,
    Note,
    Op,
    Param,
    Pop,
    Return,
    Slice,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import atoms, reads

if TYPE_CHECKING:
    from tangentx.derive.jvp import Tangents


class Forward:
    """One instance in forward mode."""

    def __init__(self, tangents: Tangents, instance: Instance, is_root: bool = False) -> None:
        self.is_root = is_root
        self.tangents = tangents
        self.instance = instance
        self.frame = Frame(tangents.program, instance, "_dot", motion)

    def function(self, name: str) -> Function:
        """The derived function of a callee: primals, then the tangents of all that have one."""
        names = [p.name for p in self.frame.function.params]
        dots = [self.frame.other(n) for n in names if motion(self.frame.kinds[n]) is not None]
        params = tuple(Param(n) for n in (*names, *dots))
        body = self.block(self.frame.function.body)
        return Function(name, params, body, self.frame.function.span, notes=notes_of(self.frame, names))

    def block(self, block: Block) -> Block:
        """The block with its tangents."""
        out: list[Statement] = []
        for s in block:
            out += self.statement(s)
        return tuple(out)

    def statement(self, s: Statement) -> list[Statement]:
        """One statement with its tangents."""
        emit = Emitter(s.span)
        match s:
            case Assign():
                self._assign(emit, s)
            case Store():
                if self.frame.mode(s.base) == SHADOW:
                    emit.add(Store(self.dot(s.base), shadow_key(s.key), self._stored(emit, s), s.span))
                emit.add(s)
            case Accumulate():
                if self.frame.mode(s.base) == SHADOW and self.frame.mode(s.value) is not None:
                    emit.add(Accumulate(self.dot(s.base), s.key, self.dot(s.value), s.span))
                emit.add(s)
            case Append():
                box = self.frame.kind(s.base)
                if self.frame.mode(s.base) == SHADOW and isinstance(box, Box):
                    emit.add(Append(self.dot(s.base), self.slot(emit, box.region.any(), s.value), s.span))
                emit.add(s)
            case Delete():
                if self.frame.mode(s.base) == SHADOW:
                    emit.add(Delete(self.dot(s.base), shadow_key(s.key), s.span))
                emit.add(s)
            case If():
                emit.add(If(s.test, self.block(s.body), self.block(s.orelse), s.span))
            case For():
                emit.add(For(s.target, s.start, s.stop, s.step, s.backward, self.block(s.body), s.span))
            case Loop():
                emit.add(Loop(self.block(s.body), s.span))
            case Return():
                dot = self._returned(emit, s.value)
                emit.add(Return(emit.let(Make(tuple, (s.value, dot))), s.span))
            case Note():
                pass
            case _:
                emit.add(s)
        return emit.block

    def dot(self, atom: Atom) -> Var:
        """The tangent of a name that has one."""
        assert isinstance(atom, Var)
        return Var(self.frame.other(atom.name))

    def dot_or_zero(self, emit: Emitter, atom: Atom) -> Atom:
        """The tangent, or a zero in its place."""
        if self.frame.mode(atom) is not None:
            return self.dot(atom)
        return self.frame.zero(emit, atom, self.frame.kind(atom))

    def slot(self, emit: Emitter, item: Kind, atom: Atom) -> Atom:
        """What a tangent container holds for an item."""
        return self.dot_or_zero(emit, atom) if motion(item) is not None else NONE

    def _returned(self, emit: Emitter, value: Atom) -> Atom:
        return self.dot_or_zero(emit, value) if motion(self.instance.result) is not None else NONE

    def _stored(self, emit: Emitter, s: Store) -> Atom:
        kind = self.frame.kind(s.base)
        if isinstance(kind, Box):
            part = s.key.parts[0]
            assert not isinstance(part, Slice)
            known = known_key(kind, self.frame.kind(part))
            return self.slot(emit, item_at(kind, known), s.value)
        return self.dot(s.value) if self.frame.mode(s.value) is not None else Lit(0.0)

    def _assign(self, emit: Emitter, s: Assign) -> None:
        kind = self.frame.kinds[s.target]
        how = motion(kind)
        if isinstance(s.value, Call):
            self._call(emit, s, s.value)
            return
        if isinstance(s.value, Pop) and self.frame.mode(s.value.base) == SHADOW:
            taken = emit.let(Pop(self.dot(s.value.base)))
            emit.add(s)
            if how is not None:
                emit.assign(self.frame.other(s.target), taken)
            return
        if how is None:
            emit.add(s)
            return
        if s.target not in reads(s):
            emit.add(s)
            emit.assign(self.frame.other(s.target), self._tangent(emit, s.value, Var(s.target), kind))
            return
        new = emit.let(s.value)
        dot = self._tangent(emit, s.value, new, kind)
        emit.assign(s.target, new)
        emit.assign(self.frame.other(s.target), dot)

    def _tangent(self, emit: Emitter, value: Expr, new: Var, kind: Kind) -> Atom:
        """The tangent of an expression whose value is `new`."""
        match value:
            case Lit(value=None) if motion(kind) == SHADOW:
                return NONE
            case Var() | Lit() | Ext():
                return self.dot_or_zero(emit, value)
            case Index(base=base, key=key) if self.frame.mode(base) is not None:
                return self._index(emit, base, key, new, kind)
            case Attr(base=base, name=name) if self.frame.mode(base) == SHADOW:
                return emit.item(self.dot(base), name)
            case Make(items=items, keys=keys):
                assert isinstance(kind, Box)
                names = keys if keys is not None else tuple(range(len(items)))
                slots = tuple(self.slot(emit, item_at(kind, k), a) for k, a in zip(names, items, strict=True))
                return emit.let(Make(list, slots) if keys is None else Make(dict, slots, keys))
            case Op():
                return self._op(emit, value, new, kind)
        return self.frame.zero(emit, new, kind)

    def _index(self, emit: Emitter, base: Atom, key: Key, new: Var, kind: Kind) -> Atom:
        base_kind = self.frame.kind(base)
        item = emit.let(Index(self.dot(base), key))
        parts = tuple(() if isinstance(p, Slice) else self.frame.kind(p) for p in key.parts)
        if isinstance(base_kind, Box):
            return item if motion(_item_kind(self, base_kind, key)) is not None else self.frame.zero(emit, new, kind)
        if motion(kind) == SHADOW and not is_basic(parts):
            return stored_copy(emit, new, item)
        return item

    def _op(self, emit: Emitter, op: Op, new: Var, kind: Kind) -> Atom:
        template = templates.find(op.fn)
        base = next((a for a in op.args if self._views(kind, a)), None) if not makes_new(op.fn) else None
        if template is None or is_constant(op.fn, map(self.frame.kind, atoms(op))):
            return self.frame.zero(emit, new, kind)
        if base is None:
            return fresh(self, emit, op, template, new, kind)
        shared = emit.op(arrays.shares, new, base)
        name = emit.temporary()
        view, own = Emitter(emit.span), Emitter(emit.span)
        view.assign(name, Op(op.fn, tuple(self.dot(a) if a is base else a for a in op.args), op.kwargs))
        own.assign(name, fresh(self, own, op, template, new, kind))
        emit.add(If(shared, tuple(view.block), tuple(own.block), emit.span))
        return Var(name)

    def _views(self, kind: Kind, atom: Atom) -> bool:
        base = self.frame.kind(atom)
        alike = isinstance(kind, Arr) and isinstance(base, Arr) and kind.region.root() is base.region.root()
        return alike and self.frame.mode(atom) == SHADOW

    def _call(self, emit: Emitter, s: Assign, expr: Call) -> None:
        callee = instance_of(self.tangents.program, expr)
        how = motion(self.frame.kinds[s.target])
        params = [motion(callee.kinds[p.name]) for p in _function(callee).params]
        if not any(params) and motion(callee.result) is None:
            emit.add(s)
            if how is not None:
                emit.assign(
                    self.frame.other(s.target), self.frame.zero(emit, Var(s.target), self.frame.kinds[s.target])
                )
            return
        dots = tuple(self.dot_or_zero(emit, a) for a, m in zip(expr.args, params, strict=True) if m is not None)
        made = emit.let(Call(self.tangents.link(callee), (*expr.args, *dots)))
        emit.assign(s.target, Index(made, Key((Lit(0),))))
        if how is not None and motion(callee.result) is not None:
            emit.assign(self.frame.other(s.target), Index(made, Key((Lit(1),))))
        elif how is not None:
            emit.assign(self.frame.other(s.target), self.frame.zero(emit, Var(s.target), self.frame.kinds[s.target]))


def _item_kind(f: Forward, box: Box, key: Key) -> Kind:
    part = key.parts[0]
    known = known_key(box, f.frame.kind(part) if not isinstance(part, Slice) else None)
    return item_at(box, known)


def _function(instance: Instance) -> Function:
    assert instance.link.function is not None
    return instance.link.function
