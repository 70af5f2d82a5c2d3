"""Forward mode: each statement is followed by the statement of its tangents.

A value's tangent is a variable, a storage's is a storage of the same layout, aliased and written as the primal is.
Where a statement reads what it overwrites, the new value and its tangent are found before either name is bound.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Instance, Program
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, Obj
from tangentx.analysis.types.primitives import SPREADING, hashable, is_constant, makes_new, may_show
from tangentx.analysis.types.selection import is_basic, known_key, slots_alike
from tangentx.derive.checkpoint.calls import held, is_settled
from tangentx.derive.emit import NONE, SHADOW, VALUE, Emitter, Frame, item_at, motion, shadow_key
from tangentx.derive.prologue import arguments_of, entry, fetch, zeros_of_storages
from tangentx.derive.reverse.calls import instance_of
from tangentx.derive.rules import (
    Dialect,
    arguments,
    atom_of,
    checked,
    demand_rule,
    dialect,
    inline,
    is_square,
    lacking,
    requested,
    ruled,
    times,
)
from tangentx.ir.nodes import (
    WHOLE,
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
    Link,
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
from tangentx.templates import Template


def _keyword_only(fn: Any) -> list[str]:
    kinds = inspect.signature(fn).parameters.values()
    return [p.name for p in kinds if p.kind is inspect.Parameter.KEYWORD_ONLY]


def notes_of(frame: Frame, names: Iterable[str]) -> dict[str, Any]:
    """For the optimiser: the tangents of the parameters of these names, and which arrays have the shape of which."""
    moving = {frame.other(n): n for n in names if motion(frame.kinds[n]) is not None}
    return {
        "dots": tuple(moving),
        "alike": {dot: n for dot, n in moving.items() if isinstance(frame.kinds[n], Arr)},
    }


def stored_copy(emit: Emitter, new: Atom, dot: Atom) -> Atom:
    """The tangent of a new storage: memory laid out as the primal's."""
    made = emit.op(arrays.zero, new)
    emit.add(Store(made, WHOLE, dot, emit.span))
    return made


def fresh(f: Forward, emit: Emitter, op: Op, template: Template, new: Var, kind: Kind) -> Atom:
    """The tangent of an operation whose result is no view."""
    bound = arguments(op, template, emit.span)
    demand_rule(template, _silent(template), bound, lambda a: f.frame.mode(a) is not None, emit.span)
    rules = {"elementwise": _elementwise, "linear": _linear, "bilinear": _bilinear}
    dot = rules.get(template.kind, _adjoint)(f, emit, op, template, bound, new)
    dot = checked(emit, template, dot, new, new, "the tangent")
    if isinstance(kind, Box):
        return dot
    fitted = emit.op(arrays.unbroadcast, dot, new)
    return stored_copy(emit, new, fitted) if motion(kind) == SHADOW else fitted


def _silent(template: Template) -> Sequence[str]:
    """The parameters of whose tangents a rule says nothing, for forward mode."""
    if template.signature is None or template.kind == "elementwise":
        return template.refusing
    if template.tangent is None:
        return ()  # that there is no rule at all is said elsewhere
    asked = _keyword_only(template.tangent)
    return [p.name for p in template.params if f"{p.name}_dot" not in asked]


def _sum(emit: Emitter, terms: list[Atom], new: Atom) -> Atom:
    if not terms:
        return emit.op(arrays.zero, new)
    total = terms[0]
    for term in terms[1:]:
        total = emit.op(operator.add, total, term)
    return total


def _elementwise(f: Forward, emit: Emitter, op: Op, template: Template, bound: dict[str, Any], new: Var) -> Atom:
    requests = requested(emit, template, template.requests, bound, {"ans": new})
    partials = inline(f.frame.program.lift, emit, template.body, bound, requests, _dialect(f, op))
    names = list(template.cotangents)
    if is_square(names, partials, bound):
        names, partials = names[:1], [emit.op(operator.mul, Lit(2.0), partials[0])]
    terms = []
    for name, partial in zip(names, partials, strict=True):
        if name is not None and f.frame.mode(atom_of(bound[name])) is not None:
            terms.append(times(emit, template, partial, f.dot(atom_of(bound[name]))))
    return _sum(emit, terms, new)


def _dialect(f: Forward, op: Op) -> Dialect:
    return dialect(op, map(f.frame.kind, atoms(op)))


