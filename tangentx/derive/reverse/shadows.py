"""Shadows of new storage: copies, views and containers; and arrays that need no shared one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tangentx import arrays
from tangentx.analysis.types.kinds import MISSING, Arr, Box, Kind, Num, Region, is_view
from tangentx.analysis.types.primitives import DIAGONALS, SPREADING, hashable, is_by_element, makes_new, may_show
from tangentx.analysis.types.selection import is_basic, slots_alike
from tangentx.derive.emit import NONE, SHADOW, VALUE, Emitter, Frame, item_at, item_of_box, mode
from tangentx.derive.reverse.context import Reverse
from tangentx.errors import UnsupportedSyntax
from tangentx.ir.nodes import (
    WHOLE,
    Assign,
    Atom,
    Attr,
    Block,
    Expr,
    For,
    If,
    Index,
    Key,
    Lit,
    Loop,
    Make,
    Op,
    Slice,
    Statement,
    Store,
    Var,
)
from tangentx.ir.walk import blocks, bound, key_atoms, reads, statements, writes

# Shadows of new storage: copies, views and containers.


def parts_of(r: Reverse, key: Key) -> tuple[Any, ...]:
    """The kinds of the parts of a key, an empty tuple for a slice."""
    return tuple(() if isinstance(p, Slice) else r.frame.kind(p) for p in key.parts)


def shadow_of(
    r: Reverse, value: Expr, new: Var, kind: Kind, forward: Emitter
) -> tuple[Atom, Callable[[Emitter], Atom] | None]:
    """The shadow of a new storage, and for a possible view what tells in the reverse sweep whether it is one."""
    match value:
        case Var() | Lit(value=None):
            return r.shadow(forward, value), None
        case Index(base=base, key=key) if r.frame.mode(base) == SHADOW:
            base_kind = r.frame.kind(base)
            if isinstance(base_kind, Box):
                if mode(item_of_box(r.frame, base_kind, key)) == SHADOW:
                    return forward.let(Index(r.other(base), key)), None
            elif is_view(kind, base_kind) and is_basic(parts_of(r, key)):
                return forward.let(Index(r.other(base), key)), None
        case Attr(base=base, name=name) if r.frame.mode(base) == SHADOW:
            return forward.item(r.other(base), name), None
        case Make(items=items, keys=keys):
            return _shadow_of_made(r, value, items, keys, kind, forward), None
        case Op():
            return _shadow_of_op(r, value, new, kind, forward)
    return r.frame.zero(forward, new, kind), None


def _shadow_of_made(
    r: Reverse, value: Make, items: tuple[Atom, ...], keys: tuple[Any, ...] | None, kind: Kind, forward: Emitter
) -> Atom:
    assert isinstance(kind, Box)
    names = keys if keys is not None else tuple(range(len(items)))
    alike = item_at(kind, MISSING) if slots_alike(kind) else None  # asked once: it joins the kinds of all items
    pairs = zip(names, items, strict=True)
    slots = tuple(slot(r, alike or item_at(kind, key), item, forward) for key, item in pairs)
    return forward.let(Make(list, slots) if keys is None else Make(dict, slots, keys))


def slot(r: Reverse, item: Kind, atom: Atom, forward: Emitter) -> Atom:
    """What a shadow container holds for an item: a zero for a value, a storage's shadow, None for anything else."""
    how = mode(item)
    if how == VALUE:
        return r.frame.zero(forward, atom, r.frame.kind(atom))
    return r.shadow(forward, atom) if how == SHADOW else NONE


def _shadow_of_op(
    r: Reverse, op: Op, new: Var, kind: Kind, forward: Emitter
) -> tuple[Atom, Callable[[Emitter], Atom] | None]:
    """A result that may be a view of an operand: NumPy is asked at run time, and the shadow follows.

    Not where a view shows an element at several places: what each of them gets has to be added up, and nobody writes
    into such a view, nor into what it shows.
    """
    shown = [a for place, a in enumerate(op.args) if may_show(op.fn, place)]
    may_view = [a for a in shown if r.frame.mode(a) == SHADOW and is_view(kind, r.frame.kind(a))]
    own_shadow = makes_new(op.fn) or op.fn in hashable(SPREADING, op.fn)
    base = next(iter(may_view), None) if not own_shadow else None
    if base is None:
        _refuse_hidden_views(r, op, kind, forward)
        return r.frame.zero(forward, new, kind), None
    flag = r.frame.names.fresh("shared")
    shared = forward.assign(flag, Op(arrays.shares, (new, base)))
    tell = r.once_more(forward, flag)
    name = forward.temporary()
    view, own = Emitter(forward.span), Emitter(forward.span)
    other = tuple(r.other(a) if a is base else a for a in op.args)
    found = view.let(Op(op.fn, other, op.kwargs))
    view.assign(name, Op(arrays.writable, (found,)) if op.fn in hashable(DIAGONALS, op.fn) else found)
    own.assign(name, r.frame.zero_value(new, kind))
    forward.add(If(shared, tuple(view.block), tuple(own.block), forward.span))
    return Var(name), tell


def _refuse_hidden_views(r: Reverse, op: Op, kind: Kind, emit: Emitter) -> None:
    if not isinstance(kind, Box):
        return
    inside = [k for k in (*kind.region.root().fields.values(), kind.region.root().elt) if isinstance(k, Arr)]
    for atom in op.args:
        if any(is_view(k, r.frame.kind(atom)) and mode(k) == SHADOW for k in inside):
            raise UnsupportedSyntax(
                f"`{op.fn.__name__}` returns several views of an array that is written or indexed",
                emit.span,
                "take the views one by one with slices",
            )


