"""List literals that are the operand of a single operation: they need no cotangents of their own.

    np.array([y[1], -y[0]])             # t_bar[0] goes to y[1], t_bar[1] to -y[0]
    np.concatenate([x, h], axis=1)      # t_bar[:, : n] goes to x, t_bar[:, n:] to h

By the general rule a list has a shadow, another list that lives as long as it. Where nothing but one operation, later
in its block, ever reads the list, what the operation's rule gives for it goes straight to the items. What the rule asks
of the list, its form, the reverse sweep makes anew of the items, or knows.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from tangentx import arrays, templates
from tangentx.analysis.types.kinds import Arr, Kind, Num
from tangentx.analysis.types.primitives import has_effect, makes_new
from tangentx.derive.emit import SHADOW, Emitter, Frame, mode
from tangentx.derive.reverse.context import Reverse
from tangentx.ir.nodes import Apply, Assign, Atom, Block, Ext, Index, Key, Lit, Make, Op, Slice, Statement, Var
from tangentx.ir.walk import atoms, blocks, reads, statements, writes


def operand_lists(frame: Frame) -> dict[str, Make]:
    """The lists and tuples of a function that are operands of one operation each, or items of such, by their names."""
    body = frame.function.body
    bound = Counter(name for s in statements(body) for name in writes(s))
    read = Counter(chain.from_iterable(_occurrences(s) for s in statements(body)))
    found: dict[str, Make] = {}
    todo: list[Block] = [body]
    while todo:
        block = todo.pop()
        todo += [inner for s in block for inner in blocks(s)]
        made: dict[str, Make] = {}
        for s in block:
            if isinstance(s, Assign):
                used = _used_up(frame, s, made)
                found |= {name: made[name] for name in used}
            for name in writes(s):
                made = {n: m for n, m in made.items() if n != name and Var(name) not in m.items}
            if isinstance(s, Assign) and isinstance(s.value, Make) and bound[s.target] == read[s.target] == 1:
                if _is_plain(frame, s.value, made):
                    made[s.target] = s.value
    return found


def _occurrences(s: Statement) -> list[str]:
    if isinstance(s, Assign):
        return [a.name for a in atoms(s.value) if isinstance(a, Var)]
    return list(reads(s))


def _is_plain(frame: Frame, value: Make, made: Mapping[str, Make]) -> bool:
    """Whether it is a list or tuple of numbers, arrays, what has no derivative, and such lists."""
    return value.cls in (list, tuple) and value.keys is None and all(_is_item(frame, a, made) for a in value.items)


def _is_item(frame: Frame, atom: Atom, made: Mapping[str, Make]) -> bool:
    kind = frame.kind(atom)
    number = isinstance(kind, Num) or (isinstance(kind, Arr) and kind.sure and not kind.none)
    return number or mode(kind) is None or (isinstance(atom, Var) and atom.name in made)


def _used_up(frame: Frame, s: Assign, made: Mapping[str, Make]) -> list[str]:
    """The lists that an operation reads, and those inside them, where it keeps nothing of them."""
    if not isinstance(s.value, Op) or has_effect(s.value):
        return []
    template, kind = templates.find(s.value.fn), frame.kinds[s.target]
    new = isinstance(kind, Num) or (isinstance(kind, Arr) and (makes_new(s.value.fn) or mode(kind) != SHADOW))
    if template is None or template.signature is not None or not new:
        return []
    names = [a.name for a in atoms(s.value) if isinstance(a, Var) and a.name in made]
    for name in names:
        names += [a.name for a in made[name].items if isinstance(a, Var) and a.name in made]
    return names


def read_for(operands: Mapping[str, Make]) -> Callable[[Statement], Iterable[str]]:
    """What the reverse of a statement may read: of lists that are operands, the items where the operation stands."""

    def items(name: str) -> Iterable[str]:
        if name not in operands:
            return (name,)
        return chain.from_iterable(items(a.name) for a in operands[name].items if isinstance(a, Var))

    def read(s: Statement) -> Iterable[str]:
        if isinstance(s, Assign) and s.target in operands:
            return ()
        return set(chain.from_iterable(map(items, reads(s))))

    return read if operands else reads


def made_again(r: Reverse, emit: Emitter, op: Op) -> tuple[Op, dict[Atom, Make]]:
    """The operation of lists that are made anew, with what they are made of."""
    found: dict[Atom, Make] = {}

    def anew(atom: Atom) -> Atom:
        if not (isinstance(atom, Var) and atom.name in r.parts.operands):
            return atom
        make = r.parts.operands[atom.name]
        again = emit.let(replace(make, items=tuple(map(anew, make.items))))
        found[again] = make
        return again

    args = tuple(map(anew, op.args))
    kwargs = tuple((name, anew(value)) for name, value in op.kwargs)
    return (Op(op.fn, args, kwargs), found) if found else (op, found)


def give_each(r: Reverse, emit: Emitter, op: Op, made: Kind, make: Make, cotangent: Atom) -> None:
    """The cotangents of the items of a list, of what the rule of an operation gives for it; `made` is the kind of the
    result."""
    fn, given = _made(emit, cotangent)
    if fn is arrays.nested or (fn is arrays.split_like and op.fn is np.stack and _axis(r, op, make) == 0):
        _give_items(r, emit, make, given[0], made)  # to each item an element, or a row
    elif fn is arrays.split_like and op.fn is np.concatenate and (axis := _axis(r, op, make)) is not None:
        _give_stretches(r, emit, make, given[0], axis, made)
    else:
        _give_items(r, emit, make, cotangent, None)


def _made(emit: Emitter, atom: Atom) -> tuple[object, Sequence[Atom]]:
    """The function of ours that a rule has just called for a name, and with what."""
    bound = {s.target: s.value for s in emit.block if isinstance(s, Assign)}
    match bound.get(atom.name) if isinstance(atom, Var) else None:
        case Var() as other:
            return _made(emit, other)
        case Op(fn=fn, args=args, kwargs=()):
            return fn, args
        case Apply(fn=Ext(value=fn), args=args, kwargs=()):
            return fn, args
    return None, ()


def _give_items(r: Reverse, emit: Emitter, make: Make, cotangent: Atom, whole: Kind | None) -> None:
    """To each item its part; `whole` is the kind of an array whose elements or rows the items are."""
    for k, item in enumerate(make.items):
        if isinstance(item, Var) and item.name in r.parts.operands:
            _give_items(r, emit, r.parts.operands[item.name], emit.item(cotangent, k), whole)
        elif r.frame.mode(item) is not None:
            fits = whole is not None and r.are_of_one_dtype(whole, r.frame.kind(item))
            r.give(emit, item, emit.item(cotangent, k), fits)


def _axis(r: Reverse, op: Op, make: Make) -> int | None:
    """The axis along which arrays of one rank, or numbers, are joined; None where it is not known."""
    kinds = [r.frame.kind(item) for item in make.items]
    ranks = {
        kind.rank if isinstance(kind, Arr) and kind.sure else 0 if isinstance(kind, Num) else None for kind in kinds
    }
    settings = dict(op.kwargs)
    axis = settings.pop("axis", op.args[1] if len(op.args) > 1 else Lit(0))
    known = isinstance(axis, Lit) and type(axis.value) is int and not settings and len(op.args) < 3
    if not known or len(ranks) != 1 or (rank := ranks.pop()) is None:
        return None
    rank += op.fn is np.stack
    return axis.value % rank if -rank <= axis.value < rank else None  # type: ignore[union-attr,operator]


def _give_stretches(r: Reverse, emit: Emitter, make: Make, joined: Atom, axis: int, made: Kind) -> None:
    """To each array its stretch of what has been joined."""
    start: Atom = Lit(None)
    for k, item in enumerate(make.items):
        last = k == len(make.items) - 1
        length = emit.op(builtins.len, item) if axis == 0 else emit.item(emit.op(np.shape, item), axis)
        stop: Atom = length if start == Lit(None) else emit.op(operator.add, start, length)
        if r.frame.mode(item) is not None:
            whole = (Slice(),) * axis
            key = Key((*whole, Slice(start, Lit(None) if last else stop)), many=axis > 0)
            r.give(emit, item, emit.let(Index(joined, key)), r.are_of_one_dtype(made, r.frame.kind(item)))
        start = stop