def _linear(f: Forward, emit: Emitter, op: Op, template: Template, bound: dict[str, Any], new: Var) -> Atom:
    if op.fn in hashable(SPREADING, op.fn) and f.frame.mode(op.args[0]) == SHADOW:
        # A read-only view of the tangent, which may be written yet; the view of the primal is not.
        copied = emit.op(np.array, f.dot_or_zero(emit, op.args[0]))
        return emit.let(Op(op.fn, (copied, *op.args[1:]), op.kwargs))
    moving = [a for a in op.args if f.frame.mode(a) is not None]
    if op.fn in hashable(_SUMS, op.fn) and len(moving) == 1:  # as it is: what is constant adds nothing
        dot = f.dot(moving[0])
        if op.fn is operator.sub and moving[0] is op.args[1]:
            return emit.op(operator.neg, dot)
        return emit.op(arrays.clone, dot) if f.frame.mode(moving[0]) == SHADOW else dot  # it may be written yet
    return _applied(f, emit, op, template, set(template.cotangents))


_SUMS = frozenset((operator.add, operator.sub))


def _bilinear(f: Forward, emit: Emitter, op: Op, template: Template, bound: dict[str, Any], new: Var) -> Atom:
    active = [n for n in template.cotangents if n and f.frame.mode(atom_of(bound[n])) is not None]
    terms = [_applied(f, emit, op, template, {name}) for name in active]
    return _sum(emit, terms, new)


def _applied(f: Forward, emit: Emitter, op: Op, template: Template, names: set[str | None]) -> Atom:
    """The primal with the tangents of the named parameters in their places: one name may stand at several."""
    own = [p.name for p in template.params]
    star = next((i for i, p in enumerate(template.params) if p.kind is p.VAR_POSITIONAL), len(own))
    args = tuple(_whole_dot(f, emit, a) if own[min(i, star)] in names else a for i, a in enumerate(op.args))
    kwargs = tuple((k, _whole_dot(f, emit, a) if k in names else a) for k, a in op.kwargs)
    return emit.let(Op(op.fn, args, kwargs))


def _whole_dot(f: Forward, emit: Emitter, atom: Atom) -> Atom:
    """The tangent of an operand, zeros in a container where items have none."""
    dot, kind = f.dot_or_zero(emit, atom), f.frame.kind(atom)
    return emit.op(arrays.filled, dot, atom) if isinstance(kind, Box) and not _moves_whole(kind) else dot


def _moves_whole(box: Box) -> bool:
    """Whether each part of such a container is a number or an array with a tangent, so that none is None."""
    node = box.region.root()
    items = [box.region.any()] if node.open or slots_alike(box) else list(node.fields.values())
    return all(isinstance(k, Num) or (isinstance(k, Arr) and not k.none) for k in items) and all(map(motion, items))


def _adjoint(f: Forward, emit: Emitter, op: Op, template: Template, bound: dict[str, Any], new: Var) -> Atom:
    if template.tangent is None:
        raise lacking(template, "tangent", emit.span)
    given: dict[str, Atom] = {"ans": new}
    dot_of = f.dot_or_zero if template.signature is None else functools.partial(_whole_dot, f)
    for name in template.params:
        value = bound[name.name]
        if isinstance(value, tuple):
            dots = tuple(dot_of(emit, atom_of(a)) for a in value)
            given[f"{name.name}_dot"] = emit.let(Make(list, dots))
        else:
            given[f"{name.name}_dot"] = dot_of(emit, atom_of(value))
    wanted = _keyword_only(template.tangent)
    requests = requested(emit, template, wanted, bound, given)
    found = inline(f.frame.program.lift, emit, template.tangent, bound, requests, _dialect(f, op))
    return found[0] if len(found) == 1 else emit.let(Make(list, tuple(found)))


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
        absent = isinstance(item, Box) and self.frame.kind(atom) == Obj(None)
        return NONE if absent or motion(item) is None else self.dot_or_zero(emit, atom)

    def _returned(self, emit: Emitter, value: Atom) -> Atom:
        return self.slot(emit, self.instance.result, value)

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
            case Var() if isinstance(kind, Box):
                return self.slot(emit, kind, value)
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
        rule, template = ruled(op)
        shown = () if makes_new(op.fn) else [a for place, a in enumerate(op.args) if may_show(op.fn, place)]
        base = next((a for a in shown if self._views(kind, a)), None)
        if template is None or is_constant(op.fn, map(self.frame.kind, atoms(op))):
            return self.frame.zero(emit, new, kind)
        if not any(self.frame.mode(a) is not None for a in atoms(op)):  # memory that is varied elsewhere
            return self.frame.zero(emit, new, kind)
        if base is None:
            return fresh(self, emit, rule, template, new, kind)
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
        items = [callee.kinds[p.name] for p in _function(callee).params]
        if not (any(map(motion, items)) or motion(callee.result)) or s.target in held(self.frame.function):
            emit.add(s)
            if how is not None:
                zero = self.frame.zero_value(Var(s.target), self.frame.kinds[s.target])
                emit.assign(self.frame.other(s.target), zero)
            return
        dots = tuple(self.slot(emit, k, a) for a, k in zip(expr.args, items, strict=True) if motion(k) is not None)
        args: tuple[Atom, ...] = expr.args
        if settles := is_settled(callee):  # the answer first, for the step moves with it
            args = (emit.let(expr), *expr.args[1:])
        made = emit.let(Call(self.tangents.link(callee), (*args, *dots)))
        emit.assign(s.target, args[0] if settles else Index(made, Key((Lit(0),))))
        if how is not None and motion(callee.result) is not None:
            emit.assign(self.frame.other(s.target), Index(made, Key((Lit(1),))))
        elif how is not None:
            emit.assign(self.frame.other(s.target), self.frame.zero_value(Var(s.target), self.frame.kinds[s.target]))