# In-place results: operations whose result overwrites an operand, and so has its shape.

NEAR = 4
"""How many statements before the write the result may be made."""


def filling(body: Block) -> dict[int, Atom]:
    """For the identity of each ``t = op(a, ...)``, element by element, and of ``a[...] = t`` after it: the array."""
    found: dict[int, Atom] = {}
    for block in [body, *(inner for s in statements(body) for inner in blocks(s))]:
        for i, s in enumerate(block):
            if isinstance(s, Store) and s.key == WHOLE and isinstance(s.base, Var) and isinstance(s.value, Var):
                made = _made(block[max(i - NEAR, 0) : i], s.base, s.value)
                if made is not None:
                    found[id(made)] = found[id(s)] = s.base
    return found


def _made(before: Block, base: Var, value: Var) -> Assign | None:
    """What binds the value of these statements, by an operation on the array that is named until the write."""
    for s in reversed(before):
        if isinstance(s, Assign) and s.target == value.name:
            op = s.value
            fits = isinstance(op, Op) and not op.kwargs and is_by_element(op.fn) and base in op.args
            return s if fits and value != base else None
        if bound((s,)) & {base.name, value.name}:
            return None
    return None


# Arrays used by value only: their cotangents are separate arrays although the values are views.
#
#     a = x[:3]               # x_bar[:3] += a_bar
#     for step in range(4):
#         a = a + 0.1 * np.sin(a)
#
# By the general rule what may share memory with `x`, which is indexed, has a shadow that shares memory with that of
# `x` alike. It is made in the forward sweep, and recorded wherever the name is bound anew. Where nobody writes into
# memory it makes no difference who shares it: a view is as good as a copy, whose cotangent is given back whole. So
# names whose values are operands of operations alone, and copies of one another, are counted as memory of their own.
#
# Numbers may be read out of them, too. The cotangent is a storage then, to which each number adds its own, and making
# it must not take longer than what is there anyhow: views that a loop forms stay what they are.


def set_apart(frame: Frame) -> None:
    """Gives the names of a function of which that holds kinds with regions of their own."""
    body = frame.function.body
    found = {name for name in frame.kinds if _is_read_only(frame, name)} - {p.name for p in frame.function.params}
    if not found or any(isinstance(s, For) and s.snapshots is not None for s in statements(body)):
        return  # steps of a checkpointed loop hand their names on by what the program's kinds say
    left = -1
    while left != len(found):
        left = len(found)
        for s in statements(body):
            found.difference_update(_otherwise_used(frame, s, found))
    looped = {id(s) for each in statements(body) if isinstance(each, For | Loop) for s in statements(each.body)}
    for names in _copies_of_one_another(body, found):
        bindings = [s for s in statements(body) if isinstance(s, Assign) and s.target in names]
        indexed = any(_base(s) in names for s in statements(body))
        if not (_is_worth_it(bindings, looped) if indexed else _is_more_than_views(bindings)):
            continue
        kind = frame.kinds[min(names)]
        assert isinstance(kind, Arr)
        own = Region(kind.region.world)
        own.varied, own.indexed = True, indexed
        for name in names:
            frame.kinds[name] = frame.kinds[name].at(own)  # type: ignore[union-attr]


def _copies_of_one_another(body: Block, found: set[str]) -> list[set[str]]:
    """The names, those together of which one is bound to another."""
    groups = {name: {name} for name in found}
    for s in statements(body):
        if isinstance(s, Assign) and isinstance(s.value, Var) and s.target in found and s.value.name in found:
            joined = groups[s.target] | groups[s.value.name]
            groups |= dict.fromkeys(joined, joined)
    return list({id(group): group for group in groups.values()}.values())


def _base(s: Statement) -> str | None:
    """The name of what a statement takes a part of."""
    match s:
        case Assign(value=Index(base=Var(name))):
            return name
    return None


def _is_more_than_views(bindings: list[Assign]) -> bool:
    """Whether some binding is not a part of another array, cut out there: of those that are, the shadows are the same
    parts of shadows, cut out again where the reverse sweep needs them."""
    return not all(isinstance(s.value, Index) for s in bindings)


def _is_worth_it(bindings: list[Assign], looped: set[int]) -> bool:
    """Whether one binding makes an array, and none is a view that is formed in a loop."""
    made = [isinstance(s.value, Op) and makes_new(s.value.fn) for s in bindings]
    return any(made) and all(new or id(s) not in looped for s, new in zip(bindings, made, strict=True))


def _is_read_only(frame: Frame, name: str) -> bool:
    """Whether the name has a shadow, though nobody writes into its memory, nor views imaginary parts in it."""
    kind = frame.kinds[name]
    if not isinstance(kind, Arr) or kind.none or mode(kind) != SHADOW:
        return False
    return kind.region.still() and not kind.region.root().parted


def _otherwise_used(frame: Frame, s: Statement, found: set[str]) -> Iterator[str]:
    """The names that a statement binds, or reads, in another way than operations do."""
    match s:
        case Assign(target=target, value=Var(name)) if isinstance(frame.kinds.get(name), Arr):
            yield from () if target in found else (name,)
        case Assign(target=target, value=Op(fn=fn)) if not isinstance(frame.kinds[target], Box):
            # What goes back to a diagonal through the whole matrix costs more than a view of the diagonal.
            yield from (target,) if fn in hashable(DIAGONALS, fn) else ()
        case Assign(target=target, value=Index(base=base, key=key)) if isinstance(frame.kind(base), Arr):
            number = isinstance(frame.kinds[target], Num)
            yield from [a.name for a in key_atoms(key) if isinstance(a, Var)] if number else reads(s)
        case _:
            yield from writes(s)
            yield from reads(s)
