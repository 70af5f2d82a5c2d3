"""Batched functions inside a program: all members at once, or a loop."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.program import Instance
from tangentx.analysis.types.kinds import Arr, Box, Kind, Num
from tangentx.common.naming import Names
from tangentx.derive.emit import Emitter
from tangentx.derive.prologue import arguments_of
from tangentx.derive.reverse.callee_pairs import as_params
from tangentx.errors import NotDifferentiable
from tangentx.ir.nodes import Append, Atom, Call, For, Function, Index, Key, Link, Lit, Make, Op, Return, Var

HINT = "return a number or an array, or a tuple, list or dict of them"


@dataclass(frozen=True)
class Wanted:
    """The batch's axis in each parameter, None where it is no batch, and in the result."""

    axes: tuple[int | None, ...]
    out: int


def gathered(instance: Instance, wanted: Wanted, at_once: Function | None) -> Function:
    """The function of batches, from that of the number of members and of all of them with their axis first.

    Where there is none, the members go through the program one after the other. Raises NotDifferentiable for results
    that cannot be put together.
    """
    emit = Emitter(instance.source.span)
    names = arguments_of(instance)
    given: list[Atom] = [
        Var(name) if not axis else _first(emit, Var(name), axis) for name, axis in zip(names, wanted.axes, strict=True)
    ]
    first, *others = [i for i, axis in enumerate(wanted.axes) if axis is not None]
    for i in others:
        given[i] = emit.op(arrays.same_members, given[i], given[first])
    count = emit.op(builtins.len, given[first])
    if at_once is not None:
        made: Atom = emit.let(Call(Link(at_once.name, at_once), (count, *given)))
        if _shares(instance):
            made = emit.op(arrays.entry_copy, made)
    else:
        made = _one_by_one(emit, instance, given, wanted, count)
    if wanted.out:
        if isinstance(instance.result, Box):
            message = f"out_axes={wanted.out} for a result of several parts inside a differentiated function"
            raise NotDifferentiable(message, emit.span, "leave out_axes at 0, and move the axes of the parts")
        made = emit.let(Op(np.moveaxis, (made, Lit(0), Lit(wanted.out))))
    emit.add(Return(made, emit.span))
    return Function(f"{instance.source.name}_batch", as_params(names), tuple(emit.block), emit.span)


def _first(emit: Emitter, x: Atom, axis: int) -> Atom:
    return emit.let(Op(np.moveaxis, (x, Lit(axis), Lit(0))))


def _shares(instance: Instance) -> bool:
    """Whether the result may hold memory of an argument, which nobody would expect of a new batch."""
    known: set[object] = set()
    for kind in instance.params:
        _collect(kind, known)
    found: set[object] = set()
    _collect(instance.result, found)
    return bool(known & found)


def _collect(kind: Kind, found: set[object]) -> None:
    if isinstance(kind, Arr | Box) and (node := kind.region.root()) not in found:
        found.add(node)
        for item in (*node.fields.values(), node.elt) if isinstance(kind, Box) else ():
            _collect(item, found)


def _one_by_one(emit: Emitter, instance: Instance, given: Sequence[Atom], wanted: Wanted, count: Atom) -> Atom:
    keys = _parts(instance)
    lists = [emit.let(Make(list, ())) for _ in (keys or (None,))]
    place = Var(Names(instance.kinds).fresh("member"))
    inner = Emitter(emit.span)
    members = []
    for x, axis in zip(given, wanted.axes, strict=True):
        one: Atom = x if axis is None else inner.let(Index(x, Key((place,))))
        members.append(inner.op(arrays.entry_copy, one))
    function = instance.link.function
    assert function is not None
    result = inner.let(Call(Link(function.name, function), tuple(members)))
    for found, part in zip(lists, [inner.item(result, key) for key in keys] if keys else [result], strict=True):
        inner.add(Append(found, part, emit.span))
    emit.add(For(place.name, Lit(0), count, Lit(1), False, tuple(inner.block), emit.span))
    stacked = tuple(emit.op(np.stack, found) for found in lists)
    if not keys:
        return stacked[0]
    assert isinstance(instance.result, Box)
    cls = instance.result.cls
    return emit.let(Make(cls, stacked, tuple(keys) if cls is dict else None))


def _parts(instance: Instance) -> list[object]:
    """The keys of a result of several parts, none for one number or array. Raises NotDifferentiable."""
    kind, span = instance.result, instance.source.span
    if isinstance(kind, Num | Arr):
        return []
    node = kind.region.root() if isinstance(kind, Box) and kind.cls in (tuple, list, dict) else None
    if node is None or node.open or not all(isinstance(item, Num | Arr) for item in node.fields.values()):
        raise NotDifferentiable("a result that cannot be stacked into a batch", span, HINT)
    return list(node.fields)
