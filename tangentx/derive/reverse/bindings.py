"""Reverse rules of assignments, and the table of rules by kind of statement."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tangentx import arrays
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num, is_view
from tangentx.analysis.types.primitives import is_by_element, is_constant
from tangentx.analysis.types.selection import is_basic
from tangentx.analysis.types.structure_results import COPIES
from tangentx.derive.checkpoint.calls import held, is_settled, repeated
from tangentx.derive.emit import SHADOW, VALUE, Emitter, item_of_box, mode
from tangentx.derive.reverse.accumulate import demand_straight, give_slot, give_where_made, turned
from tangentx.derive.reverse.calls import call, instance_of, needs_reverse, unreversed
from tangentx.derive.reverse.context import Reverse
from tangentx.derive.reverse.item_cotangents import give_item, give_parts
from tangentx.derive.reverse.operand_lists import give_each, made_again
from tangentx.derive.reverse.shadows import parts_of, shadow_of
from tangentx.derive.reverse.stores import accumulate, append, delete, pop, store
from tangentx.derive.reverse.tape import restored
from tangentx.derive.rules import cotangents, dialect, ruled
from tangentx.ir.nodes import (
    UNBOUND,
    Accumulate,
    Append,
    Apply,
    Assign,
    Atom,
    Attr,
    Call,
    Delete,
    Ext,
    If,
    Index,
    Key,
    Lit,
    Make,
    Op,
    Pop,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import atoms, statements, writes
from tangentx.templates import Template


def _assign(r: Reverse, s: Assign, forward: Emitter, reverse: Emitter) -> None:
    match s.value:
        case Call():
            _call(r, s, s.value, forward, reverse)
        case Pop(base=base):
            pop(r, s, base, forward, reverse)
        case _:
            _bind(r, s, forward, reverse)


def _call(r: Reverse, s: Assign, expr: Call, forward: Emitter, reverse: Emitter) -> None:
    callee = instance_of(r.program, expr)
    if not needs_reverse(r.program, callee) or s.target in held(r.frame.function):
        unreversed(r, s, forward, reverse)
    elif expr.link in r.program.checkpoints.links or is_settled(callee):
        repeated(r, s, expr, callee, r.derive.pair(callee), forward, reverse)
    else:
        call(r, s, expr, callee, forward, reverse)


def _bind(r: Reverse, s: Assign, forward: Emitter, reverse: Emitter) -> None:
    """A name bound to what an expression gives: the value first, then its shadow, then both names."""
    kind = r.frame.kinds[s.target]
    how = r.how(s.target)
    if s.target in r.stacks:
        forward.add(s)
        return
    restore = r.record(forward, s.target)
    if how == SHADOW:
        value = forward.let(s.value)
        shadow, shared = shadow_of(r, s.value, value, kind, forward)
        forward.assign(s.target, value)
        forward.assign(r.frame.other(s.target), shadow)
    else:
        shared = None
        forward.add(s)
    if how is None:
        restore(reverse)
        restored(r, reverse, s)
        if s.target in r.parts.made:
            assert isinstance(s.value, Make)
            give_parts(r, reverse, s.value)
        return
    back = Emitter(s.span)
    restore(back)
    restored(r, back, s)
    anew = {name for each in back.block for name in writes(each)}
    other = Var(r.frame.other(s.target))
    ans = reverse.let(Var(s.target)) if s.target in anew else Var(s.target)
    t = reverse.let(other) if other.name in anew else other
    flag = shared(reverse) if shared is not None else None
    reverse.add(*back.block)
    inner = Emitter(s.span)
    if isinstance(s.value, Op) and isinstance(kind, Box):
        demand_straight(kind, s.span)
    _contribute(r, s, ans, turned(inner, kind, t), kind, inner)
    if flag is None:
        reverse.add(*inner.block)
    elif inner.block:
        reverse.add(If(flag, (), tuple(inner.block), s.span))


def _contribute(r: Reverse, s: Assign, ans: Atom, t: Atom, kind: Kind, emit: Emitter) -> None:
    """Gives the cotangent `t` of what is bound to the operands."""
    match value := s.value:
        case Var():
            if mode(kind) == VALUE:
                r.give(emit, value, t, r.is_alike(kind, r.frame.kind(value)))
        case Op():
            _contribute_op(r, value, ans, t, kind, emit, s)
        case Index(base=Var(name=name)) if name in r.parts.held:
            give_item(r, emit, value, t)
        case Index(base=base, key=key):
            _contribute_index(r, base, key, t, kind, emit)
        case Attr(base=base, name=name):
            _contribute_slot(r, base, name, t, kind, emit)
        case Make(items=items, keys=keys):
            for key, item in zip(keys if keys is not None else range(len(items)), items, strict=True):
                if isinstance(kind, Box) and mode(kind.region.get(key)) == VALUE and r.frame.mode(item):
                    r.give(emit, item, emit.item(t, key))


def _contribute_op(r: Reverse, op: Op, ans: Atom, t: Atom, kind: Kind, emit: Emitter, s: Statement) -> None:
    if id(s) in r.parts.summed.sums:
        emit.assign(r.parts.summed.sums[id(s)], t)
        return
    rule, template = ruled(op)
    if template is None or is_constant(op.fn, map(r.frame.kind, atoms(op))):
        return
    swaps = dialect(op, map(r.frame.kind, atoms(op)))
    rule, lists = made_again(r, emit, rule)
    moving = {again for again, make in lists.items() if any(r.frame.mode(item) is not None for item in make.items)}

    def wanted(a: Atom) -> bool:
        return a in moving or r.frame.mode(a) is not None

    if not any(map(wanted, atoms(rule))):  # memory that is varied elsewhere
        return
    found = cotangents(r.program.lift, emit, rule, template, ans, t, wanted, swaps)
    while found:
        operand, cotangent = found.pop(0)
        if operand in lists:
            give_each(r, emit, rule, kind, lists[operand], cotangent)
            continue
        if r.frame.mode(operand) is not None and _is_joined(r, template, operand):
            for other in [pair for pair in found if pair[0] == operand]:
                cotangent = emit.op(operator.add, cotangent, other[1])
                found.remove(other)
        if _binds_all(r, s, operand, cotangent, emit):
            emit.assign(r.other(operand).name, cotangent)
            continue
        if op.fn in PARTS and _may_have_no_value(r, operand):
            if op.fn is arrays.entry_copy:
                cotangent = emit.op(arrays.once, cotangent)  # what is one in the copy is given back once
            give_where_made(emit, r.frame.kind(operand), r.other(operand), operand, cotangent)
            continue
        r.give(emit, operand, cotangent, _keeps_shape(r, op, kind, operand, s))


def _binds_all(r: Reverse, s: Statement, operand: Atom, cotangent: Atom, emit: Emitter) -> bool:
    """Whether the statement is the last that reads a list whose cotangents begin in the reverse sweep, and gives them
    each in the form of its item and in memory of its own."""
    if not isinstance(operand, Var) or operand.name not in r.stacks or r.stacks[operand.name].end is not s:
        return False
    for each in emit.block:
        match each:
            case Assign(target=target, value=Apply(fn=Ext(value=fn), args=(_, like, *_))) if fn in _BY_ITEM:
                if Var(target) == cotangent and like == operand:
                    return True
    return False


_BY_ITEM = (arrays.nested, arrays.split_like, arrays.repeated)
"""Adjoints that give a list for a list, of each item what that gets."""


PARTS = frozenset((*COPIES, arrays.copied_tangent, arrays.once, arrays.own_parts))
"""Operations that take what has no value yet, or holds such parts, as it is."""


def _may_have_no_value(r: Reverse, operand: Atom) -> bool:
    """Whether an operand that varies may have no value yet, or hold what has none."""
    if not isinstance(operand, Var) or r.frame.mode(operand) is None:
        return False
    return isinstance(r.frame.kind(operand), Box) or operand.name in _without_value(r)


def _without_value(r: Reverse) -> set[str]:
    """The names of a function that may have no value, because nothing was bound, or because it was taken from a name or
    a container that may have none."""
    found: set[str] = set()
    bindings = [s for s in statements(r.frame.function.body) if isinstance(s, Assign)]
    before = -1
    while before < len(found):
        before = len(found)
        for s in bindings:
            match s.value:
                case Lit(value) if value is UNBOUND:
                    found.add(s.target)
                case Var(name) if name in found:
                    found.add(s.target)
                case Index(base=base) | Pop(base=base) if isinstance(r.frame.kind(base), Box):
                    found.add(s.target)
    return found


def _is_joined(r: Reverse, template: Template, operand: Atom) -> bool:
    """Whether the cotangents of an operand that is given twice have one shape: that of the result, or of a vector."""
    kind = r.frame.kind(operand)
    vector = isinstance(kind, Arr) and kind.sure and kind.rank == 1
    return template.kind == "elementwise" or (template.kind == "bilinear" and vector)


def _keeps_shape(r: Reverse, op: Op, made: Kind, operand: Atom, s: Statement) -> bool:
    """Whether the result of an operation element by element has the shape and dtype of the operand for certain: the
    others are numbers, or the same array, or it is written over the operand, or their shapes are known."""
    if op.kwargs or not is_by_element(op.fn) or not r.is_alike(made, r.frame.kind(operand)):
        return False
    if isinstance(operand, Var) and (id(s), operand.name) in r.derive.fits:
        return True
    over = r.filling.get(id(s))
    return operand == over or all(a == operand or isinstance(r.frame.kind(a), Num) for a in op.args)


def _contribute_index(r: Reverse, base: Atom, key: Key, t: Atom, kind: Kind, emit: Emitter) -> None:
    base_kind = r.frame.kind(base)
    if r.frame.mode(base) is None:
        return
    if isinstance(base_kind, Arr):
        if not (mode(kind) == SHADOW and is_view(kind, base_kind) and is_basic(parts_of(r, key))):
            emit.add(Accumulate(r.other(base), key, turned(emit, base_kind, t), emit.span))
        return
    assert isinstance(base_kind, Box)
    item = item_of_box(r.frame, base_kind, key)
    if mode(item) == VALUE:
        give_slot(emit, item, r.other(base), key, emit.let(Index(base, key)), t, r.is_alike(kind, item))


def _contribute_slot(r: Reverse, base: Atom, name: str, t: Atom, kind: Kind, emit: Emitter) -> None:
    base_kind = r.frame.kind(base)
    if r.frame.mode(base) is None or not isinstance(base_kind, Box):
        return
    item = base_kind.region.get(name)
    if mode(item) == VALUE:
        fits = r.is_alike(kind, item)
        give_slot(emit, item, r.other(base), Key((Lit(name),)), emit.let(Attr(base, name)), t, fits)


RULES: dict[type[Statement], Callable[[Reverse, Any, Emitter, Emitter], None]] = {
    Assign: _assign,
    Store: store,
    Accumulate: accumulate,
    Append: append,
    Delete: delete,
}
