"""Derivatives that become part of other programs: derived functions for kinds, not for values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tangentx import pipeline, transforms
from tangentx.analysis.copied import copy_kind
from tangentx.analysis.kinds import Arr, Box, Kind, signature
from tangentx.analysis.program import Program
from tangentx.analysis.regions import Region
from tangentx.compilation import analysed, order
from tangentx.derivative import Target
from tangentx.ir.nodes import Function


def nested(
    derivative: Any, target: Target, program: Program, kinds: Sequence[Kind], wrt: tuple[int, ...], spec: Any
) -> Function:
    """The derived function for these kinds, in closed form, as a callee of `program`."""
    memo_key = (derivative, spec, wrt, tuple(_plain(signature(k)) for k in kinds), _aliases(kinds))
    if memo_key not in program.nested:
        inner, again = pipeline.new_program(), pipeline.new_program()
        memo: dict[Region, Region] = {}
        count = len(order(target, inner).params)  # what follows are tangents
        root = analysed(target, inner, [copy_kind(k, inner.world, memo) for k in kinds[:count]], wrt)
        derived = transforms.derived(inner, root, wrt, spec, inside=True)
        memo = {}
        closed = pipeline.close(transforms.seeded(derived), [copy_kind(k, again.world, memo) for k in kinds], again)
        again.nested.update({("inner", memo_key): (closed, inner)})
        program.nested[memo_key] = (closed, again)
    return program.nested[memo_key][0]


def nested_pullback(
    derivative: Any, target: Target, program: Program, kinds: Sequence[Kind], wrt: tuple[int, ...], spec: Any
) -> tuple[Function, Function]:
    """The function for these kinds and its pullback, of primals and cotangent, as callees of `program`."""
    memo_key = (derivative, spec, wrt, tuple(_plain(signature(k)) for k in kinds), _aliases(kinds))
    if memo_key not in program.nested:
        inner = pipeline.new_program()
        memo: dict[Region, Region] = {}
        root = analysed(target, inner, [copy_kind(k, inner.world, memo) for k in kinds], wrt)
        value, back = transforms.pulled(inner, root, wrt, spec)
        program.nested[memo_key] = (value, inner)
        program.locals[memo_key] = back
    return program.nested[memo_key][0], program.locals[memo_key]


def _aliases(kinds: Sequence[Kind]) -> tuple[int, ...]:
    """Which of the arrays and containers that the arguments reach may share memory: each as its class in order."""
    numbers: dict[Region, int] = {}
    order: list[int] = []
    todo = list(reversed(kinds))
    while todo:
        kind = todo.pop()
        if not isinstance(kind, Arr | Box):
            continue
        node = kind.region.root()
        met = node in numbers
        order.append(numbers.setdefault(node, len(numbers)))
        if isinstance(kind, Box) and not met:
            todo.extend(reversed([*node.fields.values(), node.elt]))
    return tuple(order)


def _plain(found: Any) -> Any:
    """A signature without what varies."""
    if isinstance(found, tuple):
        if found and found[0] == "num":
            return ("num", found[1], *found[3:])
        if found and found[0] == "arr":
            return found[:5]
        return tuple(_plain(item) for item in found)
    return found
