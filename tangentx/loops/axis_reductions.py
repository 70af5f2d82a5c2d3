"""Sums, means and extremes along axes, in NumPy's order of summation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tangentx.loops.array_statements import ONE, ZERO, ArrayWriter, Held, Item
from tangentx.loops.loop_ir import (
    BOOL,
    INT,
    Apply,
    Array,
    Bail,
    Const,
    Expr,
    For,
    Local,
    NewAxis,
    Pick,
    Read,
    Reduce,
    Span,
    Statement,
    Write,
)
from tangentx.loops.operators import Refused, converted

_COMBINED = {"sum": "add", "mean": "add", "max": "maximum", "min": "minimum"}


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """The axes that a program names, which have to be known."""
    given = axis if isinstance(axis, tuple) else (axis,)
    if not all(isinstance(a, Const) and a.type.code == "i8" and -rank <= a.value < rank for a in given):
        raise Refused("an axis that is not known")
    found = sorted(int(a.value) % rank for a in given)
    if len(set(found)) < len(found):
        raise Refused("an axis that is named twice")
    if found[-1] - found[0] >= len(found):  # NumPy's order depends on which axes have length one
        raise Refused("a reduction along axes that are not neighbours")
    return tuple(found)


def along(writer: ArrayWriter, op: str, name: str, axes: Sequence[int], keepdims: bool, stem: str, region: Any) -> Held:
    """`op` along some of the axes of an array of reals."""
    type, extents = writer.array(name), writer.extents(name)
    kept = [k for k in range(type.rank) if k not in axes]
    if type.rank - 1 not in axes and _COMBINED[op] == "add":
        result = writer.allocate(stem, Array(type.code, len(kept)), [extents[k] for k in kept], region)
        writer.add(Item(extents, (Held(name),), lambda given: given[0], into=result, kept=tuple(kept)))
        return _shaped(writer, op, result, extents, axes, keepdims, stem, region)
    writer.flush()
    if op in ("max", "min"):
        for k in axes:
            writer.builder.check(Apply("lt", (ZERO, extents[k]), BOOL), Bail.SHAPE)
    suffix = next((k for k in range(type.rank) if type.rank - 1 - k not in axes), type.rank)
    again = any(k < type.rank - suffix for k in axes)
    zeros = again and _COMBINED[op] == "add"
    result = writer.allocate(stem, Array(type.code, len(kept)), [extents[k] for k in kept], region, zeros)
    if again and not zeros:
        _loops(writer, op, result, name, kept, suffix, kept, "")
    _loops(writer, op, result, name, range(type.rank - suffix), suffix, kept, _COMBINED[op] if again else "")
    return _shaped(writer, op, result, extents, axes, keepdims, stem, region)


def _shaped(
    writer: ArrayWriter,
    op: str,
    result: str,
    extents: Sequence[Expr],
    axes: Sequence[int],
    keepdims: bool,
    stem: str,
    region: Any,
) -> Held:
    """The result, divided for a mean, with the axes that are wanted."""
    if op == "mean":
        _divided(writer, result, [extents[k] for k in axes])
    if not keepdims:
        return Held(result)
    parts = [NewAxis() if k in axes else Span(ZERO, extents[k]) for k in range(len(extents))]
    return Held(writer.view(stem, result, parts, region))


def _loops(
    writer: ArrayWriter,
    op: str,
    result: str,
    name: str,
    looped: Sequence[int],
    suffix: int,
    kept: Sequence[int],
    combined: str,
) -> None:
    """Loops over some axes: an element of the result is what the element, or the row of the last `suffix` axes, gives;
    with `combined` together with what it is."""
    b, type, extents = writer.builder, writer.array(name), writer.extents(name)
    counters = {k: b.fresh("ijklmnopq"[place] if place < 9 else "k", INT) for place, k in enumerate(looped)}
    places: list[Expr] = [Local(counters[k], INT) if k in counters else ZERO for k in range(type.rank - suffix)]
    target = tuple(places[k] for k in kept)
    with b.block() as body:
        if suffix:
            rows = [Span(ZERO, extents[k]) for k in range(type.rank - suffix, type.rank)]
            row = writer.view("row", name, [*map(Pick, places), *rows], None)
            value: Expr = Reduce("sum" if op == "mean" else op, row, type.element)
        else:
            value = Read(name, tuple(places), type.element)
        if combined:
            value = Apply(combined, (Read(result, target, type.element), value), type.element)
        b.emit(Write(result, target, value))
    block: tuple[Statement, ...] = tuple(body)
    for k in reversed(looped):
        block = (For(counters[k], ZERO, extents[k], ONE, False, block, independent=k in kept and not suffix),)
    b.emit(*block)


def _divided(writer: ArrayWriter, result: str, counted: Sequence[Expr]) -> None:
    """Sums become means."""
    b, type = writer.builder, writer.array(result)
    count: Expr = ONE
    for extent in counted:
        count = extent if count == ONE else b.let("n", Apply("mul", (count, extent), INT))
    divisor = b.let("e", converted(count, type.code))

    def element(given: Sequence[Expr]) -> Expr:
        return Apply("div", (given[0], given[1]), type.element)

    writer.add(Item(writer.extents(result), (Held(result), divisor), element, into=result))