def _item_kind(f: Forward, box: Box, key: Key) -> Kind:
    part = key.parts[0]
    known = known_key(box, f.frame.kind(part) if not isinstance(part, Slice) else None)
    return item_at(box, known)


def _function(instance: Instance) -> Function:
    assert instance.link.function is not None
    return instance.link.function


@dataclass(eq=False)
class Tangents:
    """Forward mode of a whole program: one derived function for each instance that a derivative flows through."""

    program: Program
    links: dict[Instance, Link] = field(default_factory=dict)
    pending: list[Instance] = field(default_factory=list)

    def link(self, instance: Instance) -> Link:
        """The derived function of a callee; written by `finish`."""
        if instance not in self.links:
            self.links[instance] = Link(f"{instance.link.name}_tangent")
            self.pending.append(instance)
        return self.links[instance]

    def finish(self) -> None:
        """Writes the functions that were asked for."""
        while self.pending:
            instance = self.pending.pop(0)
            link = self.links[instance]
            link.function = Forward(self, instance).function(link.name)


def tangent(program: Program, instance: Instance, with_tangent: Sequence[int]) -> Function:
    """The root: primals by position, then the tangents of those at `with_tangent`; returns (value, tangent)."""
    tangents = Tangents(program)
    f = Forward(tangents, instance, is_root=True)
    names = [p.name for p in f.frame.function.params]
    chosen = [names[i] for i in with_tangent if motion(f.frame.kinds[names[i]]) is not None]
    dots = [f.frame.other(n) for n in chosen]
    emit = Emitter(f.frame.function.span)
    fetch(instance, emit)
    entry(instance, emit, arguments_of(instance))
    _own_tangents(emit, f, chosen)
    still = [name for name in names if name not in chosen]
    zeros_of_storages(f.frame, emit, [name for name in still if motion(f.frame.kinds[name]) == SHADOW])
    for name in still:
        if motion(f.frame.kinds[name]) == VALUE:
            emit.assign(f.frame.other(name), f.frame.zero_value(Var(name), f.frame.kinds[name]))
    body = (*emit.block, *f.block(f.frame.function.body))
    tangents.finish()
    params = tuple(Param(n) for n in (*arguments_of(instance), *dots))
    notes = notes_of(f.frame, chosen) | {"of primal": all(i.source.origin is not None for i in program.reached())}
    return Function(f"{instance.source.name}_jvp", params, body, f.frame.function.span, notes=notes)


def _own_tangents(emit: Emitter, f: Forward, chosen: Sequence[str]) -> None:
    """Tangents of storages are copied in the layout of the primal: the user's are not written."""
    for name in chosen:
        kind = f.frame.kinds[name]
        if motion(kind) == SHADOW:
            dot = Var(f.frame.other(name))
            emit.assign(dot.name, Op(arrays.tangent_as, (dot, Var(name))))
